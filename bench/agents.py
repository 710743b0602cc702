"""Agents in Gymnasium: several slow environments at once compared with one, and steps with and without action masks."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from bench.harness import Effort, Job, interleave, lasted, ratio, spread, took
from bench.runs import every_core
from bench.tables import Table, within
from ucls import Agent

DELAY = 0.01  # seconds of a step of the slow environment
PROCESSES = (2, 4, 8)


class Slow(gymnasium.Env):
    """A walk on a line whose steps take 10 ms of waiting, like a simulator or a device."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0.5
        return np.array([self.x], np.float32), {}

    def step(self, action):
        time.sleep(DELAY)
        self.x = min(max(self.x + 0.1 * (2 * action - 1) + 0.02 * self.np_random.standard_normal(), 0.0), 1.0)
        return np.array([self.x], np.float32), float(self.x == 1.0), self.x == 1.0, False, {}


class Row(gymnasium.Env):
    """Ten cells in a row and four actions, of which two are invalid; masks are optional."""

    observation_space, action_space = gymnasium.spaces.Discrete(10), gymnasium.spaces.Discrete(4)

    def __init__(self, masked: bool):
        self._info = {"action_mask": np.array([1, 0, 1, 0], np.int8)} if masked else {}

    def reset(self, *, seed=None, options=None):
        self.s = 0
        return self.s, self._info

    def step(self, action):
        self.s = max(0, self.s - 1) if action == 0 else self.s + 1
        return self.s, float(self.s == 9), self.s == 9, False, self._info


def measure(effort: Effort) -> dict[str, Any]:
    """Measure vectors on all cores, then masks and the agent's overhead on one."""
    with every_core():
        vectors = speed_of_vectors(effort.of(5, 2), effort.of(60, 10))
    return {"vectors": vectors, "masks": speed_of_masks(effort.of(10.0, 1.0))}


def speed_of_vectors(turns: int, rounds: int) -> dict[str, Any]:
    """Return the transitions per second of one environment and of several, interleaved, and the ratios."""
    envs = {n: gymnasium.vector.AsyncVectorEnv([Slow] * n) for n in PROCESSES}
    agents = {1: Agent(Slow(), "sarsa", seed=0), **{n: Agent(env, "sarsa", seed=0) for n, env in envs.items()}}
    for n, agent in agents.items():
        agent.learn(2 * n)  # compiles and starts
    rates = {n: np.zeros(turns) for n in agents}
    for turn in range(turns):
        for n, agent in agents.items():
            rates[n][turn] = n * rounds / lasted(agent.learn, n * rounds)
    for env in envs.values():
        env.close()
    over = {str(n): ratio(rates[n], rates[1]) for n in PROCESSES}
    return {"rates": {str(n): spread(values) for n, values in rates.items()}, "over one": over}


def speed_of_masks(seconds: float) -> dict[str, Any]:
    """Return microseconds per step with masks, without, and of the environment alone, interleaved."""
    jobs = {name: Job(Agent(Row(name == "masks"), "sarsa", seed=0).learn) for name in ("masks", "none")}
    us = interleave({**jobs, "environment": Job(_bare(Row(masked=False)))}, seconds)
    over = {"masks over none": ratio(us["masks"], us["none"]), "none over step": _over_step(us["none"])}
    return {"us": {name: spread(values) for name, values in us.items()}, **over}


def _bare(env: gymnasium.Env) -> Callable[[int], object]:
    """A loop of the environment alone."""
    env.reset()

    def go(steps: int) -> None:
        for _ in range(steps):
            if env.step(2)[2]:
                env.reset()

    return go


def _over_step(us: np.ndarray) -> Any:
    """Express a step of the agent in calls of an empty Python function, to compare processors."""
    calls = 20_000
    empty = partial(_loop, calls)
    one = np.array([1e6 * took(empty) / calls for _ in us])
    return ratio(us, one)


def _loop(calls: int) -> None:
    for _ in range(calls):
        _nothing()


def _nothing() -> None:
    """Do nothing."""


def tables(found: dict[str, Any]) -> list[Table]:
    """Return the speed-up of vectors, and the cost of masks."""
    vectors, masks = found["vectors"], found["masks"]
    rows = [[n, within(rate), within(vectors["over one"].get(n))] for n, rate in vectors["rates"].items()]
    note = "Sarsa; a step of the environment takes 10 ms, in which the processor is free. In turns, on all cores."
    head = ["environments, a process for each", "transitions per second", "relative to one"]
    us = [[name, within(masks["us"][key])] for name, key in (("with masks", "masks"), ("without", "none"))]
    us += [["the environment alone", within(masks["us"]["environment"])]]
    us += [["with masks, relative to without", within(masks["masks over none"])]]
    us += [["without, in empty function calls", within(masks["none over step"])]]
    return [
        Table("Several environments at once", head, rows, note),
        Table("Action masks", ["`Agent.learn` with Sarsa", "µs per step"], us, "Medians with quartiles, one core."),
    ]
