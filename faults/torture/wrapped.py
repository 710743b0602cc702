"""Random stacks of wrappers, random arguments: an environment that is recreated or copied behaves as the original."""

import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import wrappers

from ucls import Agent, UserError
from ucls.core.saving import checkpoint
from ucls.errors import UclsWarning
from ucls.gym.copies import copy_of
from ucls.gym.wrapping import normalizers_of
from ucls.train.same_env import recreated

STEPS = 15
SMALL = {"features": "tiles", "tilings": 2, "tiles": 2, "table_size": 64}
LIMITS = (None, None, -1, 3, 11, 500)
Build = Callable[[], Any]


class OrderEnforcing(gymnasium.RewardWrapper[Any, Any]):
    """A wrapper with the name of one that changes nothing."""

    def reward(self, reward: Any) -> Any:
        """One more."""
        return float(reward) + 1


class Scaled(gymnasium.RewardWrapper[Any, Any], gymnasium.utils.RecordConstructorArgs):
    """A wrapper that records its arguments."""

    def __init__(self, env: Any, scale: float) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, scale=scale)
        gymnasium.RewardWrapper.__init__(self, env)
        self.scale = scale

    def reward(self, reward: Any) -> Any:
        """Scaled."""
        return float(reward) * self.scale


class Late(wrappers.TimeLimit):
    """A subclass of a wrapper that is known."""

    def step(self, action: Any) -> Any:
        """Pay nothing."""
        s, _, *rest = super().step(action)
        return s, 0.0, *rest


def base(rng: random.Random) -> Build:
    """A way to make an environment, built in or Gymnasium's, with random arguments."""
    id, choices = rng.choice(BASES)
    arguments: dict[str, Any] = {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.4}
    if (limit := rng.choice(LIMITS)) is not None:
        arguments["max_episode_steps"] = limit
    if rng.random() < 0.2:
        arguments["disable_env_checker"] = rng.random() < 0.5
    return lambda: gymnasium.make(id, **arguments)


BASES: tuple[tuple[str, dict[str, tuple[Any, ...]]], ...] = (
    ("ucls/RiverSwim-v0", {"noise_std": (0.0, 0.05), "time_limit": (0, 5)}),
    ("ucls/OneState-v0", {}),
    ("ucls/PuddleWorld-v0", {"noise_std": (0.01,)}),
    ("ucls/DeepSea-v0", {"size": (4, 6)}),
    ("FrozenLake-v1", {"is_slippery": (True, False), "map_name": ("4x4", "8x8")}),
    ("CliffWalking-v1", {"is_slippery": (True,)}),
    ("MountainCar-v0", {"goal_velocity": (0, 0.01)}),
    ("Blackjack-v1", {"natural": (True,), "sab": (True, False)}),
)


def _times(k: float) -> Callable[[Any], Any]:
    return lambda value: value * k


def wrapper(rng: random.Random) -> Callable[[Any], Any]:
    """A way to wrap an environment."""
    k, n = rng.choice((0.5, 0.25, -1.0)), rng.randrange(1, 9)
    return rng.choice(
        (
            *(wrappers.RecordEpisodeStatistics, wrappers.OrderEnforcing, wrappers.PassiveEnvChecker) * 2,
            lambda env: wrappers.TimeLimit(env, n),
            lambda env: Late(env, n),
            OrderEnforcing,
            lambda env: Scaled(env, k),
            lambda env: wrappers.ClipReward(env, -abs(k), abs(k)),
            lambda env: wrappers.TransformReward(env, _times(k)),
            wrappers.NormalizeReward,
            wrappers.NormalizeObservation,
            lambda env: wrappers.StickyAction(env, abs(k) / 2),
            lambda env: wrappers.DelayObservation(env, n),
            lambda env: wrappers.TimeAwareObservation(env, flatten=False),
            lambda env: wrappers.TransformObservation(env, _times(k), env.observation_space),
            lambda env: wrappers.RescaleObservation(
                env, *(np.full(env.observation_space.shape, x) for x in (0.0, k * k))
            ),
            lambda env: wrappers.FrameStackObservation(env, 1 + n % 3),
            lambda env: wrappers.MaxAndSkipObservation(env, 2 + n % 3),
            wrappers.Autoreset,
        )
    )


