"""Estimate policies with SCOPE-RL from logs that `python -m bench logs baselines FOLDER` has written.

Run it as a script in an environment with `pip install scope-rl`: `python bench/logs/scope_rl_estimates.py FOLDER`.
A policy counts as better if its interval lies above the mean return of the log.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

CONFIDENCE, RESAMPLES = 0.9, 100


def estimate(path: Path) -> dict:
    """Return the intervals of SCOPE-RL's estimators with a bootstrap, its default, and our result."""
    from scope_rl.ope.discrete import DoublyRobust, PerDecisionImportanceSampling, SelfNormalizedPDIS

    with np.load(path) as data:
        log = {name: data[name] for name in data.files}
    told = json.loads(str(log["told"]))
    steps, n_actions = log["action"].shape[1], log["policy"].shape[2]
    policy = log["policy"].reshape(-1, n_actions)
    policy[policy.sum(axis=1) > 1.5, 1:] = 0.0  # after the end of an episode: action 0, as logged
    common = {
        "step_per_trajectory": steps,
        "action": log["action"].astype(int).ravel(),
        "reward": log["reward"].ravel(),
        "pscore": log["pscore"].ravel(),
        "evaluation_policy_action_dist": policy / policy.sum(axis=1, keepdims=True),
        "gamma": float(log["gamma"]),
        "alpha": 1 - CONFIDENCE,
        "n_bootstrap_samples": RESAMPLES,
        "random_state": 1,
    }
    found = {"ucls": told["ucls"]}
    for name, estimator in (("PDIS", PerDecisionImportanceSampling), ("SNPDIS", SelfNormalizedPDIS)):
        found[f"SCOPE-RL {name}"] = estimator().estimate_interval(**common)
    q = log["q"].reshape(-1, n_actions)
    found["SCOPE-RL DR (values of LSTD-Q)"] = DoublyRobust().estimate_interval(
        **common, state_action_value_prediction=q
    )
    for name, interval in found.items():
        if isinstance(interval, dict):
            low, high = (next(v for k, v in interval.items() if side in k.lower()) for side in ("lower", "upper"))
            found[name] = [float(low), float(high), bool(low > told["logged"])]
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for each in sorted(Path(sys.argv[1]).glob("*.npz")):
        out = each.with_suffix(".json")
        if not out.exists():
            out.write_text(json.dumps(estimate(each)))
