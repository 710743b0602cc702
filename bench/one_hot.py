"""The step of an agent in an environment with discrete states, one feature for each state and action."""

from typing import Any

import numpy as np

from bench.harness import Effort, Job, interleave, spread
from bench.tables import Table, number, within
from ucls.core.config import Plan, resolve_plan
from ucls.core.learner import Learner
from ucls.kernels.linear_algebra.lazy_matrix import WAITING

ACTIONS = 4
SIZES, QUICK = (256, 512, 1024, 1536, 2048, 3072, 4096), (256, 512)
AGENTS = ("ucls-exact", "ucls-l", "sarsa")


def measure(effort: Effort) -> dict[str, Any]:
    """Time a step of each agent with every number of features, after all states have been visited."""
    found: dict[str, Any] = {}
    for d in effort.of(SIZES, QUICK):
        jobs = {agent: Job(_steps(agent, d // ACTIONS), WAITING) for agent in AGENTS}  # matrices change that often
        found[str(d)] = {name: spread(us) for name, us in interleave(jobs, effort.of(5.0, 0.3), at_least=5).items()}
    return found


def _steps(agent: str, n_states: int) -> Any:
    """Steps between random states, by the kernels that `Agent.learn` calls."""
    plan = Plan(agent, {}, "one_hot", {}, [0.0], [n_states - 1.0], ACTIONS, seed=0)
    learner, rng = Learner(resolve_plan(plan)), np.random.default_rng(0)
    learner.begin(np.zeros(1))

    def go(steps: int) -> None:
        for s in rng.integers(n_states, size=steps):
            learner.advance(float(s % 7 == 0), 0.99, np.array([float(s)]), False)

    for s in range(n_states):
        learner.advance(0.0, 0.99, np.array([float(s)]), False)
    return go


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds per step, and the time that 50,000 steps of the default agent take."""
    rows = []
    for d, us in found.items():
        minutes = 50_000 * us["ucls-exact"][1] / 60e6
        rows.append([f"{int(d):,}", *(within(us[agent]) for agent in AGENTS), number(minutes)])
    return [
        Table(
            "One-hot features, microseconds per step",
            ["features", *AGENTS, "minutes for 50,000 steps of ucls-exact"],
            rows,
            f"Medians with quartiles on one core; {ACTIONS} actions, random transitions, every state visited before.",
        )
    ]
