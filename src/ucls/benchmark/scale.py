"""The scale of a task: what a random policy achieves, and the best one that is known.

Both are exact where the states can be listed: the random policy's return within the time limit, and that of the policy
which is optimal for the discounted (0.99, 0.999 or no discount) return, whichever is best. Elsewhere the random policy
is simulated, and the best one is that of planning (`optimal` of a built-in environment), the result of a search from
many starts, or the largest return there is.
"""

from collections import deque
from typing import Any

import numpy as np

from ucls.benchmark import places
from ucls.benchmark.tasks import CONTINUING, PLACES, ROOMS, Scale, Task
from ucls.envs import ENVIRONMENTS, BuiltinEnv, make_builtin
from ucls.features import features_module, is_discrete
from ucls.gym.registry import make_env
from ucls.kernels.dynamic_programming import tabular
from ucls.kernels.dynamic_programming.tabular import Table
from ucls.settings import divided

RANDOM_STEPS, ROOM_STEPS, STATES = 200_000, 50_000, 4000
DISCOUNTS = (0.99, 0.999, 1.0)
BEAM, STARTS = 3000, 10


def scale(task: Task) -> Scale:
    """Compute the scale of a task."""
    table = _table(task)
    if table is not None:
        return _exact(task, *table)
    env = _made(task)
    try:
        steps = ROOM_STEPS if task.env.startswith(ROOMS) else RANDOM_STEPS
        random = _simulated(env, task, steps)
        best, how = _best(task, env)
    finally:
        env.close()
    return Scale(random, best, f"{how}; random policy: {steps:,} simulated steps")


def _exact(task: Task, table: Table, start: np.ndarray, limit: int) -> Scale:
    uniform = np.full(table.r.shape, 1.0 / table.r.shape[1])
    policies = [tabular.greedy(tabular.values(table, discount)) for discount in _discounts(task)]
    earned = [tabular.episode(table, policy, start, limit)[0] for policy in (uniform, *policies)]
    per = limit if task.per == CONTINUING else 1
    return Scale(earned[0] / per, max(earned[1:]) / per, "exact, by dynamic programming")


def _discounts(task: Task) -> tuple[float, ...]:
    return DISCOUNTS[:-1] if task.per == CONTINUING else DISCOUNTS


def _table(task: Task) -> tuple[Table, np.ndarray, int] | None:
    """The table of a task, the chances of its starts, and how long to act; None if its states cannot be listed."""
    if task.env in ENVIRONMENTS:
        return _table_of_builtin(task, make_builtin(task.env, task.settings))
    if task.env.startswith(ROOMS) or not hasattr((env := _made(task)).unwrapped, "P"):
        return None
    raw, limit = env.unwrapped, getattr(env.spec, "max_episode_steps", None)
    order = getattr(env, "order", np.arange(env.action_space.n))
    r, chance = np.zeros((len(raw.P), len(order))), np.zeros((len(raw.P), len(order), len(raw.P)))
    for state, a in np.ndindex(r.shape):
        for weight, after, reward, terminated in raw.P[state][int(order[a])]:
            r[state, a] += weight * reward
            chance[state, a, after] += 0.0 if terminated else weight
    env.close()
    return Table(r, chance), np.asarray(raw.initial_state_distrib, np.float64), int(limit or task.steps)


def _table_of_builtin(task: Task, world: BuiltinEnv) -> tuple[Table, np.ndarray, int] | None:
    discrete = is_discrete(features_module(world.features[0])) and len(world.bounds()[0]) == 1
    problem = world.problem() if discrete else None
    if problem is None or problem.shape[0] > STATES:
        return None
    s = np.zeros(1)
    world.reset(s, np.random.default_rng(0))  # every one of them has a single start
    start = np.eye(problem.shape[0])[int(s[0])]
    return tabular.build_table(world.env, problem), start, world.time_limit or task.steps


def _made(task: Task) -> Any:
    return make_env(task.env, divided({f"env.{name}": value for name, value in task.settings.items()})[1])


