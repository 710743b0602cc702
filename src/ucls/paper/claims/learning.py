"""Claims about who learns, how fast and how well: 1 to 4, 6, 9 and 17."""

from collections.abc import Callable

import numpy as np

from ucls.paper import figure_6, figure_mountain_car, figure_theorem
from ucls.paper.alternatives import (
    DGPQ_SWEEP,
    GMAX,
    OF_BASELINES,
    OF_SCALE,
    OPEN,
    TILE_MEMORY,
    W_STEP,
    Change,
    as_here,
    in_puddle_world,
)
from ucls.paper.claims.check import (
    MOST,
    Check,
    Claim,
    Judge,
    apart,
    at_least,
    better,
    by_chance,
    decided,
    most_reach,
    not_run,
    part,
    read_otherwise,
    turned,
    within,
)
from ucls.paper.domains import DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.groups import MAIN, Group, tuned, ucls
from ucls.paper.numbers import interval, number

BASELINES = ("ucbootstrap", "dgpq", "lspi-rmax", "rlsvi", "sarsa-epsilon")  # those of Figure 1
TWICE = 2.0  # the optimal cost: an agent with a higher one has not learned Puddle World
NEAR = 0.9  # of the optimum is close to it
LEARNED = 3.0  # times the optimal length: an agent with longer episodes has not learned a Mountain Car
ALIKE = 0.2  # a difference of less than this part is none
AT_FIRST, SHORTER = 0.1, (0.05, 0.02)  # of the steps: what "initially" may mean
SD_RESAMPLES = 2000


def learned() -> dict[str, tuple[str, float]]:
    """What a run that learned is at in the end, in each domain, with the word for it."""
    return {
        RIVER: ("reward per step", NEAR * optimum(RIVER).reward_rate),
        PUDDLE: ("return", TWICE * optimum(PUDDLE).episode_return),
        SPARSE: ("episode length", LEARNED * optimum(SPARSE).episode_steps),
    }


def best_at_the_end(evidence: Evidence) -> Claim:
    """1: UCLS has the best final performance in all three domains."""

    def checks(read: Change) -> list[Check]:
        made: list[Check] = []
        for env in MAIN:
            mine = evidence.final(read(ucls(env)))
            for key in BASELINES:
                theirs = evidence.final(read(tuned(key, env)))
                made += better(evidence, mine, theirs, f"{DOMAINS[env].title}, final performance, UCLS minus {key}")
        return made

    sentence = "UCLS has the best final performance in all three domains."
    long = figure_theorem.long_rlsvi()
    ended, why = evidence.final(long).mean, ""
    if ended.center is not None:
        why = (
            f"Every algorithm has {evidence.steps(ucls(PUDDLE)):,} steps. With {evidence.steps(long):,} in Puddle "
            f"World, as in the paper's figure, RLSVI ends at {interval(ended)}."
        )
    claim = Claim(1, sentence, "figure-1", tuple(checks(as_here)), why=why)
    return read_otherwise(claim, checks, OPEN, [one.joined(GMAX) for one in in_puddle_world()])


