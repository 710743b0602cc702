"""Training speed in CartPole compared with Stable-Baselines3, if it is installed."""

import importlib
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import gymnasium
import numpy as np

from bench.harness import Effort, lasted, ratio, spread, took
from bench.tables import Table, within
from ucls import Agent

ENV, THEIRS = "CartPole-v1", ("DQN", "PPO")
OURS = "ucls-exact"


def measure(effort: Effort) -> dict[str, Any]:
    """Steps per second and processor time of interleaved runs on one core with default settings."""
    steps = effort.of(10_000, 500)
    learners: dict[str, Callable[[int], Callable[[int], object]]] = {name: _ours(name) for name in (OURS, "sarsa")}
    skipped = (
        ""
        if find_spec("torch") and find_spec("stable_baselines3")
        else "stable-baselines3 is not installed (`pip install ucls[baselines]`)"
    )
    if not skipped:
        learners |= {name: _theirs(name) for name in THEIRS}
    wall: dict[str, list[float]] = {name: [] for name in learners}
    busy: dict[str, list[float]] = {name: [] for name in learners}
    for seed in range(effort.of(3, 1)):
        for name, make in learners.items():
            learn = make(seed)
            busy[name].append(took(lambda learn=learn, name=name: wall[name].append(lasted(learn, steps))))
    by = {name: np.array(values) for name, values in wall.items()}
    return {
        "steps": steps,
        "skipped": skipped,
        "speed": {name: spread(steps / values) for name, values in by.items()},
        "busy": {name: spread(np.array(values)) for name, values in busy.items()},
        "over": {name: ratio(values, by[OURS]) for name, values in by.items() if name != OURS},
    }


def _ours(name: str) -> Callable[[int], Callable[[int], object]]:
    def make(seed: int) -> Callable[[int], object]:
        agent = Agent(gymnasium.make(ENV), name, seed=seed)
        agent.learn(1)  # finds what was compiled
        return agent.learn

    return make


def _theirs(name: str) -> Callable[[int], Callable[[int], object]]:
    importlib.import_module("torch").set_num_threads(1)
    algorithm: Any = getattr(importlib.import_module("stable_baselines3"), name)

    def make(seed: int) -> Callable[[int], object]:
        return algorithm("MlpPolicy", gymnasium.make(ENV), seed=seed, device="cpu").learn

    return make


def tables(found: dict[str, Any]) -> list[Table]:
    """Steps per second, processor time, and time relative to the default algorithm."""
    rows = [
        [name, within(speed), within(found["busy"][name]), within(found["over"].get(name))]
        for name, speed in found["speed"].items()
    ]
    note = f"{found['steps']:,} steps with default settings on one thread; PPO finishes its last rollout."
    note += f" DQN and PPO were left out: {found['skipped']}." if found["skipped"] else ""
    head = ["algorithm", "steps per second", "processor seconds", f"time relative to {OURS}"]
    return [Table(f"Training in {ENV} compared with Stable-Baselines3", head, rows, note)]
