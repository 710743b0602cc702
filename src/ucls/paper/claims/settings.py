"""Claims about settings: 5 (p), 7, 8 and 16 (LSTD's regularizer)."""

from ucls.paper.claims.check import MOST, Check, Claim, better, most_reach, part, read_otherwise, turned
from ucls.paper.claims.declared import (
    FAILED,
    HELD,
    OPEN,
    TURNS,
    claim,
)
from ucls.paper.claims.learning import LEARNED, NEAR
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.figures import figure_2, figure_3, figure_5
from ucls.paper.numbers import interval, number
from ucls.paper.runs.alternatives import EPSILON_DECAY, ONE_STATE_DISCOUNT, ROOT, Change, also_read, as_here
from ucls.paper.runs.domains import CLASSIC, RIVER
from ucls.paper.runs.groups import Group

SLOWER = (0.01, 0.001)
EARLY = 0.1  # of the steps
SMALL_ETA, LARGE_ETA = 1e-2, 1.0
DECAYS = (ONE_STATE_DISCOUNT, EPSILON_DECAY)


@claim(
    5,
    "Every p works for UCLS, none for GV-UCB",
    part="2",
    runs=lambda: [
        *also_read([figure_2.group_of(agent, p) for agent in ("ucls", "gv-ucb") for p in figure_2.LEVELS], [ROOT]),
        *(figure_2.group_of("gv-ucb-corrected", p) for p in figure_2.SHOWN),
    ],
    because={
        FAILED: "With the smallest p, UCLS loses its optimism too early; among the others, larger values learn "
        "more slowly, not faster. GV-UCB's radius collapses at every p."
    },
)
def confidence(evidence: Evidence) -> Claim:
    """5: smaller p is slower but every p reaches the optimum; GV-UCB does badly over the same range.

    Of what the paper leaves open one reading is tried: with the others UCLS fails at p = 0.1 already (claim 11).
    """
    rate = optimum(RIVER).reward_rate

    def checks(read: Change) -> list[Check]:
        mine = {p: read(figure_2.group_of("ucls", p)) for p in figure_2.LEVELS}
        rewards = {p: evidence.sample(group, "reward") for p, group in mine.items()}
        made = better(evidence, rewards[0.1], rewards[1e-5], "reward, UCLS with p = 0.1 minus p = 1e-5")
        for p in SLOWER:
            early = [evidence.early(mine[level], EARLY) for level in (0.1, p)]
            made += better(
                evidence, early[0], early[1], f"reward of the first 10% of steps, UCLS with p = 0.1 minus p = {p:g}"
            )
        for p, group in mine.items():
            made += most_reach(evidence.final(group), NEAR * rate, f"final reward per step, UCLS with p = {p:g}")
        for p in figure_2.LEVELS:
            theirs = evidence.sample(read(figure_2.group_of("gv-ucb", p)), "reward")
            made += better(evidence, rewards[p], theirs, f"reward, UCLS minus GV-UCB, p = {p:g}")
        return made

    ends = {p: evidence.final(figure_2.group_of("gv-ucb-corrected", p)).mean.center for p in figure_2.SHOWN}
    corrected = ", ".join(f"{number(value, 3)} at p = {p:g}" for p, value in ends.items() if value is not None)
    why = f"With Corollary 1 corrected, GV-UCB's final reward per step is {corrected} (optimum {number(rate)})."
    why = why if corrected else ""
    why = f"{_not_printed(evidence)} {why}".strip()
    sentence = (
        "River Swim: for p from 1e-5 to 0.1 smaller p is slower but every p reaches the optimum; GV-UCB does badly "
        "over the same range."
    )
    return read_otherwise(Claim(5, sentence, "figure-2", tuple(checks(as_here)), why=why), checks, [ROOT])


def _not_printed(evidence: Evidence) -> str:
    """Return what comments in the paper's source say about p, in our words, and what the runs show."""
    ends = {
        agent: {p: evidence.final(figure_2.group_of(agent, p)).mean.center for p in figure_2.LEVELS}
        for agent in ("ucls", "gv-ucb")
    }
    values = {agent: [end for end in of.values() if end is not None] for agent, of in ends.items()}
    if not all(len(found) == len(figure_2.LEVELS) for found in values.values()):
        return ""
    early = {p: evidence.early(figure_2.group_of("ucls", p), EARLY) for p in (0.001, 0.1)}
    ahead = evidence.difference(early[0.001], early[0.1])
    sides = {
        agent: evidence.difference(*(evidence.sample(figure_2.group_of(agent, p), "reward") for p in (0.001, 0.1)))
        for agent in ("ucls", "gv-ucb")
    }
    if ahead is None or None in sides.values():
        return ""
    mine, theirs = (interval(side) for side in sides.values() if side is not None)
    return (
        "Comments in the paper's source disagree with its text: they say that the curves for small p cross, that a "
        "smaller p makes GV-UCB worse and UCLS better, and that GV-UCB at its best p is like UCLS at its worst. Here "
        f"p = 0.001 collects {interval(ahead)} more than p = 0.1 in the first 10% of steps, and over all steps {mine} "
        f"more with UCLS and {theirs} more with GV-UCB. The final reward per step is "
        f"{number(max(values['gv-ucb']), 3)} for GV-UCB's best p and {number(min(values['ucls']), 3)} for UCLS's worst."
    )


