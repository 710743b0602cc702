"""Claims about settings: 5 (p), 7, 8 and 16 (LSTD's regulariser), and 18 (UCLS's solver)."""

import numpy as np

from ucls.paper import figure_2, figure_3, figure_5, figure_theorem
from ucls.paper.claims.check import Check, Claim, at_least, better, part
from ucls.paper.claims.learning import LEARNED, NEAR
from ucls.paper.domains import CLASSIC, RIVER
from ucls.paper.evidence import Evidence, optimum
from ucls.paper.numbers import number

SLOWER = (0.01, 0.001)
SMALL_ETA, LARGE_ETA = 1e-2, 1.0


def confidence(evidence: Evidence) -> Claim:
    """5: smaller p is slower but every p reaches the optimum; GV-UCB does badly over the same range."""
    rate = optimum(RIVER).reward_rate
    rewards = {p: evidence.sample(figure_2.group_of("ucls", p), "reward") for p in figure_2.LEVELS}
    checks = better(evidence, rewards[0.1], rewards[1e-5], "reward, UCLS with p = 0.1 less p = 1e-5")
    for p in SLOWER:
        early = [evidence.early(figure_2.group_of("ucls", level), 0.1) for level in (0.1, p)]
        checks += better(evidence, early[0], early[1], f"reward of the first tenth, UCLS with p = 0.1 less p = {p:g}")
    for p in figure_2.LEVELS:
        end = evidence.final(figure_2.group_of("ucls", p)).mean
        checks += at_least(end, NEAR * rate, f"reward a step at the end, UCLS with p = {p:g}")
    for p in figure_2.LEVELS:
        theirs = evidence.sample(figure_2.group_of("gv-ucb", p), "reward")
        checks += better(evidence, rewards[p], theirs, f"reward, UCLS less GV-UCB, p = {p:g}")
    ends = {p: evidence.final(figure_2.group_of("gv-ucb-corrected", p)).mean.centre for p in figure_2.SHOWN}
    corrected = ", ".join(f"{number(value, 3)} at p = {p:g}" for p, value in ends.items() if value is not None)
    why = f"GV-UCB with Corollary 1 corrected ends at {corrected} a step (optimum {number(rate)})." if corrected else ""
    sentence = (
        "River Swim: for p from 1e-5 to 0.1 smaller p is slower but every p reaches the optimum; GV-UCB does badly "
        "over the same range."
    )
    return Claim(5, sentence, "figure-2", tuple(checks), why=why)


def regulariser(evidence: Evidence) -> Claim:
    """7: LSTD-in learns Mountain Car without exploration, LSTD-out does not."""
    goal = LEARNED * optimum(CLASSIC).episode_steps
    checks: list[Check] = []
    for name in figure_3.VARIANTS:
        eta = figure_3.best_eta(evidence, name)
        scores = -evidence.final(figure_3.group_of(name, eta)).scores
        learned = int((scores <= goal).sum())
        what = f"runs of {name} (eta = {eta:g}) that end within three times the optimal length"
        sides = {"least": 0.5} if name.startswith("LSTD-in") else {"most": 0.5}
        checks += part(learned, len(scores), what, **sides)
    sentence = "LSTD-in learns Mountain Car without exploration, LSTD-out does not; sensitivity to eta."
    return Claim(7, sentence, "figure-3", tuple(checks))


def one_state(evidence: Evidence) -> Claim:
    """8: LSTD with fading eta fails in the One-State world without epsilon and succeeds with it and small eta."""
    checks: list[Check] = []
    fading = [name for name in figure_3.VARIANTS if name.endswith("-F")]
    for name in fading:
        for eta in figure_5.ETAS:
            right, runs = figure_5.right(evidence, figure_5.lstd(name, eta, False))
            checks += part(right, runs, f"{name}, eta = {eta:g}, no epsilon: runs that go right", most=0.5)
    for name in figure_3.VARIANTS:
        right, runs = figure_5.right(evidence, figure_5.lstd(name, SMALL_ETA, True))
        checks += part(right, runs, f"{name}, eta = {SMALL_ETA:g}, with epsilon: runs that go right", least=0.5)
    for alpha in figure_5.STEP_SIZES:
        right, runs = figure_5.right(evidence, figure_5.sarsa(alpha))
        sides = {"least": 0.8} if alpha == min(figure_5.STEP_SIZES) else {"most": 0.8}
        checks += part(right, runs, f"optimistic Sarsa, alpha = {alpha:g}: runs that go right", **sides)
    right, runs = figure_5.right(evidence, figure_5.ucls_here())
    why = f"UCLS, which the paper does not show here, goes right in {right} of {runs} runs." if runs else ""
    sentence = (
        "One-State: all LSTD variants fail with fading eta and no epsilon; with epsilon 0.1, multiplied by 0.2 every "
        "100 steps, and small eta they find the right action; optimistic Sarsa needs its one good step size."
    )
    return Claim(8, sentence, "figure-5", tuple(checks), why=why)


def large_regulariser(evidence: Evidence) -> Claim:
    """16: with epsilon, higher eta and eta_r still fail in the One-State world."""
    checks: list[Check] = []
    for name in figure_3.VARIANTS:
        for eta in [eta for eta in figure_5.ETAS if eta >= LARGE_ETA]:
            right, runs = figure_5.right(evidence, figure_5.lstd(name, eta, True))
            checks += part(right, runs, f"{name}, eta = {eta:g}, with epsilon: runs that go right", most=0.5)
    sentence = "One-State: with epsilon, higher eta and eta_r still fail."
    return Claim(16, sentence, "figure-5", tuple(checks))


def solvers(evidence: Evidence) -> Claim:
    """18: inside UCLS the preconditioned update is more stable than the alternatives."""
    rate = optimum(RIVER).reward_rate
    ends = {name: evidence.final(figure_theorem.solver(name)) for name in figure_theorem.SOLVERS}
    near = {name: end._replace(scores=(end.scores >= NEAR * rate).astype(float)) for name, end in ends.items()}
    checks: list[Check] = []
    for name in figure_theorem.SOLVERS[1:]:
        what = f"River Swim, part of the runs that end within a tenth of the optimum, the box less {name}"
        checks += better(evidence, near[figure_theorem.SOLVERS[0]], near[name], what)
    counts = [
        f"{name} {int(near[name].scores.sum())} ({int(np.isinf(end.scores).sum())} diverged) of {len(end.scores)}"
        for name, end in ends.items()
    ]
    why = "Runs that end within a tenth of the optimum: " + ", ".join(counts) + "."
    sentence = "Inside UCLS the preconditioned update is more stable than the alternatives, for small eta."
    return Claim(18, sentence, None, tuple(checks), why=why)


JUDGES = (confidence, regulariser, one_state, large_regulariser, solvers)
