"""Claims about additional methods, Sarsa above all: 10, 14 and 15."""

import numpy as np

from ucls.paper.claims.check import Check, Claim, apart, better, most_reach, read_otherwise
from ucls.paper.claims.declared import FAILED, OPEN, TURNS, claim
from ucls.paper.claims.learning import ALIKE, learned
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.figures import figure_7
from ucls.paper.numbers import interval
from ucls.paper.runs.alternatives import (
    DGPQ_SWEEP,
    OF_UCLS,
    SARSA_START,
    THRESHOLD,
    TILE_MEMORY,
    TILING,
    W_STEP,
    Change,
    Interpretation,
    also_read,
    as_here,
    in_puddle_world,
)
from ucls.paper.runs.domains import DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import MAIN, Group, tuned, ucls
from ucls.paper.runs.sweeps import HIGH

READINGS = (TILE_MEMORY, THRESHOLD, W_STEP, SARSA_START)


def _sarsa_and_gv_ucb() -> list[Group]:
    sarsa = also_read([tuned("sarsa-optimistic", env) for env in MAIN], READINGS)
    others = also_read([group for env in MAIN for group in (figure_7.gv_ucb(env), ucls(env))], READINGS)
    return [*sarsa, *(group.for_shares() for group in sarsa), *others]


@claim(
    10,
    "Optimistic Sarsa does well, GV-UCB not",
    part="7",
    runs=_sarsa_and_gv_ucb,
    because={OPEN: "In Puddle World there is no significant difference between GV-UCB and UCLS."},
)
def optimistic_sarsa(evidence: Evidence) -> Claim:
    """10: optimistic Sarsa does remarkably well, GV-UCB at p = 0.5 poorly."""

    def checks(read: Change) -> list[Check]:
        made: list[Check] = []
        sarsa = {env: read(tuned("sarsa-optimistic", env)) for env in MAIN}
        for env, (word, level) in learned().items():
            what = f"{DOMAINS[env].title}, final {word} of optimistic Sarsa"
            made += most_reach(evidence.final(sarsa[env].for_shares()), level, what)
        for env in MAIN:
            theirs, where = evidence.final(read(figure_7.gv_ucb(env))), f"{DOMAINS[env].title}, final performance"
            made += better(evidence, evidence.final(sarsa[env]), theirs, f"{where}, optimistic Sarsa minus GV-UCB")
            made += better(evidence, evidence.final(read(ucls(env))), theirs, f"{where}, UCLS minus GV-UCB")
        return made

    sentence = "Sarsa with optimistic initialization does remarkably well; GV-UCB (p = 0.5) poorly."
    found = Claim(10, sentence, "figure-7", tuple(checks(as_here)))
    return read_otherwise(found, checks, READINGS)


def _of_puddle_world() -> list[Interpretation]:
    return [*OF_UCLS, TILING, *in_puddle_world()]


def _sarsa_and_ucls() -> list[Group]:
    epsilon = also_read([tuned("sarsa-epsilon", PUDDLE)], _of_puddle_world())
    pairs = [group for env in (PUDDLE, RIVER) for group in (ucls(env), tuned("sarsa-optimistic", env))]
    return [*(group.for_shares() for group in epsilon), *also_read(pairs, _of_puddle_world())]


@claim(
    14,
    "UCLS matches Sarsa in Puddle World",
    part="7",
    runs=_sarsa_and_ucls,
    because={OPEN: "Optimistic Sarsa ends better in Puddle World, but the size of the difference is inconclusive."},
)
def sarsa_in_puddle_world(evidence: Evidence) -> Claim:
    """14: epsilon-greedy Sarsa learns Puddle World; UCLS keeps up with optimistic Sarsa there and in River Swim."""
    least = learned()[PUDDLE][1]
    margin = ALIKE * -optimum(PUDDLE).episode_return
    rate = optimum(RIVER).reward_rate * evidence.steps(ucls(RIVER))

    def checks(read: Change) -> list[Check]:
        what = "Puddle World, final return of epsilon-greedy Sarsa"
        made = most_reach(evidence.final(read(tuned("sarsa-epsilon", PUDDLE)).for_shares()), least, what)
        mine, theirs = (evidence.final(read(g)) for g in (ucls(PUDDLE), tuned("sarsa-optimistic", PUDDLE)))
        what = "Puddle World, final return, UCLS minus optimistic Sarsa"
        made += apart(evidence, mine, theirs, -margin, np.inf, what)
        theirs, mine = (evidence.sample(read(g), "reward") for g in (tuned("sarsa-optimistic", RIVER), ucls(RIVER)))
        what = "River Swim, regret of UCLS minus that of optimistic Sarsa, as a fraction of Sarsa's"
        return made + apart(evidence, theirs, mine, -np.inf, ALIKE, what, rate - (theirs.mean.center or 0.0))

    sentence = (
        "Sarsa with epsilon-greedy learns well in Puddle World; UCLS matches the policy of optimistic Sarsa there and "
        "has little more regret than it in River Swim."
    )
    found = Claim(14, sentence, "figure-7", tuple(checks(as_here)))
    return read_otherwise(found, checks, _of_puddle_world())


DENSE = (DGPQ_SWEEP, SARSA_START, DGPQ_SWEEP.joined(SARSA_START))


@claim(
    15,
    "DGPQ beats Sarsa where reward is sparse",
    part="7",
    runs=lambda: also_read([tuned(key, SPARSE) for key in ("dgpq", "sarsa-optimistic")], DENSE),
    because={
        FAILED: "A larger search finds the same settings for DGPQ.",
        TURNS: "If Sarsa's values start at 500, DGPQ is ahead; if they start at 1, the maximum possible return, it "
        "is far behind.",
    },
)
def dgpq_in_sparse_mountain_car(evidence: Evidence) -> Claim:
    """15: DGPQ beats optimistic Sarsa in Sparse Mountain Car."""

    def checks(read: Change) -> list[Check]:
        mine, theirs = (evidence.sample(read(tuned(key, SPARSE)), "reward") for key in ("dgpq", "sarsa-optimistic"))
        return better(evidence, mine, theirs, "episodes reaching the goal, DGPQ minus optimistic Sarsa")

    sentence = "Sparse Mountain Car: DGPQ (its reward shift makes the task dense) beats optimistic Sarsa."
    high = evidence.sample(SARSA_START.change(tuned("sarsa-optimistic", SPARSE)), "reward").mean
    why = ""
    if high.center is not None:
        times = interval(high)
        why = f"With initial values of {HIGH:g}, and tuned for them, optimistic Sarsa reaches the goal {times} times."
    return read_otherwise(Claim(15, sentence, "figure-7", tuple(checks(as_here)), why=why), checks, DENSE)
