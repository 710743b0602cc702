"""Whether marginalized ratios earn their place: `python -m bench logs marginalized` compares errors with LSTD-Q.

With ratios of how often two policies visit states that are linear in features of states, times the logged ratios of
actions, the estimate is off-policy LSTD of state values.
"""

import numpy as np

from bench.logs.domains import domains, simulate
from bench.logs.study import truth_of
from ucls.evaluation.comparison.basis import Basis, chosen_bases
from ucls.evaluation.comparison.estimators import importance
from ucls.evaluation.comparison.estimators.doubly_robust import FOLDS, doubly_robust
from ucls.evaluation.comparison.estimators.lstd_q import RANK, evaluate
from ucls.evaluation.comparison.estimators.systems import Design, dense
from ucls.evaluation.comparison.policies import OnLog, on_log
from ucls.evaluation.logs import EpisodeLog, read_log

RUNS, SEED = {"river_swim": 8, "puddle_world": 8}, 4000
NAMES = ("ring", "garnet", "inventory", "queue", "river_swim", "contexts", "puddle_world")


def marginalized(log: EpisodeLog, basis: Basis, policy: OnLog) -> float:
    """m'A^-1 b with A = sum rho_t x_t (x_t - gamma x_t+1)' and b = sum rho_t x_t r_t, from state features x."""
    assert log.probability is not None
    usable = log.has_next | log.terminated
    x, after = dense(basis.rows(log.states)), dense(basis.rows(log.next_states))
    weighted = x[usable] * importance.ratios(log, policy, log.probability)[usable, None]
    A = weighted.T @ (x[usable] - (log.discount * log.has_next)[usable, None] * after[usable])
    return float(x[log.first[:-1]].mean(axis=0) @ np.linalg.pinv(A, rcond=RANK) @ weighted.T @ log.reward[usable])


def table() -> str:
    """Root mean square errors of the new policy's value."""
    lines = ["| log | episodes | LSTD-Q | marginalized | doubly robust |", "|---|--:|--:|--:|--:|"]
    for name in NAMES:
        domain, truth = domains()[name], truth_of(name).new
        for episodes in (50, 400):
            errors = []
            for run in range(RUNS.get(name, 25)):
                rng = np.random.default_rng([SEED + run, episodes, *name.encode()])
                log = read_log(simulate(domain, episodes, rng), gamma=domain.gamma)
                bases, policy = chosen_bases(log), on_log(domain.new, log)
                basis = bases.table or bases.main
                assert log.probability is not None
                design, ratio = Design(log, basis, FOLDS), importance.ratios(log, policy, log.probability)
                robust = doubly_robust(design, policy, importance.weights(log, ratio))
                values = evaluate(design, policy).value.value, marginalized(log, basis, policy), robust.value
                errors.append(np.array(values) - truth)
            cells = [f"{x:.3g}" for x in np.sqrt(np.mean(np.square(errors), axis=0))]
            lines.append(f"| {name.replace('_', ' ')} | {episodes} | {' | '.join(cells)} |")
    return "\n".join(lines)
