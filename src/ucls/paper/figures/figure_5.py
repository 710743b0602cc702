"""Figure 5: One-State, where a regularizer cannot replace exploration."""

from ucls._util.palette import LSTD, ORANGES, STYLES
from ucls.paper.drawing.plot import Line, Panel, Plot, points_of
from ucls.paper.evidence import Evidence
from ucls.paper.figures.figure_3 import VARIANTS
from ucls.paper.runs.domains import ONE_STATE
from ucls.paper.runs.groups import Group
from ucls.stats import proportion

ETAS = (1e-4, 1e-2, 1.0, 100.0)
STEP_SIZES = dict(zip((0.001, 0.01, 0.1), reversed(ORANGES), strict=True))
STEPS = 20_000
RUNS = 1000  # each takes a tenth of a second; 30 could not distinguish a third from a half
DECAY = (("epsilon", 0.1), ("epsilon_decay", 0.2), ("epsilon_every", 100))
RIGHT = 1.5  # halfway between what left (1) and right (2) earn


def lstd(name: str, eta: float, epsilon: bool) -> Group:
    """The runs of an LSTD variant, with the decaying epsilon or without."""
    regularizer, schedule = VARIANTS[name]
    settings = (("regularizer", regularizer), ("eta_schedule", schedule), ("eta", eta), *(DECAY if epsilon else ()))
    return Group(name, ONE_STATE, "lstd-cg", settings, STEPS, least=RUNS)


def sarsa(alpha: float) -> Group:
    """The runs of Sarsa with optimistic values and a step size."""
    settings = (("initial_value", "return_max"), ("epsilon", 0.0), ("alpha", alpha))
    return Group("sarsa-optimistic", ONE_STATE, "sarsa", settings, STEPS, least=RUNS)


def ucls_here() -> Group:
    """Return the runs of UCLS, which the paper does not show here."""
    return Group("ucls", ONE_STATE, "ucls", (), STEPS, least=RUNS)


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    variants = [lstd(name, eta, epsilon) for name in VARIANTS for eta in ETAS for epsilon in (False, True)]
    return [*variants, *(sarsa(alpha) for alpha in STEP_SIZES), ucls_here()]


def right(evidence: Evidence, group: Group) -> tuple[int, int]:
    """Return how many runs ended with the better action, and of how many."""
    scores = evidence.final(group).scores
    return int((scores > RIGHT).sum()), len(scores)


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """Return the fraction of runs that found the better action over eta, without epsilon and with it."""
    panels = []
    for epsilon in (False, True):
        lines = []
        for name, color in LSTD.items():
            lines += _points(evidence, {eta: lstd(name, eta, epsilon) for eta in ETAS}, name, color)
        level = [(f"Sarsa, optimistic, alpha = {alpha:g}", shade, sarsa(alpha)) for alpha, shade in STEP_SIZES.items()]
        for label, color, group in (*level, (*STYLES["ucls"], ucls_here())):
            flat = _points(evidence, dict.fromkeys(ETAS, group), label, color)
            lines += [line._replace(points=False, low=None, high=None) for line in flat]
        title = "epsilon 0.1, times 0.2 every 100 steps" if epsilon else "no epsilon"
        panels.append(
            Panel(title, "eta", "fraction of runs that go right", tuple(lines), 1.0, log_x=True, limits=(0, 1.05))
        )
    caption = (
        "The part of the runs that take the better action, right, at the end, with Wilson's 95% interval. Sarsa and "
        "UCLS have no eta here and are level lines."
    )
    return (Plot("figure-5", "The One-State world", caption, tuple(panels)),)


def _points(evidence: Evidence, shown: dict[float, Group], label: str, color: str) -> list[Line]:
    points = []
    for eta, group in shown.items():
        successes, runs = right(evidence, group)
        if part := proportion(successes, runs):
            points.append((eta, part.mean, part.low, part.high, runs))
    if not points:
        return []
    return [points_of(label, color, points)]
