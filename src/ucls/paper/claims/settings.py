"""Claims about settings: 5 (p), 7, 8 and 16 (LSTD's regularizer), 18 (UCLS's solver), and 19 (the learned variance)."""

import numpy as np

from ucls.paper import figure_2, figure_3, figure_5, figure_theorem, table_learned
from ucls.paper.alternatives import EPSILON_DECAY, ONE_STATE_DISCOUNT, ROOT, Change, as_here
from ucls.paper.claims.check import MOST, Check, Claim, Judge, apart, better, most_reach, part, read_otherwise, turned
from ucls.paper.claims.learning import LEARNED, NEAR
from ucls.paper.domains import CLASSIC, DOMAINS, RIVER
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.groups import Group, ucls
from ucls.paper.numbers import interval, number

SLOWER = (0.01, 0.001)
EARLY = 0.1  # of the steps
SMALL_ETA, LARGE_ETA = 1e-2, 1.0
MATTERS = 0.1  # of what UCLS comes to: a part that makes less of a difference does not matter


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
    """What lines of the paper's source that were not printed say of p, in our words, and what the runs say of that."""
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


def regularizer(evidence: Evidence) -> Claim:
    """7: LSTD-in learns Mountain Car without exploration, LSTD-out does not; eta must not fade too soon."""
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


def one_state(evidence: Evidence) -> Claim:
    """8: LSTD with fading eta fails in the One-State world without epsilon and succeeds with it and small eta."""

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
    claim = Claim(8, sentence, "figure-5", tuple(checks(as_here)), why=why)
    return turned(claim, {one.name: checks(one.change) for one in (ONE_STATE_DISCOUNT, EPSILON_DECAY)})


def large_regularizer(evidence: Evidence) -> Claim:
    """16: with epsilon, higher eta and eta_r still fail in the One-State world."""

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
    claim = Claim(16, sentence, "figure-5", tuple(checks(as_here)))
    return turned(claim, {one.name: checks(one.change) for one in (ONE_STATE_DISCOUNT, EPSILON_DECAY)})


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


def learned_variance(evidence: Evidence) -> Claim:
    """19, not in the paper: the learned variance matters, so that UCLS does worse with B = I and a = 0."""

    def check(name: str, *groups: Group) -> list[Check]:
        mine, theirs = (table_learned.whole(evidence, group) for group in groups)
        what = f"{name}, UCLS minus visit counts only, as a fraction of UCLS's, at least {MATTERS:g}"
        return apart(evidence, mine, theirs, MATTERS, np.inf, what, abs(mine.mean.center or 1.0))

    checks: list[Check] = []
    for env, measure in table_learned.WHOLE.items():
        name = f"{DOMAINS[env].title}, {'mean return' if measure == 'mean_return' else measure}"
        checks += check(name, ucls(env), table_learned.counts_only(env))
    otherwise = {}
    for p in figure_2.SHOWN[:-1]:  # the last is UCLS as it is
        sides = [figure_2.group_of(agent, p) for agent in ("ucls", "ucls-counts")]
        otherwise[f"p ({p:g}, in {DOMAINS[RIVER].title})"] = check(f"{DOMAINS[RIVER].title}, p = {p:g}, reward", *sides)
    sentence = (
        "Not a claim of the paper: the learned variance matters. With B = I and a = 0, so that the radius is a "
        "visit-count bonus, UCLS does worse by 10% or more."
    )
    found = [f"at p = {p:g} {made[0].found}" for p, made in zip(figure_2.SHOWN, otherwise.values(), strict=False)]
    why = f"The same in River Swim with other values of p: {'; '.join(found)}."
    return turned(Claim(19, sentence, "figure-2", tuple(checks), why=why), otherwise)


JUDGES: dict[int, Judge] = {
    5: confidence,
    7: regularizer,
    8: one_state,
    16: large_regularizer,
    18: solvers,
    19: learned_variance,
}