def learns_faster(evidence: Evidence) -> Claim:
    """2: UCLS is fastest in Sparse Mountain Car; DGPQ leads early in River Swim; both end near the optimum there."""
    rate = optimum(RIVER).reward_rate

    def leads(read: Change, first: float) -> Check:
        steps = f"{first * evidence.steps(ucls(RIVER)):,.0f}"
        mine, theirs = (evidence.early(read(group), first) for group in (tuned("dgpq", RIVER), ucls(RIVER)))
        return better(evidence, mine, theirs, f"River Swim, reward of the first {steps} steps, DGPQ minus UCLS")[0]

    def checks(read: Change, first: float = AT_FIRST) -> list[Check]:
        made: list[Check] = []
        mine, usual, dgpq = read(ucls(SPARSE)), read(ucls(RIVER)), read(tuned("dgpq", RIVER))
        for key in BASELINES:
            ours, theirs = (evidence.sample(group, "reward") for group in (mine, read(tuned(key, SPARSE))))
            made += better(evidence, ours, theirs, f"Sparse Mountain Car, episodes reaching the goal, UCLS minus {key}")
        made.append(leads(read, first))
        for key, group in (("UCLS", usual), ("DGPQ", dgpq)):
            end = evidence.final(group.for_shares())
            made += most_reach(end, NEAR * rate, f"River Swim, final reward per step, {key}")
        return made

    reward = evidence.sample(ucls(RIVER), "reward").mean
    why = ""
    if reward.center is not None:
        regret = rate * evidence.steps(ucls(RIVER)) - reward.center
        why = (
            f"UCLS's regret in River Swim is {regret:,.0f} on average; a comment in the paper's source says about 1000."
        )
    for sooner in (leads(as_here, first) for first in SHORTER):
        why += f" {sooner.what}: {sooner.found}." if sooner.runs else ""
    sentence = (
        "Sparse Mountain Car: UCLS learns faster than the others. River Swim: DGPQ learns faster at first; UCLS and "
        "DGPQ are close to the optimal policy at the end."
    )
    claim = Claim(2, sentence, "figure-1", tuple(checks(as_here)), why=why.strip())
    otherwise = {reading.name: checks(reading.change) for reading in (*OPEN, DGPQ_SWEEP)}
    sooner = {f'the meaning of "initially" ({first:.0%})': checks(as_here, first) for first in SHORTER}
    return turned(claim, otherwise | sooner)


def puddle_world(evidence: Evidence) -> Claim:
    """3: about 1200 episodes in Puddle World, UCBootstrap alike, DGPQ worse and of high variance.

    RLSVI is compared with its million steps, as in the paper's figure.
    """
    scale = evidence.steps(ucls(PUDDLE)) / 50_000
    others = {"UCLS": ucls(PUDDLE), **{key: _in_puddle(key) for key in BASELINES if key not in ("dgpq", "rlsvi")}}

    def checks(read: Change) -> list[Check]:
        mine, bootstrap, dgpq = (read(group) for group in (ucls(PUDDLE), *map(_in_puddle, ("ucbootstrap", "dgpq"))))
        summary = evidence.sample(mine, "episodes").mean
        made = within(summary, 1080 * scale, 1320 * scale, "episodes of UCLS, within 10% of 1200", summary.runs)
        for measure, word in (("episodes", "episodes"), ("mean_return", "mean return per episode")):
            ours, theirs = (evidence.sample(group, measure) for group in (mine, bootstrap))
            what = f"{word}, UCBootstrap minus UCLS, as a fraction of UCLS's"
            made += apart(evidence, theirs, ours, -ALIKE, ALIKE, what, abs(ours.mean.center or 1.0))
        theirs = evidence.sample(dgpq, "mean_return")
        made += better(evidence, evidence.sample(mine, "mean_return"), theirs, "mean return, UCLS minus DGPQ")
        beside = {key: read(group) for key, group in others.items()} | {"rlsvi": figure_theorem.long_rlsvi()}
        for key, other in beside.items():
            scores = evidence.sample(other, "mean_return").scores
            made += _more_spread(
                theirs.scores, scores, f"standard deviation of the mean return, log of DGPQ's over {key}'s"
            )
        return made

    scores = [evidence.sample(group, "mean_return").scores for group in (_in_puddle("dgpq"), ucls(PUDDLE))]
    parts = [abs(of.std() / of.mean()) for of in scores if len(of) and np.isfinite(of).all() and of.any()]
    why = ""
    if len(parts) == len(scores):
        why = "Relative to its mean, DGPQ's standard deviation is {:.2g} and UCLS's {:.2g}.".format(*parts)
    why = f"{why} {_with_small_steps(checks)}".strip()
    sentence = (
        "Puddle World: UCLS finishes about 1200 episodes in 50k steps; UCBootstrap learns at a similar rate; DGPQ is "
        "worse and has high variance compared with the others."
    )
    claim = Claim(3, sentence, "figure-1", tuple(checks(as_here)), why=why)
    return read_otherwise(claim, checks, [TILE_MEMORY, *OF_SCALE, GMAX, DGPQ_SWEEP])


def _with_small_steps(checks: Callable[[Change], list[Check]]) -> str:
    """The first check with another step size of w: only reported, because the paper does specify it."""
    check = checks(W_STEP.change)[0]
    return f"With {W_STEP.name}: {check.what}, {check.found}." if check.runs else ""