@claim(
    7,
    "LSTD-in learns without exploration",
    part="3",
    runs=figure_3.groups,
    because={
        HELD: "However, with a decaying eta LSTD-out also learns, late, in many runs.",
        OPEN: "With a decaying eta LSTD-out also learns, late and in some runs; the rest agrees with the paper.",
    },
)
def regularizer(evidence: Evidence) -> Claim:
    """7: LSTD-in learns Mountain Car without exploration, LSTD-out does not; eta must not decay too soon."""
    goal = LEARNED * optimum(CLASSIC).episode_steps

    def learned(name: str, eta: float, **sides: float) -> list[Check]:
        scores = -evidence.final(figure_3.group_of(name, eta)).scores
        what = f"runs of {name} (eta = {eta:g}) that end within three times the optimal length"
        return part(int((scores <= goal).sum()), len(scores), what, **sides)

    checks: list[Check] = []
    for name in figure_3.VARIANTS:
        sides = {"least": MOST} if name.startswith("LSTD-in") else {"most": MOST}
        checks += learned(name, figure_3.best_eta(evidence, name), **sides)
    checks += learned("LSTD-in-F", min(figure_3.ETAS), most=MOST)
    sentence = (
        "LSTD-in learns Mountain Car without exploration, LSTD-out does not; eta must stay large enough as time passes."
    )
    why = "Each variant uses the eta that finished the most episodes in these runs, which favors all of them alike."
    return Claim(7, sentence, "figure-3", tuple(checks), why=why)


def _one_state_groups() -> list[Group]:
    fading = [
        figure_5.lstd(name, eta, False) for name in figure_3.VARIANTS if name[-2:] == "-F" for eta in figure_5.ETAS
    ]
    small = [figure_5.lstd(name, eta, True) for name in figure_3.VARIANTS for eta in figure_5.ETAS if eta <= SMALL_ETA]
    return [*fading, *small, *map(figure_5.sarsa, figure_5.STEP_SIZES)]


@claim(
    8,
    "One-State: LSTD fails without epsilon",
    part="5",
    runs=lambda: [*also_read(_one_state_groups(), DECAYS), figure_5.ucls_here()],
    because={
        FAILED: "Without epsilon a third of the runs choose the better action, and with it little more than half. "
        "If epsilon were multiplied by 0.8 instead of 0.2, four in five would."
    },
)
def one_state(evidence: Evidence) -> Claim:
    """8: LSTD with decaying eta fails in One-State without epsilon and succeeds with it and small eta."""

    def checks(read: Change) -> list[Check]:
        made: list[Check] = []
        for name in (name for name in figure_3.VARIANTS if name.endswith("-F")):
            for eta in figure_5.ETAS:
                right = figure_5.right(evidence, read(figure_5.lstd(name, eta, False)))
                made += part(
                    *right, f"{name}, eta = {eta:g}, no epsilon: runs that choose the better action", most=MOST
                )
        for name in figure_3.VARIANTS:
            for eta in [eta for eta in figure_5.ETAS if eta <= SMALL_ETA]:
                right = figure_5.right(evidence, read(figure_5.lstd(name, eta, True)))
                made += part(
                    *right, f"{name}, eta = {eta:g}, with epsilon: runs that choose the better action", least=MOST
                )
        for alpha in figure_5.STEP_SIZES:
            right = figure_5.right(evidence, read(figure_5.sarsa(alpha)))
            sides = {"least": MOST} if alpha == min(figure_5.STEP_SIZES) else {"most": MOST}
            made += part(*right, f"optimistic Sarsa, alpha = {alpha:g}: runs that choose the better action", **sides)
        return made

    right, runs = figure_5.right(evidence, figure_5.ucls_here())
    why = (
        f"UCLS, which the paper does not show here, chooses the better action in {right} of {runs} runs."
        if runs
        else ""
    )
    slower = figure_5.lstd("LSTD-in-F", SMALL_ETA, True)
    right, runs = figure_5.right(evidence, EPSILON_DECAY.change(slower))
    if runs:
        variant = f"LSTD-in-F with eta = {SMALL_ETA:g}"
        why += f" If epsilon is multiplied by 0.8 instead of 0.2, {variant} does in {right} of {runs}."
    sentence = (
        "One-State: all LSTD variants fail with fading eta and no epsilon; with epsilon 0.1, multiplied by 0.2 every "
        "100 steps, and small eta they find the right action; optimistic Sarsa needs its one good step size."
    )
    found = Claim(8, sentence, "figure-5", tuple(checks(as_here)), why=why)
    return turned(found, {one.name: checks(one.change) for one in DECAYS})


def _large_groups() -> list[Group]:
    return [figure_5.lstd(name, eta, True) for name in figure_3.VARIANTS for eta in figure_5.ETAS if eta >= LARGE_ETA]


@claim(
    16,
    "One-State: a large eta still fails",
    part="5",
    runs=lambda: also_read(_large_groups(), DECAYS),
    because={
        HELD: "At most six runs in ten choose the better action.",
        TURNS: "With a discount of 0, LSTD-in-F with eta = 1 chooses the better action in more than half of its runs.",
    },
)
def large_regularizer(evidence: Evidence) -> Claim:
    """16: with epsilon, higher eta and eta_r still fail in One-State."""

    def checks(read: Change) -> list[Check]:
        made: list[Check] = []
        for name in figure_3.VARIANTS:
            for eta in [eta for eta in figure_5.ETAS if eta >= LARGE_ETA]:
                right = figure_5.right(evidence, read(figure_5.lstd(name, eta, True)))
                made += part(
                    *right, f"{name}, eta = {eta:g}, with epsilon: runs that choose the better action", most=MOST
                )
        return made

    sentence = "One-State: with epsilon, higher eta and eta_r still fail."
    found = Claim(16, sentence, "figure-5", tuple(checks(as_here)))
    return turned(found, {one.name: checks(one.change) for one in DECAYS})
