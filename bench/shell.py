"""The overhead of `Agent.learn` in CartPole: its cost beyond the environment itself and the compiled step."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from bench.harness import Effort, Job, interleave, spread
from bench.tables import Table, within
from ucls import Agent
from ucls.kernels.compilation.jit import jit

ENV, AGENTS, RECORDED = "CartPole-v1", ("sarsa", "ucls-exact"), 4096


def measure(effort: Effort) -> dict[str, Any]:
    """Time the agent, a bare loop of its environment, and its steps along recorded transitions, interleaved."""
    return {agent: case(agent, effort.of(10.0, 0.7), effort.of(5000, 200)) for agent in AGENTS}


def case(name: str, seconds: float, before: int) -> dict[str, Any]:
    """Time one algorithm after it has learned for a while."""
    agent = Agent(gymnasium.make(ENV), name, seed=0)
    agent.learn(before)
    jobs = {"agent": Job(agent.learn), "environment": Job(_bare()), "step": Job(_compiled(agent.learner))}
    us = interleave(jobs, seconds)
    more = us["agent"] - us["environment"] - us["step"]
    return {**{part: spread(values) for part, values in us.items()}, "more": spread(more)}


def _bare() -> Callable[[int], object]:
    """A loop of the environment alone, balanced by a rule of thumb so that episodes last."""
    env = gymnasium.make(ENV)
    s, _ = env.reset(seed=0)

    def go(steps: int) -> None:
        nonlocal s
        for _ in range(steps):
            s, _, terminated, truncated, _ = env.step(_rule(s))
            if terminated or truncated:
                s, _ = env.reset()

    return go


def _rule(s: np.ndarray) -> int:
    return int(s[2] + 0.5 * s[3] > 0)


def _compiled(learner: Any) -> Callable[[int], object]:
    """Run the learner's step in a compiled loop, along recorded transitions."""
    begin, advance = learner.kernels.begin, learner.kernels.advance

    @jit
    def along(hyper, coder, state, pending, rng, states, ended, steps):
        begin(hyper, coder, state, pending, rng, states[0])
        for t in range(1, steps + 1):
            i = t % len(states)
            if ended[i - 1]:
                begin(hyper, coder, state, pending, rng, states[i])
            else:
                advance(hyper, coder, state, pending, rng, 1.0, 0.99, states[i], False)

    states, ended = _recorded()
    parts = learner.hyper, learner.coder, learner.state, learner.pending, learner.rng
    return lambda steps: along(*parts, states, ended, steps)


def _recorded() -> tuple[np.ndarray, np.ndarray]:
    env = gymnasium.make(ENV)
    states, ended = np.zeros((RECORDED, 4)), np.zeros(RECORDED, np.bool_)
    s, _ = env.reset(seed=0)
    for t in range(RECORDED):
        states[t] = s
        s, _, terminated, truncated, _ = env.step(_rule(s))
        if terminated or truncated:
            ended[t] = True
            s, _ = env.reset()
    return states, ended


def tables(found: dict[str, Any]) -> list[Table]:
    """Return the microseconds of each, and the remainder."""
    parts = ("agent", "environment", "step", "more")
    rows = [[agent, *(within(us[part]) for part in parts)] for agent, us in found.items()]
    head = ["algorithm", "`Agent.learn`", "environment alone", "compiled step alone", "remaining overhead"]
    return [
        Table(
            f"Overhead of `Agent.learn` in {ENV}, microseconds per step",
            head,
            rows,
            "Medians with quartiles, one core.",
        )
    ]