def _simulated(env: Any, task: Task, steps: int) -> float:
    """The mean return of random episodes, or the mean reward of random steps."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    total, episodes, unfinished = 0.0, 0, 0.0
    for _ in range(steps):
        _, reward, terminated, truncated, _ = env.step(int(rng.integers(env.action_space.n)))
        total, unfinished = total + float(reward), unfinished + float(reward)
        if terminated or truncated:
            episodes, unfinished = episodes + 1, 0.0
            env.reset()
    return total / steps if task.per == CONTINUING else (total - unfinished) / max(1, episodes)


def _best(task: Task, env: Any) -> tuple[float, str]:
    """The best known return, or reward per step, and how it is known."""
    if task.env in ENVIRONMENTS:
        best = make_builtin(task.env, task.settings).best()
        rate = best.reward_rate if task.per == CONTINUING else best.episode_return
        assert rate is not None
        return rate, "policy planned on a grid and measured"
    if task.env.startswith(ROOMS):
        return _shortest(env), "shortest path, by breadth-first search"
    name = task.settings.get("id", task.env)
    if name == "CartPole-v1":
        return 500.0, "the largest return there is"
    if name == "Acrobot-v1":
        return _searched(env, _acrobot), f"beam search with known physics, mean of {STARTS} starts"
    if name == f"{PLACES}:SwingUp":
        return _searched(env, _swing_up), f"beam search with known physics, mean of {STARTS} starts"
    raise LookupError(f"no way to find the best return in {task.env}: add one here")


def _shortest(env: Any) -> float:
    """The largest return in a room, where a return is less the more steps it takes: breadth-first search."""
    env.reset()
    waiting, seen = deque([(env.snapshot(), 0)]), set()
    while waiting:
        before, steps = waiting.popleft()
        for action in range(env.action_space.n):
            env.restore(before, steps)
            _, reward, terminated, truncated, _ = env.step(action)
            if terminated and reward > 0:
                return float(reward)
            after = env.snapshot()
            key = (*after[:4], tuple(map(id, after[4])))
            if not (terminated or truncated) and key not in seen:
                seen.add(key)
                waiting.append((after, steps + 1))
    raise LookupError("the goal cannot be reached")


def _searched(env: Any, search: Any) -> float:
    starts = []
    for seed in range(STARTS):
        env.reset(seed=seed)
        starts.append(np.array(env.unwrapped.state, np.float64))
    return float(np.mean([search(start) for start in starts]))


def _kept(states: np.ndarray, returns: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Select the states that a beam search keeps: the best of every grid cell, and a spread-out sample of those."""
    order = np.argsort(-returns, kind="stable")
    _, first = np.unique(np.floor(states[order] / widths), axis=0, return_index=True)
    best = order[np.sort(first)]
    if len(best) <= BEAM:
        return best
    rest = np.random.default_rng(len(best)).permutation(best[BEAM // 2 :])[: BEAM - BEAM // 2]
    return np.concatenate([best[: BEAM // 2], rest])


def _acrobot(start: np.ndarray) -> float:
    """The return of the fastest swing-up that a beam search finds in Gymnasium's Acrobot."""
    states, widths = start[None], np.array([0.15, 0.15, 0.4, 0.6])
    for step in range(1, 500):
        states = np.array([places.swung(state, a) for state in states for a in range(3)])
        if (-np.cos(states[:, 0]) - np.cos(states[:, 1] + states[:, 0]) > 1.0).any():
            return -float(step - 1)  # the step that arrives costs nothing
        height = -np.cos(states[:, 0]) - np.cos(states[:, 1] + states[:, 0])
        energy = 0.5 * (states[:, 2] ** 2 + (states[:, 2] + states[:, 3]) ** 2) + 9.8 * height
        states = states[_kept(states, energy, widths)[: BEAM // 20]]
    return -500.0


def _swing_up(start: np.ndarray) -> float:
    """The largest return that a beam search finds in an episode of the swing-up with the default settings."""
    env = places.SwingUp()
    states, returns, widths = start[None], np.zeros(1), np.array([0.15, 0.3, 0.1, 0.3])
    for _ in range(1000):
        after, earned = [], []
        for push in (-1, 0, 1):
            x, v, angle, spin = places.moved(states[:, 0], states[:, 1], states[:, 2], states[:, 3], push)
            up = (np.cos(angle) > env.height_threshold) & (np.abs(spin) < places.SLOW)
            up &= np.abs(x) < env.x_reward_threshold
            inside = np.abs(x) <= places.EDGE
            after.append(np.column_stack([x, v, np.mod(angle, 2 * np.pi), spin])[inside])
            earned.append((returns + up - env.move_cost * abs(push))[inside])
        states, returns = np.concatenate(after), np.concatenate(earned)
        missing = np.abs(
            states[:, 3] ** 2 / 29.4 + np.cos(states[:, 2]) - 1
        )  # energy, of that of a pole at rest on top
        kept = _kept(states, returns - 30 * missing - 3 * np.abs(states[:, 0]), widths)
        states, returns = states[kept], returns[kept]
    return float(returns.max())
