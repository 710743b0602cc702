"""The policies that a learner has learned, and their values: the paper's Figure "CIR evaluation"."""

from typing import NamedTuple

import numpy as np

from ucls.core.run import Run
from ucls.diagnostics.probe import optimal_values
from ucls.kernels.dynamic_programming import average_reward, evaluate

STEPS = 50_000


class Policies(NamedTuple):
    """The values of two greedy policies in every state, and the optimal ones.

    `mean` is the value of the policy greedy on the means (M), `bound` of the one greedy on what the agent maximizes,
    mean + radius (M+CIR), and `optimal` is V*; `states` has a row per state, `d` its weight in the distribution.
    `earned` is the reward per step of the two, followed for as many steps as a run of the paper has.
    """

    states: np.ndarray
    optimal: np.ndarray
    mean: np.ndarray
    bound: np.ndarray
    d: np.ndarray
    earned: tuple[float, float]

    def regrets(self) -> tuple[float, float]:
        """Return the regrets of the two policies, averaged over the distribution."""
        return float(self.d @ (self.optimal - self.mean)), float(self.d @ (self.optimal - self.bound))


def policies(run: Run, distribution: str = "start") -> Policies:
    """Evaluate the policies of a run (`Run.load` takes one from a checkpoint) as it is now, exactly, in every state.

    >>> from ucls.core.run import make_run
    >>> run = make_run("ucls/OneState-v0", "ucls", seed=1)
    >>> happened = run.advance(8000)
    >>> max(policies(run).regrets()) < 1e-9
    True
    """
    stick = optimal_values(run, distribution)
    mean, top = run.learner.survey(stick.table.points)
    values, earnings = [], []
    problem = run.world.problem()
    for maximized in (mean, top):
        policy = np.argmax(maximized, axis=1)
        values.append(np.take_along_axis(evaluate(stick.table, policy), policy[:, None], axis=1)[:, 0])
        earnings.append(average_reward(run.world.env, problem, stick.table, maximized, STEPS))
    best = stick.best.max(axis=1)
    return Policies(stick.table.points, best, values[0], values[1], stick.d_s, (earnings[0], earnings[1]))
