"""Environments that violate the Gymnasium API: one fault per seed, at a random step of training."""

import random
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium
import numpy as np

from ucls import Agent, UserError

STEPS = 40
AGENTS = ("sarsa", "ucls", "rlsvi")
SMALL = {"tilings": 2, "tiles": 3, "table_size": 16}


class Theirs(Exception):
    """What an environment raises by itself."""


class Odd:
    """An object that raises when it is looked at."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Theirs("no array")

    def __repr__(self) -> str:
        raise Theirs("no repr")


ANYTHING: tuple[Any, ...] = (
    *(
        None,
        "",
        "1",
        b"1",
        1j,
        object,
        Odd(),
        {},
        {"a": 1},
        [],
        [[]],
        [1, [2]],
        [None],
        [1.0, "x"],
        (1,),
        {1, 2},
        print,
    ),
    *(np.nan, np.inf, -np.inf, 1e300, -1, 16, 1000, 3.7, 2**63, -(2**63), 10**400, True, np.float32(2), np.bool_(True)),
    *(
        np.zeros(2),
        np.zeros((2, 2)),
        np.zeros(0),
        np.array([np.nan, 0]),
        np.array([1e300, -1e300]),
        np.zeros(2, complex),
    ),
    *(np.array(["a", "b"]), np.array([None, None]), np.array("2020-01-01", "M8[D]"), np.int8(-1), np.array(5), [0, 0]),
)


class Spoilt(gymnasium.Env[Any, Any]):
    """A walk over 16 places, shown as their number or as two coordinates, with one fault at one step."""

    def __init__(self, discrete: bool, fault: str, at: int, value: Any) -> None:
        spaces = gymnasium.spaces
        self.observation_space = spaces.Discrete(16) if discrete else spaces.Box(0.0, 1.0, (2,), np.float64)
        self.action_space = spaces.Discrete(3)
        self.discrete, self.fault, self.at, self.value = discrete, fault, at, value
        self.place = self.count = self.calls = 0

    def _observation(self) -> Any:
        return self.place if self.discrete else np.array([self.place % 4, self.place // 4]) / 3.0

    def _met(self, fault: str) -> bool:
        return self.fault == fault and self.calls == self.at

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin at 0."""
        super().reset(seed=seed)
        self.calls += 1
        self.place = self.count = 0
        if self._met("raises"):
            raise Theirs("reset")
        if self._met("result"):
            return self.value
        observation = self.value if self._met("observation") else self._observation()
        return observation, self.value if self._met("info") else {}

    def step(self, action: Any) -> Any:
        """Walk; every 12 steps an episode ends."""
        self.calls += 1
        self.count += 1
        self.place = (self.place + int(action) + int(self.np_random.integers(2))) % 16
        info = {"discount": self.value} if self._met("discount") else {}
        parts = {
            "observation": self._observation(),
            "reward": float(self.place == 15),
            "terminated": self.place == 15,
            "truncated": self.count >= 12,
            "info": info,
        }
        if self.calls == self.at and self.fault in parts:
            parts[self.fault] = self.value
        if self._met("raises"):
            raise Theirs("step")
        given = tuple(parts.values())
        if self._met("length"):
            return random.Random(self.at).choice((given[:4], given[:1], (), (*given, {}), list(given)))
        return self.value if self._met("result") else given


FAULTS = (
    "observation",
    "observation",
    "reward",
    "terminated",
    "truncated",
    "info",
    "discount",
    "length",
    "result",
    "raises",
)


def prepare(agents: Iterable[str] = AGENTS) -> Callable[[int], str]:
    """Compile everything once, and return `attempt` for some agents."""
    chosen = tuple(agents)
    for agent in chosen:
        for discrete in (False, True):
            _agent(Spoilt(discrete, "", 0, None), agent, 0).learn(15).value_estimates(0 if discrete else [0.0, 0.0])
    return lambda seed: attempt(seed, chosen)


def attempt(seed: int, agents: tuple[str, ...] = AGENTS) -> str:
    """Learn in the environment of a seed: "refused", "theirs" if it raised by itself, or "fine" if nothing was wrong.

    Whatever happened, the agent must then learn on when the environment keeps its word, and answer for any observation.
    """
    rng = random.Random(seed)
    env = Spoilt(rng.random() < 0.5, rng.choice(FAULTS), rng.randrange(1, STEPS), rng.choice(ANYTHING))
    agent = _agent(env, rng.choice(agents), seed)
    with warnings.catch_warnings(action="ignore"):
        end = _end(lambda: agent.learn(STEPS))
        if not agent.diverged:
            agent.learn(15)
            agent.value_estimates(0 if env.discrete else [0.5, 0.5])
            _end(lambda: agent.predict(rng.choice(ANYTHING)))
    return end


def _agent(env: Spoilt, agent: str, seed: int) -> Agent:
    return Agent(env, agent, seed=seed, **({} if env.discrete else SMALL))


def _end(use: Callable[[], Any]) -> str:
    try:
        use()
    except UserError as error:
        if "\n" in str(error):
            raise AssertionError(f"more than one line: {error}") from None
        return "refused"
    except Theirs:
        return "theirs"
    return "fine"
