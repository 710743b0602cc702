"""Dynamic programming: the performance of an optimal policy in an environment whose physics is known.

Value iteration on a uniform grid, with values between its points interpolated multilinearly and noise replaced by a
few nodes with weights. What the greedy policy then achieves is measured in the real world: an episodic task is run
with a fixed seed for some million steps; the gain of a continuing one is computed on the grid.

Approximate: the values are those of the grid, and the policy is greedy in them; it is near-optimal, no bound is given.
"""

import contextlib
import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ucls._util.files import cache_dir, write_atomic
from ucls.kernels.dynamic_programming import grid
from ucls.kernels.dynamic_programming.grid import Axes, Model, Nodes
from ucls.settings import shown

RUN_STEPS = 4_000_000
TIME_LIMIT = 10_000
STARTS = 2000


class Problem(NamedTuple):
    """The parts of an environment that planning needs: its kernels, and the grid and nodes to plan with.

    `move(env, s, a, u, n)` is one step with its noise given: `u` uniform in [0, 1), `n` standard normal.
    `over(env, s)` says whether an episode ends in `s`; None in a continuing task. Every `stride`-th point of each axis
    is enough to evaluate many policies on (see `tabulate`).
    """

    reset: Callable[..., Any]
    step: Callable[..., Any]
    move: Callable[..., Any]
    n_actions: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    shape: tuple[int, ...]
    nodes: Nodes
    over: Callable[..., Any] | None
    stride: int = 1


class Tabulated(NamedTuple):
    """A problem on its grid: its points, the nearest nonterminal point of each terminal one, and the model.

    A value is the discounted return, of at most `horizon` steps: without a discount a policy that never arrives would
    have no value, so it is measured up to the time limit of the environment.
    """

    points: np.ndarray
    axes: Axes
    twin: np.ndarray
    model: Model
    n_actions: int
    discount: float
    horizon: int


class Optimal(NamedTuple):
    """The performance of an optimal policy, and its action values on a grid.

    The policy is optimal for the discounted return; the rest is what it earns. `reward_rate` is the average reward of
    a step in the long run, episodes restarted; `episode_return` (undiscounted) and `episode_steps` are expectations
    from the start of an episode, or None where episodes do not end. Points of the grid where an episode is over carry
    the values of the nearest point where it is not.
    """

    reward_rate: float
    episode_return: float | None
    episode_steps: float | None
    grid: tuple[np.ndarray, ...]
    q: np.ndarray


def action_values(optimal: Optimal, s: np.ndarray) -> np.ndarray:
    """The optimal values of every action in the state `s`."""
    out = np.empty(optimal.q.shape[-1])
    values = np.ascontiguousarray(optimal.q).reshape(-1, len(out))
    grid.interpolate(_axes(optimal.grid), values, np.asarray(s, dtype=np.float64), out)
    return out


def normal_nodes(count: int) -> Nodes:
    """Return normal noise as `count` equally likely values, at the middles of its quantiles and with variance 1.

    Many equal steps suit rewards that jump better than the few unequal ones of a Gauss rule.
    """
    n = np.array([NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)])
    if count > 1:
        n /= np.sqrt(np.mean(n**2))
    return Nodes(np.zeros(count), n, np.full(count, 1 / count))


def uniform_nodes(breaks: np.ndarray) -> Nodes:
    """Return values for a uniform random number that matters only by which of the `breaks` it exceeds: exact."""
    edges = np.unique(np.round(np.concatenate(([0.0, 1.0], np.ravel(breaks))), 12))
    return Nodes((edges[1:] + edges[:-1]) / 2, np.zeros(len(edges) - 1), np.diff(edges))


def product_nodes(uniform: Nodes, normal: Nodes) -> Nodes:
    """Every pair of a uniform and a normal draw."""
    k, m = len(uniform.u), len(normal.n)
    return Nodes(np.repeat(uniform.u, m), np.tile(normal.n, k), np.outer(uniform.weight, normal.weight).ravel())


def plan(env: Any, problem: Problem) -> Optimal:
    """Solve a problem, or read the solution that an earlier process left on disk."""
    try:
        name = _digest(env, problem)
    except (OSError, TypeError):  # an environment typed into a notebook has no source file to watch
        return solve(env, problem)
    folder = cache_dir("optimal")
    optimal = _read(folder / f"{name}.npz", problem) if folder else None
    if optimal is None:
        optimal = solve(env, problem)
        with contextlib.suppress(OSError):  # no room to keep it: the next process solves it again
            if folder:
                _write(folder / f"{name}.npz", optimal)
    return optimal


def solve(env: Any, problem: Problem) -> Optimal:
    """Iterate values on the grid until they converge, then evaluate the greedy policy."""
    table = tabulate(env, problem)
    axes, model, q = table.axes, table.model, best_values(table)
    episode_return = episode_steps = None
    if problem.over is None:
        rate = _rate(env, problem, axes, model, q)
    else:
        time_limit = env.time_limit or TIME_LIMIT
        run = grid.run(problem.reset, problem.step, env, axes, q, time_limit, RUN_STEPS, _generator())
        total, ended, returns, steps = run
        rate = total / RUN_STEPS
        if ended:
            episode_return, episode_steps = returns / ended, steps / ended
    q = q.reshape(*problem.shape, problem.n_actions)
    return Optimal(rate, episode_return, episode_steps, _lines(problem, problem.shape), q)