def stack(rng: random.Random, make: Build) -> Build:
    """A way to make an environment in up to four wrappers, each of which fits what it is put around."""
    chosen: list[Callable[[Any], Any]] = []
    for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 4))):
        wrap = wrapper(rng)
        try:
            _episode(_wrapped(make, [*chosen, wrap]))
        except Exception:  # Gymnasium's wrappers refuse what they cannot wrap, each in its own way
            continue
        chosen.append(wrap)
    return lambda: _wrapped(make, chosen)


def _wrapped(make: Build, around: list[Callable[[Any], Any]]) -> Any:
    env = make()
    for wrap in around:
        env = wrap(env)
    return env


def prepare() -> Callable[[int], str]:
    """Compile everything once, and return `attempt`."""
    for seed in range(60):
        attempt(seed)
    return attempt


def attempt(seed: int) -> str:
    """Carry out a trial: "refused", or "fine"."""
    return "refused" if trial(seed) == "refused" else "fine"


def trial(seed: int) -> str:
    """Save an agent and load it again; a difference that nobody was told of is a fault.

    "same" if the environment was recreated from the file, "refused" if that was refused, "told" if another one was
    given and a notice said so, "alone" if the agent is loaded without its environment; "unfit" if there is no agent.
    """
    rng = random.Random(seed)
    with warnings.catch_warnings(action="ignore"), tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        make = base(rng)
        build, other = stack(rng, make), stack(rng, make if rng.random() < 0.6 else base(rng))
        try:
            discrete = isinstance(build().observation_space, gymnasium.spaces.Discrete)
            agent = Agent(build(), "sarsa", seed=seed % 1000, **({} if discrete else SMALL)).learn(2)
            path = agent.save(Path(folder) / "a")
        except UserError as error:
            return one_line(error, "unfit")
        _same(build(), recreated(checkpoint.load(path)[0]), "recreated by a command")
        _copied(agent.env)
        if rng.random() < 0.5:
            return _given(path, build, other)
        try:
            loaded = Agent.load(path)
        except UserError as error:
            return one_line(error, "refused")
        _same(build(), loaded.env, "recreated by Agent.load")
        return "alone" if loaded.env is None else "same"


def _given(path: Path, build: Build, other: Build) -> str:
    """Load an agent into an environment that may be another one."""
    env = other()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UclsWarning)
        try:
            Agent.load(path, env)
        except UserError as error:
            return one_line(error, "refused")
    if any("it continues in" in str(each.message) for each in told):
        return "told"
    _same(build(), other(), "given")
    return "same"


def _copied(env: Any) -> None:
    try:
        again = copy_of(env)
    except UserError as error:
        one_line(error, "refused")
        return
    for each in normalizers_of(env):  # those of a copy do not learn
        each.update_running_mean = False
    _same(env, again, "copied")


def _same(one: Any, other: Any, how: str) -> None:
    """Fail unless two environments show and pay the same for the same seed and actions."""
    if other is not None and not _equal(_episode(one), _episode(other)):
        raise AssertionError(f"a silent difference: {one} and {other}, {how}")


def _episode(env: Any) -> list[Any]:
    actions, happened = random.Random(5), [env.reset(seed=7)[0]]
    for _ in range(STEPS):
        *step, _ = env.step(actions.randrange(int(env.action_space.n)))
        happened.append(step)
        if step[2] or step[3]:
            happened.append(env.reset()[0])
    return happened


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return _equal(list(one.items()), list(other.items()))
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    return np.array_equal(one, other)


def one_line(error: UserError, end: str) -> str:
    """How a trial ended that was refused; in more than one line is a fault."""
    if "\n" in str(error):
        raise AssertionError(f"more than one line: {error}") from None
    return end
