"""DQN and PPO from Stable-Baselines3 with default settings, in the same environments for the same number of steps.

They get the same observations, except that Blackjack's tuple is flattened. Episodes without a time limit are truncated
during evaluation, as for the built-in algorithms.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from bench.known.tasks import ABREAST, TASKS, WINDOW, Task, baselines_of, limited, reached, task_of
from bench.machine import package_revision
from ucls.gym.registry import make_env
from ucls.study.declaration.declare import Study

BASELINES = {"DQN": stable_baselines3.DQN, "PPO": stable_baselines3.PPO}


def measure(study: Study, store: Path, only: Sequence[str], seeds: int) -> None:
    """Run the first seeds that the file lacks, for as many steps as the study has in each environment."""
    torch.set_num_threads(1)
    cells = [member.cell for member in study.members]
    steps = {task_of(cell.env, dict(cell.settings)).title: cell.steps for cell in cells}
    path = baselines_of(store)
    there = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(found["task"], found["label"], found["seed"]) for found in there}
    for task in TASKS:
        if only and not any(word in task.title for word in only):
            continue
        for name in BASELINES:
            for seed in range(seeds):
                if (task.title, name, seed) not in known:
                    found = {"task": task.title, "label": name, "seed": seed, "commit": package_revision()}
                    found |= _run(task, name, steps[task.title], seed)
                    with path.open("a") as file:
                        file.write(json.dumps(found) + "\n")
                    print(found, flush=True)


def _run(task: Task, name: str, steps: int, seed: int) -> dict[str, Any]:
    env = Monitor(_made(task))
    model: Any = BASELINES[name]("MlpPolicy", env, seed=seed, device="cpu")
    began = time.process_time()
    model.learn(steps)
    cpu = time.process_time() - began
    returns, lengths = np.array(env.get_episode_rewards()), np.array(env.get_episode_lengths())
    place = DummyVecEnv([lambda: Monitor(limited(_made(task)))] * ABREAST)
    place.seed(0)
    greedy, _ = evaluate_policy(model, place, task.episodes, deterministic=True)
    return {
        "steps": int(model.num_timesteps),
        "cpu": round(cpu, 3),
        "last": float(returns[-WINDOW:].mean()) if len(returns) else None,
        "reached": reached(lengths, returns, task.threshold),
        "greedy": float(greedy),
        "episodes": task.episodes,
    }


def _made(task: Task) -> gymnasium.Env[Any, Any]:
    env = make_env(task.env, task.kwargs)
    tuple_shown = isinstance(env.observation_space, gymnasium.spaces.Tuple)
    return gymnasium.wrappers.FlattenObservation(env) if tuple_shown else env