def tabulate(env: Any, problem: Problem, stride: int = 1, shift: float = 0.0) -> Tabulated:
    """Put a problem on its grid, or on every `stride`-th point of it, with every reward lowered by `shift`."""
    lines = _lines(problem, [(count - 1) // stride + 1 for count in problem.shape])
    axes = _axes(lines)
    twin = grid.twins(problem.over or grid.never, env, axes)
    model = grid.tabulate(problem.move, env, axes, twin, problem.n_actions, problem.nodes)
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))
    horizon = (env.time_limit or TIME_LIMIT) if env.discount == 1 else grid.FOREVER
    model = model._replace(r=model.r - shift)
    return Tabulated(points, axes, twin, model, problem.n_actions, env.discount, horizon)


def best_values(table: Tabulated) -> np.ndarray:
    """The optimal value of every action in every point."""
    q = np.zeros((len(table.twin), table.n_actions))
    grid.iterate(table.model, table.discount, q)
    return q[table.twin]


def evaluate(table: Tabulated, policy: np.ndarray) -> np.ndarray:
    """The value of every action in every point, where a policy (an action for each point) is followed after it."""
    q = np.zeros((len(table.twin), table.n_actions))
    grid.evaluate(table.model, np.asarray(policy, np.int64), table.discount, table.horizon, q)
    return q[table.twin]


def average_reward(env: Any, problem: Problem, table: Tabulated, q: np.ndarray, steps: int) -> float:
    """Return the mean reward per step of the policy that is greedy on `q`, a value for every point and action."""
    total, *_ = grid.run(
        problem.reset,
        problem.step,
        env,
        table.axes,
        np.ascontiguousarray(q),
        env.time_limit or TIME_LIMIT,
        steps,
        _generator(),
    )
    return total / steps


def start_weights(env: Any, problem: Problem, table: Tabulated) -> np.ndarray:
    """Return the probability that an episode starts in each point; a start between points is shared among them."""
    rng, weights = _generator(), np.zeros(len(table.twin))
    s = np.empty(len(problem.low))
    for _ in range(STARTS):
        problem.reset(env, s, rng)
        grid.share(table.axes, table.twin, s, 1 / STARTS, weights)
    return weights


def visits(table: Tabulated, policy: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the stationary distribution of a policy over the points, with episodes restarted."""
    counts = grid.visits(table.model, np.asarray(policy, np.int64), start)
    return counts / counts.sum()


def _rate(env: Any, problem: Problem, axes: Axes, model: Model, q: np.ndarray) -> float:
    """The gain of the greedy policy in every point of the grid, averaged over the start of the task."""
    gain = grid.gain(model, np.argmax(q, axis=1))
    rng, s, out, starts = _generator(), np.empty(len(problem.low)), np.empty(1), np.empty(1000)
    for i in range(len(starts)):
        problem.reset(env, s, rng)
        grid.interpolate(axes, gain, s, out)
        starts[i] = out[0]
    return float(starts.mean())


def _generator() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(0)))


def _lines(problem: Problem, shape: Sequence[int]) -> tuple[np.ndarray, ...]:
    return tuple(np.linspace(*ends) for ends in zip(problem.low, problem.high, shape, strict=True))


def _axes(grid: tuple[np.ndarray, ...]) -> Axes:
    low = np.array([axis[0] for axis in grid])
    width = np.array([axis[1] - axis[0] if len(axis) > 1 else 1.0 for axis in grid])
    return Axes(low, width, np.array([len(axis) for axis in grid]))


def _digest(env: Any, problem: Problem) -> str:
    """A name for the solution: the sources that make it, and the settings."""
    texts = [inspect.getsource(sys.modules[name]) for name in (__name__, grid.__name__, problem.move.__module__)]
    return hashlib.sha256("\0".join([*texts, repr(shown(env))]).encode()).hexdigest()[:32]


def _read(path: Path, problem: Problem) -> Optimal | None:
    """Read a solution; an invalid one counts as absent."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            rate, g, steps = (float(file[name]) for name in ("reward_rate", "episode_return", "episode_steps"))
            grid = tuple(file[f"axis_{j}"] for j in range(len(problem.shape)))
            q = file["q"]
    except Exception:  # whatever damaged bytes do to a reader of zip files
        return None
    if q.shape != (*problem.shape, problem.n_actions) or tuple(map(len, grid)) != problem.shape:
        return None
    if not (np.isfinite(q).all() and np.isfinite(rate)):
        return None
    return Optimal(rate, None if np.isnan(g) else g, None if np.isnan(steps) else steps, grid, q)


def _write(path: Path, optimal: Optimal) -> None:
    def save(to: Path) -> None:
        arrays: dict[str, Any] = {f"axis_{j}": axis for j, axis in enumerate(optimal.grid)}
        for name in ("reward_rate", "episode_return", "episode_steps"):
            value = getattr(optimal, name)
            arrays[name] = np.nan if value is None else value
        np.savez(to, q=optimal.q, **arrays)

    write_atomic(path, save)
