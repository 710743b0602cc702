"""Make runs and write them to a file, one line each; runs in the file are not repeated."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

from bench.deep.places import Place, made
from bench.deep.priors import BootstrappedDQN
from bench.deep.recipes import RECIPES, Recipe, recipe_of
from bench.known import found
from bench.known.found import Found
from bench.known.tasks import ABREAST, WINDOW, limited, reached
from bench.machine import package_revision
from ucls import Agent, evaluate_policy

BOOTSTRAPPED = "Bootstrapped DQN"
AGENTS = (*RECIPES, BOOTSTRAPPED)


class Told(NamedTuple):
    """The measurements of a run: the step at which every episode ended, its return, steps, CPU seconds, greedy
    return."""

    ends: Sequence[int]
    returns: Sequence[float]
    steps: int
    cpu: float
    greedy: float


def measure(agents: Sequence[str], places: Sequence[Place], seeds: Sequence[int], own_steps: bool, path: Path) -> None:
    """Make the missing runs; with `own_steps` for as many steps as the settings were tuned for."""
    torch.set_num_threads(1)
    there = found.of_csv(path) if path.exists() else []
    for seed in seeds:
        for place in places:
            for agent in agents:
                steps = recipe_of(agent, place.nearest).steps if own_steps else place.steps
                title = title_of(place, steps)
                if (title, agent, seed) in {(run.task, run.agent, run.seed) for run in there}:
                    continue
                there = [*there, _named(title, place, agent, seed, _run(agent, place, steps, seed))]
                path.parent.mkdir(parents=True, exist_ok=True)
                found.as_csv(path, sorted(there, key=lambda run: (run.task, run.agent, run.seed)))
                print(there[-1], flush=True)


def title_of(place: Place, steps: int) -> str:
    """Return the title of a task, with the number of steps if it is not the usual one."""
    return place.task.title if steps == place.steps else f"{place.task.title}, {steps:,} steps"


def _named(title: str, place: Place, agent: str, seed: int, told: Told) -> Found:
    lengths = np.diff(told.ends, prepend=0)
    after = reached(lengths, told.returns, place.task.threshold)
    last = float(np.mean(told.returns[-WINDOW:])) if len(told.returns) else None
    about = (round(told.cpu, 3), not math.isfinite(told.greedy), package_revision())
    return Found(title, agent, seed, told.steps, last, told.greedy, place.task.episodes, after, *about)


def _run(agent: str, place: Place, steps: int, seed: int) -> Told:
    if agent in RECIPES:
        return by_recipe(agent, recipe_of(agent, place.nearest), place, steps, seed)
    return of_priors(place, steps, seed) if agent == BOOTSTRAPPED else of_package(agent, place, steps, seed)


class Watch(BaseCallback):
    """Records when episodes end, in the order of all parallel environments, and their returns."""

    def __init__(self) -> None:
        super().__init__()
        self.ends, self.returns = [], []

    def _on_step(self) -> bool:
        for info in self.locals["infos"]:
            if "episode" in info:
                self.ends.append(self.num_timesteps)
                self.returns.append(float(info["episode"]["r"]))
        return True


def by_recipe(agent: str, recipe: Recipe, place: Place, steps: int, seed: int) -> Told:
    """Make a run of an agent of Stable-Baselines3 or sb3-contrib."""
    env: VecEnv = DummyVecEnv([lambda: Monitor(made(place.task))] * recipe.envs)
    if recipe.normalize:
        boxes = isinstance(env.observation_space, gymnasium.spaces.Box)
        env = VecNormalize(env, norm_obs=boxes, gamma=recipe.settings["gamma"])
    settings = {**recipe.settings, **{name: _falling(recipe.settings[name]) for name in recipe.falling}}
    model = _class(agent)("MlpPolicy", env, seed=seed, device="cpu", **settings)
    watch, began = Watch(), time.process_time()
    model.learn(steps, callback=watch)
    cpu = time.process_time() - began

    def scaled(seen: np.ndarray) -> np.ndarray:
        return env.normalize_obs(seen) if isinstance(env, VecNormalize) and env.norm_obs else seen

    greedy = _greedy(place, lambda seen: model.predict(scaled(seen), deterministic=True)[0])
    return Told(watch.ends, watch.returns, int(model.num_timesteps), cpu, greedy)


def _class(agent: str) -> Any:
    if agent == "QR-DQN":
        from sb3_contrib import QRDQN

        return QRDQN
    return {"DQN": DQN, "PPO": PPO}[agent]


def _falling(start: float) -> Callable[[float], float]:
    return lambda left: left * start


def _greedy(place: Place, act: Callable[[np.ndarray], np.ndarray]) -> float:
    """The mean return of a policy in separate episodes, several at a time."""
    envs = DummyVecEnv([lambda: limited(made(place.task))] * min(ABREAST, place.task.episodes))
    envs.seed(0)
    seen, total, done = envs.reset(), np.zeros(envs.num_envs), []
    quota = np.full(envs.num_envs, -(-place.task.episodes // envs.num_envs))  # so that short ones do not count for more
    while quota.any():
        seen, rewards, over, _ = envs.step(act(seen))  # pyright: ignore[reportArgumentType]
        total += rewards
        for i in np.flatnonzero(over):
            if quota[i]:
                done.append(float(total[i]))
                quota[i] -= 1
            total[i] = 0.0
    return float(np.mean(done))


def of_priors(place: Place, steps: int, seed: int) -> Told:
    """Make a run of Bootstrapped DQN with randomized priors."""
    env = gymnasium.wrappers.RecordEpisodeStatistics(made(place.task), buffer_length=steps)
    agent, began = BootstrappedDQN(env, seed), time.process_time()
    agent.learn(steps)
    cpu = time.process_time() - began
    returns, total, env = list(env.return_queue), 0.0, limited(made(place.task))
    for episode in range(place.task.episodes):
        seen, over = env.reset(seed=episode)[0], False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(agent.predict(seen)[0])
            total, over = total + float(reward), terminated or truncated
    return Told(_ends(agent), returns, steps, cpu, total / place.task.episodes)


def _ends(agent: BootstrappedDQN) -> list[int]:
    return [int(end) for end in np.cumsum(list(agent.env.length_queue))]


def of_package(name: str, place: Place, steps: int, seed: int) -> Told:
    """Make a run of one of this package's algorithms with its default setting."""
    agent, began = Agent(made(place.task), name, seed=seed), time.process_time()
    agent.learn(steps)
    cpu = time.process_time() - began
    envs = gymnasium.vector.SyncVectorEnv([lambda: limited(made(place.task))] * min(ABREAST, place.task.episodes))
    greedy, _ = evaluate_policy(agent, envs, place.task.episodes)
    history = agent.history
    return Told(np.cumsum(history.episode_steps).tolist(), history.episode_returns.tolist(), steps, cpu, greedy)


def chosen(titles: Sequence[str], places: dict[str, Place]) -> Iterator[Place]:
    """Return the tasks with one of these words in their title, or all."""
    return (place for title, place in places.items() if not titles or any(word in title for word in titles))
