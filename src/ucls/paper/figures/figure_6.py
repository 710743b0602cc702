"""Figure 6: UCLS-L, at linear cost, compared with UCLS and the baselines of Figure 1."""

from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.figures.figure_1 import curve_panel
from ucls.paper.runs.domains import PUDDLE, SPARSE
from ucls.paper.runs.groups import MAIN, Group, contenders, has_winner, tuned

LONG = 2_000_000  # steps after which what these features can do in Puddle World has been learned
SMALL_ALPHA = 0.01
AS_MANY = 30  # as many runs as UCLS-L has, which it is compared with


def shown(env: str) -> dict[str, Group]:
    """Return the algorithms of Figure 1 and UCLS-L, and UCLS with a tuned scale in Sparse Mountain Car."""
    scaled = {"ucls-p": swept()} if env == SPARSE else {}
    return {**contenders(env), "ucls-l": tuned("ucls-l", env), **scaled}


def swept() -> Group:
    """Return UCLS in Sparse Mountain Car with p and c_max tuned; with p alone if that is the only sweep yet."""
    return tuned("ucls-scale" if has_winner("ucls-scale", SPARSE) else "ucls-p", SPARSE)._replace(least=AS_MANY)


def long_sarsa() -> Group:
    """Return optimistic Sarsa in Puddle World with a small step size and more steps than any other run."""
    return tuned("sarsa-optimistic", PUDDLE).but(alpha=SMALL_ALPHA)._replace(steps=LONG)


def reachable(evidence: Evidence) -> float:
    """Return the best return with these features in Puddle World; the optimal one if that was not run."""
    mean = evidence.final(long_sarsa()).mean.center
    return optimum(PUDDLE).episode_return if mean is None else mean


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return [*(group for env in MAIN for group in shown(env).values()), long_sarsa()]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The learning curves."""
    caption = (
        "UCLS, untuned, UCLS-L with its p and step sizes tuned, and the tuned baselines of Figure 1; in Sparse "
        "Mountain Car also UCLS with its scale swept."
    )
    panels = tuple(curve_panel(evidence, env, shown(env)) for env in MAIN)
    return (Plot("figure-6", "UCLS-L, the linear version", caption, panels),)