def _in_puddle(key: str) -> Group:
    return tuned(key, PUDDLE)


def _more_spread(wide: np.ndarray, narrow: np.ndarray, what: str) -> list[Check]:
    """Check that one sample spreads more than another, by a bootstrap of the ratio of standard deviations."""
    wide, narrow = wide[np.isfinite(wide)], narrow[np.isfinite(narrow)]
    if min(len(wide), len(narrow)) < 3 or np.ptp(wide) == 0 or np.ptp(narrow) == 0:
        return not_run(what)
    rng = np.random.default_rng(0)
    logs = []
    for _ in range(SD_RESAMPLES):
        a, b = rng.choice(wide, len(wide)).std(), rng.choice(narrow, len(narrow)).std()
        if a > 0 and b > 0:
            logs.append(np.log(a / b))
    low, high = np.quantile(logs, [0.025, 0.975])
    ratio = (np.log(wide.std() / narrow.std()), low, high)
    holds, runs = decided(low > 0, high < 0), min(len(wide), len(narrow))
    return [Check(what, interval(ratio), holds, runs, by_chance(ratio, 0.0))]


def others_do_poorly(evidence: Evidence) -> Claim:
    """4: LSPI-Rmax and RLSVI do poorly in all three: not most of their runs learn, as optimistic Sarsa's must."""
    levels = learned()

    def checks(read: Change) -> list[Check]:
        made: list[Check] = []
        for key in ("lspi-rmax", "rlsvi"):
            for env, (word, level) in levels.items():
                end = evidence.final(read(tuned(key, env)))
                did = int((end.scores >= end.sign * level).sum())
                side = "at least" if end.sign > 0 else "at most"
                what = f"{DOMAINS[env].title}, final {word} of {key}, {side} {number(level)}: runs"
                made += part(did, len(end.scores), what, most=MOST)
        return made

    rate = optimum(RIVER).reward_rate
    often = evidence.final(figure_theorem.frequent_rlsvi()).mean
    rescued = often.center is not None and often.low is not None and often.low >= NEAR * rate
    ended = evidence.final(figure_theorem.long_rlsvi()).mean
    why = f"Sampling every 100 steps, RLSVI collects {interval(often)} per step in River Swim." if often.center else ""
    if ended.center is not None:
        steps = evidence.steps(figure_theorem.long_rlsvi())
        why += f" With {steps:,} steps in Puddle World its final return is {interval(ended)} ({ended.runs} runs)."
    if rescued:
        why += " So its failure in River Swim is due to the sampling schedule."
    sentence = "LSPI-Rmax and RLSVI do not do well in any of the three domains."
    return read_otherwise(
        Claim(4, sentence, "figure-1", tuple(checks(as_here)), why=why), checks, [TILE_MEMORY, *OF_BASELINES]
    )


def classic_mountain_car(evidence: Evidence) -> Claim:
    """6: UCLS significantly beats DGPQ in classic Mountain Car."""

    def checks(read: Change) -> list[Check]:
        mine, theirs = (read(group) for group in figure_mountain_car.shown().values())
        ours, other = (evidence.sample(group, "mean_return") for group in (mine, theirs))
        made = better(evidence, ours, other, "mean return, UCLS minus DGPQ")
        return made + better(evidence, evidence.final(mine), evidence.final(theirs), "final episode length")

    sentence = "Classic Mountain Car: UCLS clearly beats DGPQ."
    claim = Claim(6, sentence, "mountain-car", tuple(checks(as_here)), why=_with_small_steps(checks))
    return read_otherwise(claim, checks, OF_SCALE, [DGPQ_SWEEP])


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


def swept_p(evidence: Evidence) -> Claim:
    """17: UCLS-L's better policy in Sparse Mountain Car is due to its swept p: sweeping it would improve UCLS."""
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


JUDGES: dict[int, Judge] = {
    1: best_at_the_end,
    2: learns_faster,
    3: puddle_world,
    4: others_do_poorly,
    6: classic_mountain_car,
    9: linear_version,
    17: swept_p,
}
