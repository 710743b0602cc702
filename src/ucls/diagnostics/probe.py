"""Measurements along a run: the quantities of the Optimistic Values Theorem, under a distribution of states and
actions.

With Q-hat the learned means, U the radii, Q~ = Q-hat + U what the agent maximizes, pi the policy that does so, and all
expectations over one distribution d(s, a):

    optimism     E[Q~ - Q*]          assumption 1: at least 0
    radius       E[U]                assumption 2: f(t), goes to 0
    value_error  E[Q-hat - Q^pi]     assumption 3: its size is g(t), goes to 0
    regret       E[Q* - Q^pi]        the theorem: at most f + g
    covered      P(Q~ >= Q*)         optimism one by one: the part of states and actions where the bound holds

They obey regret = radius + value_error - optimism exactly. So where optimism holds the theorem cannot fail; what the
readings tell is which of its three conditions fails, and by how much.

The distributions: `uniform` over states and actions; `optimal`, the stationary distribution of the optimal policy with
its actions, are the paper's. Of the third, `start`, it names the states only: here every side takes its own best
action, so that regret is the start's V* - V^pi and optimism is max Q~ - V*. The proof is the same.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from ucls.core.history import History, join
from ucls.core.learner import Learner
from ucls.core.run import Run
from ucls.diagnostics.internals import internals
from ucls.envs import BuiltinEnv
from ucls.errors import UserError, unknown
from ucls.kernels.dynamic_programming import Tabulated, best_values, evaluate, start_weights, tabulate, visits

ROUNDING = 1e-6  # relative to the optimal value: what planning's tolerance leaves open
DISTRIBUTIONS = ("start", "uniform", "optimal")
POINTS = 30


class OptimalValues(NamedTuple):
    """The reference of measurements: an environment on its grid, its optimal values, and weights of states.

    `d` are the weights of states and actions, or None where every side takes its own best action in the states `d_s`.
    """

    table: Tabulated
    best: np.ndarray
    d_s: np.ndarray
    d: np.ndarray | None


class Measurement(NamedTuple):
    """The quantities of the theorem at one moment; `optimum` is E[Q*], `bound` is f + g.

    `widest` is the largest radius in any state of the grid: if it is small, exploration is over; if it is not but the
    radius is, the optimism that is left elsewhere does not reach the states of the distribution. `covered` is the part
    of the states and actions, weighed by the distribution, where Q~ is at least Q*.
    """

    optimism: float
    radius: float
    value_error: float
    regret: float
    bound: float
    optimum: float
    widest: float
    covered: float


def optimal_values(run: Run, distribution: str = "start") -> OptimalValues:
    """Return the reference for the measurements of a run; the last few are cached in memory."""
    if distribution not in DISTRIBUTIONS:
        raise unknown("distribution", distribution, DISTRIBUTIONS)
    me = run.learner
    refuse_boundless(me)
    return _yardstick(run.world, distribution, reward_shift(me))


def refuse_boundless(learner: Learner) -> None:
    """Refuse a learner that computes no bounds."""
    if not hasattr(learner.algorithm, "interval"):
        raise UserError(
            f"{learner.plan.agent} has no confidence bounds to diagnose: `ucls algorithms` lists those that have"
        )


def reward_shift(learner: Learner) -> float:
    """Return the constant by which the rewards that a learner learns from are lowered."""
    algorithm = learner.algorithm
    return algorithm.reward_shift(learner.hyper) if hasattr(algorithm, "reward_shift") else 0.0


@functools.lru_cache(maxsize=4)
def _yardstick(world: BuiltinEnv, distribution: str, shift: float) -> OptimalValues:
    table, best = _solved(world, shift)
    policy = np.argmax(best, axis=1)
    if distribution == "uniform":
        d_s = (table.twin == np.arange(len(table.twin))).astype(np.float64)
        d_s /= d_s.sum()
        return OptimalValues(table, best, d_s, np.repeat(d_s[:, None] / table.n_actions, table.n_actions, axis=1))
    start = start_weights(world.env, world.problem(), table)
    if distribution == "start":
        return OptimalValues(table, best, start, None)
    d_s = visits(table, policy, start)
    return OptimalValues(table, best, d_s, d_s[:, None] * _indicator(policy, table.n_actions))


@functools.lru_cache(maxsize=4)
def _solved(world: BuiltinEnv, shift: float) -> tuple[Tabulated, np.ndarray]:
    problem = world.problem()
    table = tabulate(world.env, problem, problem.stride, shift)
    return table, best_values(table)


def probe(learner: Learner, stick: OptimalValues) -> Measurement:
    """Measure a learner as it is now."""
    mean, top = learner.survey(stick.table.points)
    policy = np.argmax(top, axis=1)
    return read(stick, mean, top, evaluate(stick.table, policy))


def read(stick: OptimalValues, mean: np.ndarray, top: np.ndarray, q: np.ndarray) -> Measurement:
    """Compute the measurements from the means, the maximized values, and the true values of the policy that does so."""
    ours = theirs = stick.d
    if ours is None or theirs is None:
        n_actions = stick.table.n_actions
        ours = stick.d_s[:, None] * _indicator(np.argmax(top, axis=1), n_actions)
        theirs = stick.d_s[:, None] * _indicator(np.argmax(stick.best, axis=1), n_actions)
    optimum, upper, middle, true = (
        float(np.sum(d * x)) for d, x in ((theirs, stick.best), (ours, top), (ours, mean), (ours, q))
    )
    radius, error = upper - middle, middle - true
    bound, widest = abs(radius) + abs(error), float(np.max(top - mean))
    return Measurement(upper - optimum, radius, error, optimum - true, bound, optimum, widest, _covered(stick, top))


def _covered(stick: OptimalValues, top: np.ndarray) -> float:
    """The fraction of the distribution where the bound holds; of the best actions if each side takes its own."""
    weights, best = stick.d, stick.best
    if weights is None:
        weights, best, top = stick.d_s, best.max(axis=1), top.max(axis=1)
    return float(np.sum(weights * (top >= best - ROUNDING * (1.0 + np.abs(best)))))


def probe_run(
    run: Run,
    steps: int,
    *,
    at: Iterable[int] | None = None,
    measurements: int = POINTS,
    distribution: str = "start",
    into: list[dict[str, float]] | None = None,
    each: Callable[[Learner, OptimalValues], None] | None = None,
) -> tuple[History, dict[str, np.ndarray]]:
    """Advance a run by some steps, measuring it before, at the steps `at` and after; measuring does not change the run.

    Without `at` there are `measurements` after the first, denser at the beginning. Returns what happened, and arrays by
    name: `step`, those of a `Measurement`, `optimistic` (optimism is at least 0) and `holds` (regret is at most f + g).
    A run that diverges has no reading after its last sound one. What is read inside the learner is added to `into`,
    and `each` is called at every measurement.
    """
    stick = optimal_values(run, distribution)
    stops = stops_of(steps, at, measurements)
    parts, when, readings = [History(np.zeros(0), np.zeros(0, np.uint8))], [], []
    for now, then in zip([0, *stops[:-1]], stops, strict=True):
        if then > now:
            parts.append(run.advance(then - now))
        if run.diverged:
            break
        when.append(run.steps)
        readings.append(probe(run.learner, stick))
        if into is not None:
            into.append(internals(run.learner, stick.table.points, stick.d_s, stick.d))
        if each is not None:
            each(run.learner, stick)
    columns = np.array(readings).reshape(-1, len(Measurement._fields)).T
    columns_by_name = {"step": np.array(when, np.int64), **dict(zip(Measurement._fields, columns, strict=True))}
    rounding = 1e-9 * (1.0 + np.abs(columns_by_name["optimum"]))
    columns_by_name["optimistic"] = columns_by_name["optimism"] >= -rounding
    columns_by_name["holds"] = columns_by_name["regret"] <= columns_by_name["bound"] + rounding
    return join(parts), columns_by_name


def stops_of(steps: int, at: Iterable[int] | None, measurements: int) -> list[int]:
    """The steps of the measurements: the first, the last, and `at`, or `measurements`, denser at the beginning."""
    if at is None:
        at = [round(steps * (i / measurements) ** 2) for i in range(1, measurements)]
    wanted = sorted({int(step) for step in at} | {0, steps})
    if wanted[0] < 0 or wanted[-1] > steps:
        raise UserError(f"a measurement cannot be taken outside the run: give steps from 0 to {steps}")
    return wanted


def _indicator(policy: np.ndarray, n_actions: int) -> np.ndarray:
    return np.eye(n_actions)[policy]
