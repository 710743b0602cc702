"""How well fitted probabilities of logged actions are calibrated: `python -m bench logs calibration`."""

import numpy as np

from bench.logs.domains import Array, domains, simulate
from ucls.evaluation.comparison.basis import chosen_bases
from ucls.evaluation.comparison.estimators.propensity import BINS, fit_propensity
from ucls.evaluation.logs import read_log

SIZES, SEED = (50, 500), 3000


def measure(name: str, episodes: int, run: int) -> list[float]:
    """For the features of the values alone and for all, recalibrated: the root mean square error of the probabilities
    and their calibration error in new episodes; then what is reported, and whether recalibration was used."""
    domain = domains()[name]
    log, other = (
        read_log(simulate(domain, n, np.random.default_rng([SEED + run, n, k, *name.encode()])), gamma=domain.gamma)
        for k, n in enumerate((episodes, 500))
    )
    truth = domain.behavior(other.states)
    bases = chosen_bases(log)
    plain = fit_propensity(log, [bases.main])._replace(curves=None)
    chosen = fit_propensity(log, [each for each in bases[:2] if each is not None])
    found = []
    for each in (plain, chosen):
        p = each.at(other.states)
        found += [float(np.sqrt(np.mean((p - truth) ** 2))), _error(p, truth)]
    return [*found, chosen.calibration_error, float(chosen.curves is not None)]


def _error(p: Array, truth: Array) -> float:
    """The mean over bins of |mean probability - mean truth|: the calibration error without noise."""
    bins = np.array_split(np.argsort(p.ravel(), kind="stable"), BINS)
    return float(np.mean([abs(p.ravel()[each].mean() - truth.ravel()[each].mean()) for each in bins]))


def table(runs: int) -> str:
    """The table of the page."""
    lines = [
        "| log | episodes | runs | logistic: RMSE | calibration error | final: RMSE | calibration error | reported "
        "| recalibrated |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in ("garnet", "inventory", "queue", "contexts", "puddle_world", "cart_pole"):
        for episodes in SIZES:
            means = np.mean([measure(name, episodes, run) for run in range(runs)], axis=0)
            cells = [*(f"{x:.3f}" for x in means[:5]), f"{100 * means[5]:.0f}%"]
            lines.append(f"| {name.replace('_', ' ')} | {episodes} | {runs} | {' | '.join(cells)} |")
    return "\n".join(lines)
