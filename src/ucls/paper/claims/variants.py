"""Claims about classic Mountain Car (6), UCLS-L (9 and 17), the solver of UCLS (18) and its learned variance (19)."""

import numpy as np

from ucls.paper.claims.check import Check, Claim, apart, at_least, better, most_reach, read_otherwise, turned
from ucls.paper.claims.declared import FAILED, HELD, OPEN, TURNS, claim
from ucls.paper.claims.learning import NEAR, with_small_steps
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.figures import figure_2, figure_6, figure_mountain_car, figure_theorem
from ucls.paper.numbers import interval, number
from ucls.paper.runs.alternatives import DGPQ_SWEEP, OF_SCALE, W_STEP, Change, also_read, as_here
from ucls.paper.runs.domains import DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import MAIN, Group, counts_only, tuned, ucls
from ucls.paper.tables import table_learned

MATTERS = 0.1  # of what UCLS comes to: a part that makes less of a difference does not matter


@claim(
    6,
    "Classic Mountain Car: UCLS beats DGPQ",
    part="mountain-car",
    runs=lambda: also_read(figure_mountain_car.groups(), OF_SCALE, [DGPQ_SWEEP, W_STEP]),
)
def classic_mountain_car(evidence: Evidence) -> Claim:
    """6: UCLS significantly beats DGPQ in classic Mountain Car."""

    def checks(read: Change) -> list[Check]:
        mine, theirs = (read(group) for group in figure_mountain_car.shown().values())
        ours, other = (evidence.sample(group, "mean_return") for group in (mine, theirs))
        made = better(evidence, ours, other, "mean return, UCLS minus DGPQ")
        return made + better(evidence, evidence.final(mine), evidence.final(theirs), "final episode length")

    sentence = "Classic Mountain Car: UCLS clearly beats DGPQ."
    found = Claim(6, sentence, "mountain-car", tuple(checks(as_here)), why=with_small_steps(checks))
    return read_otherwise(found, checks, OF_SCALE, [DGPQ_SWEEP])


@claim(
    9,
    "UCLS-L: slow at first, optimal at last",
    part="6",
    runs=lambda: [*(group for env in MAIN for group in (ucls(env), tuned("ucls-l", env))), figure_6.long_sarsa()],
    because={FAILED: "With all its settings tuned, UCLS-L has less regret early in River Swim, not more."},
)
def linear_version(evidence: Evidence) -> Claim:
    """9: UCLS-L has more regret early, is optimal by the end, and is faster in Sparse Mountain Car."""
    checks: list[Check] = []
    for env in (PUDDLE, RIVER):
        early = [evidence.early(g, 0.2) for g in (ucls(env), tuned("ucls-l", env))]
        word = "reward" if env == RIVER else "mean return"
        what = f"{DOMAINS[env].title}, {word} of the first 20% of steps, UCLS minus UCLS-L"
        checks += better(evidence, early[0], early[1], what)
    near = NEAR * optimum(RIVER).reward_rate
    checks += most_reach(evidence.final(tuned("ucls-l", RIVER)), near, "River Swim, final reward per step, UCLS-L")
    ends = evidence.final(tuned("ucls-l", PUDDLE)).mean
    checks += at_least(ends, figure_6.reachable(evidence) / NEAR, "Puddle World, final return, UCLS-L")
    mine, theirs = (evidence.sample(g, "reward") for g in (tuned("ucls-l", SPARSE), ucls(SPARSE)))
    checks += better(evidence, mine, theirs, "Sparse Mountain Car, episodes reaching the goal, UCLS-L minus UCLS")
    sentence = (
        "UCLS-L: more regret early in Puddle World and River Swim, optimal by the end; faster than UCLS in Sparse "
        "Mountain Car."
    )
    best, reached = optimum(PUDDLE).episode_return, figure_6.reachable(evidence)
    why = (
        f"With these features Sarsa ends at {number(reached)} in Puddle World after {figure_6.LONG:,} steps; the "
        f"optimum is {number(best)}. There, optimal means within 10% of what these features can reach."
    )
    return Claim(9, sentence, "figure-6", tuple(checks), why=why if reached != best else "")


