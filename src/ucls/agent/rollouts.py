"""Complete episodes of a policy, in one environment or in a vector of them: their returns and lengths.

In a vector every environment plays a number of episodes that is fixed in advance: taking the first that end would favor
short ones.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ucls.agent.inference import read
from ucls.errors import UserError
from ucls.gym.action_masks import MaskReader
from ucls.gym.layout import as_floats, real_numbers
from ucls.gym.observations import Observed, read_reset, read_step
from ucls.gym.vector import autoreset_mode, is_vector

# the actions in many states, by their masks if there are any, numbered as the environment does
Policy = Callable[[np.ndarray, np.ndarray | None], np.ndarray]
ENDLESS = 10_000  # steps after which an episode is truncated if the environment has no time limit


class Episodes(NamedTuple):
    """The returns and lengths of episodes; truncated ones count with their partial return."""

    returns: np.ndarray
    lengths: np.ndarray
    n_truncated: int


def longest(env: Any) -> int:
    """Return the time limit of an episode, if the environment has one."""
    spec = getattr(env, "spec", None)
    if spec is None and is_vector(env) and hasattr(env, "get_attr"):
        try:
            spec = env.get_attr("spec")[0]
        except Exception:  # not every vector has environments of its own
            spec = None
    return getattr(spec, "max_episode_steps", None) or ENDLESS


def in_one(
    policy: Policy, env: Any, kind: Observed, seed: int, episodes: int, bound: int, masks: MaskReader
) -> Episodes:
    """Run episodes in one environment, one after the other; the seed is that of the first."""
    returns, lengths, n_truncated = [], [], 0
    for number in range(1, episodes + 1):
        where = f"in episode {number} of the evaluation"
        given = env.reset(seed=seed if number == 1 else None)
        s = _read(read_reset, given, kind, where)
        _read(masks.read, given[0], given[1], where)
        total, length, over = 0.0, 0, False
        while not over and length < bound:
            given = env.step(int(policy(s[None], None if masks.mask is None else masks.mask[None])[0]))
            step = _read(read_step, given, kind, where)
            s, total, length, over = step.s, total + step.reward, length + 1, step.terminated or step.truncated
            if not over and masks.gives:
                _read(masks.read, given[0], given[4], where)
        returns.append(total)
        lengths.append(length)
        n_truncated += not over
    return Episodes(np.array(returns), np.array(lengths), n_truncated)


def _read(reader: Callable[[Any, Any], Any], given: Any, kind: Any, where: str) -> Any:
    try:
        return reader(given, kind)
    except UserError as fault:
        raise UserError(f"the environment is at fault, {where}: {fault}") from None


def in_many(
    policy: Policy, envs: Any, kind: Observed, seed: int, episodes: int, bound: int, masks: MaskReader
) -> Episodes:
    """Run episodes in a vector of environments, shared among them as evenly as possible.

    One whose episode has no end cannot be begun again by itself, unless it is on the caller to do so (Gymnasium's
    `AutoresetMode.DISABLED`): it then gives no more episodes.
    """
    n = envs.num_envs
    mode = autoreset_mode(envs)
    left = np.array([(episodes + i) // n for i in range(n)])
    total, length, resetting = np.zeros(n), np.zeros(n, np.int64), np.zeros(n, bool)
    returns, lengths, n_truncated = [], [], 0
    observations, infos = envs.reset(seed=seed)
    valid = _masks(masks, observations, infos, resetting)
    while (left > 0).any():
        step = envs.step(policy(_states(observations, kind, n), valid))
        infos = step[4]
        observations, (rewards, terminated, truncated) = step[0], (_row(part, n) for part in step[1:4])
        total, length = np.where(resetting, 0.0, total + rewards), np.where(resetting, 0, length + 1)
        over = ~resetting & ((terminated != 0) | (truncated != 0))
        endless = ~resetting & ~over & (length >= bound)
        for i in np.flatnonzero((over | endless) & (left > 0)):
            returns.append(float(total[i]))
            lengths.append(int(length[i]))
            left[i] = left[i] - 1 if over[i] or mode == "Disabled" else 0
            n_truncated += int(endless[i])
        begun = over | endless if mode == "Disabled" else over
        valid = _masks(masks, observations, infos, over & (mode != "SameStep"))
        if mode == "Disabled" and begun.any():
            observations, infos = envs.reset(options={"reset_mask": begun})
            valid = _masks(masks, observations, infos, ~begun, begun)
        total[begun], length[begun] = 0.0, 0
        resetting = begun if mode == "NextStep" else np.zeros(n, bool)
    return Episodes(np.array(returns), np.array(lengths), n_truncated)


def _states(observations: Any, kind: Observed, n: int) -> np.ndarray:
    try:
        points, many = read(kind, observations)
    except UserError as fault:
        raise UserError(f"the environments are at fault: {fault}") from None
    if not many or len(points) != n:
        raise UserError(f"the environments are at fault: a step must give {n} observations, one for each")
    return points


def _masks(masks: MaskReader, observations: Any, infos: Any, idle: np.ndarray, moved: Any = None) -> np.ndarray | None:
    try:
        return masks.read_many(observations, infos, idle, moved)
    except UserError as fault:
        raise UserError(f"the environments are at fault: {fault}") from None


def _row(given: Any, n: int) -> np.ndarray:
    numbers = real_numbers(given)
    if numbers is None or numbers.shape != (n,) or not np.isfinite(floats := as_floats(numbers)).all():
        raise UserError(f"the environments are at fault: a step must give {n} rewards and flags, all finite")
    return floats
