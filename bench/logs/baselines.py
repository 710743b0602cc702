"""Logs for other packages, and the results of `compare` for the same logs: `python -m bench logs baselines FOLDER`.

It simulates logs of whole episodes and writes them as .npz files, padded to one length, because SCOPE-RL needs that.
`scope_rl_estimates.py` then runs in an environment that has SCOPE-RL, and adds its intervals; the command prints the
table once they are there.
"""

import json
from pathlib import Path

import numpy as np

from bench.logs.domains import domains, simulate
from bench.logs.study import CONFIDENCE, truth_of
from ucls.evaluation.comparison.comparer import Comparer
from ucls.evaluation.comparison.estimators.lstd_q import solve
from ucls.evaluation.comparison.estimators.systems import Design
from ucls.evaluation.comparison.policies import on_log
from ucls.evaluation.logs import EpisodeLog, read_log

DOMAINS, SIZES, RUNS = ("contexts", "garnet", "cart_pole", "puddle_world"), (50, 200), 40
OURS = "ucls"


def padded(log: EpisodeLog, rows: np.ndarray, fill: float) -> np.ndarray:
    """Rows as an array of episodes and steps; after an episode's end there is `fill`."""
    time = np.arange(log.n_steps) - np.repeat(log.first[:-1], log.lengths)
    found = np.full((log.n_episodes, log.lengths.max(), *rows.shape[1:]), fill)
    found[log.episode, time] = rows
    return found


def write(folder: Path, name: str, episodes: int, run: int) -> None:
    """Simulate a log; write it with fitted action values and our result."""
    path = folder / f"{name}-{episodes}-{run}.npz"
    if path.exists():
        return
    domain = domains()[name]
    rng = np.random.default_rng([run, episodes, 99, *name.encode()])
    log = read_log(simulate(domain, episodes, rng), gamma=domain.gamma)
    comparer = Comparer(log, CONFIDENCE)
    [new] = comparer.run({"new": domain.new}).candidates
    policy, design = on_log(domain.new, log), Design(log, comparer.bases.main)
    S, b, usable = design.sums(policy)
    fit = solve(S[0], b[0], len(log.actions), usable)
    q = np.empty((log.n_steps, len(log.actions)))
    for part in design.parts():
        q[part.rows] = part.times(fit.theta.T)[0]
    assert log.probability is not None
    told = {OURS: [new.value.low, new.value.high, new.verdict == "better"], "logged": float(log.returns.mean())}
    np.savez(
        path, action=padded(log, log.action, 0), reward=padded(log, log.reward, 0.0), q=padded(log, q, 0.0),
        pscore=padded(log, log.probability, 1.0), policy=padded(log, policy.now, 1.0), gamma=log.gamma,
        told=json.dumps(told),
    )  # fmt: skip


def table(folder: Path) -> str:
    """Coverage of the new policy's value, and how often it is called better, for every estimator."""
    lines = ["| log | episodes | logs | estimator | covers | mean width | better |", "|---|--:|--:|---|--:|--:|--:|"]
    for name in DOMAINS:
        truth = truth_of(name).new
        for episodes in SIZES:
            found: dict[str, list[list[float]]] = {}
            for path in sorted(folder.glob(f"{name}-{episodes}-*.json")):
                for estimator, answer in json.loads(path.read_text()).items():
                    found.setdefault(estimator, []).append(answer)
            for estimator, answers in found.items():
                low, high, better = np.array(answers, float).T
                covers, width = np.mean((low <= truth) & (truth <= high)), np.mean(high - low)
                cells = f"{100 * covers:.0f}% | {width:.3g} | {100 * better.mean():.0f}%"
                lines.append(f"| {name.replace('_', ' ')} | {episodes} | {len(answers)} | {estimator} | {cells} |")
    return "\n".join(lines)


def main(folder: Path) -> int:
    """Write the missing logs, and print the table of the available estimates."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in DOMAINS:
        for episodes in SIZES:
            for run in range(RUNS):
                write(folder, name, episodes, run)
    print(table(folder))
    return 0