@claim(
    17,
    "UCLS-L: better due to its tuned scale",
    part="6",
    runs=lambda: [tuned("ucls-l", SPARSE), ucls(SPARSE), figure_6.swept()],
    because={OPEN: "Tuning its scale helps UCLS, but UCLS-L is not significantly better than UCLS."},
)
def swept_p(evidence: Evidence) -> Claim:
    """17: UCLS-L's better policy in Sparse Mountain Car is due to its tuned p: tuning p would improve UCLS."""
    linear, usual, swept = (evidence.final(g) for g in (tuned("ucls-l", SPARSE), ucls(SPARSE), figure_6.swept()))
    checks = better(evidence, linear, usual, "final episode length, UCLS-L minus UCLS")
    checks += better(evidence, swept, usual, "final episode length, UCLS with tuned scale minus UCLS")
    sentence = (
        "UCLS-L learns a better policy than UCLS in Sparse Mountain Car because its scale was swept: UCLS with its own "
        "swept is better than UCLS too."
    )
    why = (
        "UCLS-L's scale is unrestricted, but UCLS's is never below 1; so c_max was tuned together with p, which may "
        "exceed 1, on 20,000 instead of 50,000 steps."
    )
    if (between := evidence.difference(linear, swept)) is not None:
        why += f" UCLS-L minus UCLS with tuned scale: {interval(between)} steps."
    return Claim(17, sentence, "figure-6", tuple(checks), why=why)


@claim(
    18,
    "The preconditioned update is stabler",
    part="theorem",
    runs=lambda: [figure_theorem.solver(name) for name in figure_theorem.SOLVERS],
    because={
        HELD: "With a constant beta, an inverse grows in directions that are not visited until every such run diverges."
    },
)
def solvers(evidence: Evidence) -> Claim:
    """18: inside UCLS the preconditioned update is more stable than the incremental inverses."""
    rate = optimum(RIVER).reward_rate
    ends = {name: evidence.final(figure_theorem.solver(name)) for name in figure_theorem.SOLVERS}
    near = {name: end._replace(scores=(end.scores >= NEAR * rate).astype(float)) for name, end in ends.items()}
    box = figure_theorem.SOLVERS[0]
    checks: list[Check] = []
    for other in ("sherman_morrison", "pseudo_inverse"):
        what = f"River Swim, fraction of runs that end within 10% of the optimum, preconditioned minus {other}"
        checks += better(evidence, near[box], near[other], what)
    counts = [
        f"{name} {int(near[name].scores.sum())} ({int(np.isinf(end.scores).sum())} diverged) of {len(end.scores)}"
        for name, end in ends.items()
    ]
    why = (
        "Runs that end within 10% of the optimum: "
        + ", ".join(counts)
        + ". A run counts as diverged once its inverse has lost numerical precision, by a rule of this package. The "
        "eta is that of the pseudocode. The paper calls only updates of an inverse less stable."
    )
    sentence = "Inside UCLS the preconditioned update is more stable than those that update an inverse, for small eta."
    return Claim(18, sentence, None, tuple(checks), why=why)


def _other_levels() -> dict[float, list[Group]]:
    """Return UCLS and its variant with visit counts by p, without the last, which is the default."""
    return {p: [figure_2.group_of(agent, p) for agent in ("ucls", "ucls-counts")] for p in figure_2.SHOWN[:-1]}


@claim(
    19,
    "Added here: the learned variance matters",
    part="learned",
    runs=lambda: [
        *(group for env in table_learned.WHOLE for group in (ucls(env), counts_only(env))),
        *(group for sides in _other_levels().values() for group in sides),
    ],
    because={
        TURNS: "At p = 0.1 UCLS performs as well with a pure visit-count bonus; with the smallest p it then "
        "collects a third of the reward."
    },
)
def learned_variance(evidence: Evidence) -> Claim:
    """19, not in the paper: the learned variance matters, so that UCLS does worse with B = I and a = 0."""

    def check(name: str, *groups: Group) -> list[Check]:
        mine, theirs = (table_learned.whole(evidence, group) for group in groups)
        what = f"{name}, UCLS minus visit counts only, as a fraction of UCLS's, at least {MATTERS:g}"
        return apart(evidence, mine, theirs, MATTERS, np.inf, what, abs(mine.mean.center or 1.0))

    checks: list[Check] = []
    for env, measure in table_learned.WHOLE.items():
        name = f"{DOMAINS[env].title}, {'mean return' if measure == 'mean_return' else measure}"
        checks += check(name, ucls(env), counts_only(env))
    otherwise = {}
    for p, sides in _other_levels().items():
        otherwise[f"p ({p:g}, in {DOMAINS[RIVER].title})"] = check(f"{DOMAINS[RIVER].title}, p = {p:g}, reward", *sides)
    sentence = (
        "Not a claim of the paper: the learned variance matters. With B = I and a = 0, so that the radius is a "
        "visit-count bonus, UCLS does worse by 10% or more."
    )
    found = [f"at p = {p:g} {made[0].found}" for p, made in zip(figure_2.SHOWN, otherwise.values(), strict=False)]
    why = f"The same in River Swim with other values of p: {'; '.join(found)}."
    return turned(Claim(19, sentence, "figure-2", tuple(checks), why=why), otherwise)
