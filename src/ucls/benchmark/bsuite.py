"""Experiments of bsuite (Osband et al. 2020) and their scores, by its rules; bsuite itself is not needed.

An experiment is some environments, all for the same number of episodes; its score, from 0 to 1, is computed from their
logs. bsuite writes its logs at certain episodes only (1, 1.2, 1.4, ... times powers of ten), and scores see no others.

Here are the experiments without memory, images or changed rewards: bandit, catch, discounting_chain, mountain_car,
cartpole, cartpole_swingup, deep_sea and deep_sea_stochastic. The first three and cartpole are below, with the rules of
bsuite; Deep Sea and Mountain Car are built in, and the swing-up is that of the benchmark. All are episodes of the same
rules, with these differences: observations are states and not pixels, the time within an episode is not shown (but in
discounting_chain), time limits truncate instead of terminating, and Deep Sea's map of actions is another one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls._util.randomness import evaluation_seeds
from ucls.agent.agent import Agent
from ucls.benchmark import places
from ucls.benchmark.places import SwingUp
from ucls.envs import deep_sea
from ucls.envs.gym import BuiltinGymEnv
from ucls.errors import UserError, unknown

RATIOS = (1.0, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
CHUNK = 1000  # steps between two looks at the number of episodes


class Log(NamedTuple):
    """The episodes of one environment: its settings, the returns, and (Deep Sea) which of them were bad."""

    settings: Mapping[str, Any]
    returns: np.ndarray
    bad: np.ndarray


class Experiment(NamedTuple):
    """Environments with the number of episodes in each, and the score of their logs."""

    episodes: int
    settings: tuple[Mapping[str, Any], ...]
    make: Callable[..., Any]
    score: Callable[[Sequence[Log], int], float]


def logged(episodes: int) -> np.ndarray:
    """Return the episodes up to the last number at which bsuite writes its log.

    >>> logged(20).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20]
    """
    powers = range(int(math.log10(max(1, episodes))) + 1)
    found = {round(ratio * 10**power) for power in powers for ratio in RATIOS if (ratio * 10**power).is_integer()}
    return np.array(sorted(episode for episode in found if episode <= episodes))


def _last(logs: Sequence[Log], episodes: int) -> int:
    """The episode whose line of the log counts: the last that any environment has."""
    return int(logged(min(episodes, max(len(log.returns) for log in logs)))[-1])


def mean_return(logs: Sequence[Log], episodes: int) -> float:
    """The mean return of the logged episodes, over the environments that have them all."""
    last = _last(logs, episodes)
    return float(np.mean([log.returns[:last].mean() for log in logs if len(log.returns) >= last]))


def by_regret(best: float, base: float) -> Callable[[Sequence[Log], int], float]:
    """The score by regret: 1 for none, 0 for that of `base` per episode."""

    def score(logs: Sequence[Log], episodes: int) -> float:
        return float(np.clip((base - (best - mean_return(logs, episodes))) / base, 0.0, 1.0))

    return score


def good(logs: Sequence[Log], episodes: int, least: float) -> float:
    """Return the fraction of environments whose best episode had a higher return than this."""
    best = [log.returns[: _last([log], episodes)].max() for log in logs]
    return float(np.mean(np.array(best) > least))


def cartpole_score(logs: Sequence[Log], episodes: int) -> float:
    """Half of the score is for the regret, half for runs with a good episode."""
    return 0.5 * (by_regret(1000.0, 1000.0)(logs, episodes) + good(logs, episodes, 500.0))


def swing_up_score(logs: Sequence[Log], episodes: int) -> float:
    """The same for each height, with the returns of a successful swing-up; then their mean."""
    each = [0.5 * (by_regret(700.0, 700.0)([log], episodes) + good([log], episodes, 100.0)) for log in logs]
    return float(np.mean(each))


def chain_score(logs: Sequence[Log], episodes: int) -> float:
    """1 if the best chain is always chosen, 0 if another one always is."""
    return float(np.clip(1.0 - 10.0 * (1.1 - mean_return(logs, episodes)), 0.0, 1.0))


def solved_at(bad: np.ndarray, fraction: float, after: int) -> int | None:
    """The first logged episode, from `after` on, up to which fewer than this fraction were bad; None if there is none.

    >>> solved_at(np.array([True, True, False, False]), 0.9, 1)
    3
    """
    at = logged(len(bad)) if len(bad) else np.zeros(0, int)
    at = at[at >= after]
    few = np.flatnonzero(np.cumsum(bad)[at - 1] / at < fraction)
    return int(at[few[0]]) if len(few) else None


def sea_score(fraction: float, after: int) -> Callable[[Sequence[Log], int], float]:
    """The fraction of sizes in which the treasure was found often, and sooner than by chance."""

    def score(logs: Sequence[Log], episodes: int) -> float:
        found = [solved_at(log.bad[:episodes], fraction, after) for log in logs]
        pairs = zip(found, logs, strict=True)
        return float(np.mean([at is not None and at < 2 ** log.settings["size"] + 100 for at, log in pairs]))

    return score


class Sea(BuiltinGymEnv):
    """Deep Sea that says which episodes were bad: those with an action to the left on the way to the treasure."""

    def __init__(self, **settings: Any) -> None:
        super().__init__("ucls/DeepSea-v0", **settings)
        self.bad = [False]

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Sink for one step."""
        cell = int(self._s[0])
        row, column = deep_sea.place(cell)
        self.bad[-1] |= bool(row == column and int(action) != deep_sea.right(self.world.env, cell))
        given = super().step(action)
        if given[2]:
            self.bad.append(False)
        return given


def sizes(stochastic: bool) -> tuple[Mapping[str, Any], ...]:
    """The sizes of the seas."""
    return tuple({"size": n, "mapping_seed": 42, "stochastic": stochastic} for n in range(10, 51, 2))


HEIGHTS = tuple({"height_threshold": n / 20, "x_reward_threshold": 1 - n / 20} for n in range(20))
TWENTY = ({},) * 20
MAPS = tuple({"mapping_seed": n} for n in range(20))
EXPERIMENTS = {
    "bandit": Experiment(10_000, MAPS, places.Bandit, by_regret(1.0, 0.5)),
    "catch": Experiment(10_000, TWENTY, places.Catch, by_regret(1.0, 1.6)),
    "discounting_chain": Experiment(1000, MAPS, places.DiscountingChain, chain_score),
    "mountain_car": Experiment(
        1000, TWENTY, lambda: BuiltinGymEnv("ucls/MountainCar-v0", time_limit=1000), by_regret(-100.0, 1000.0)
    ),
    "cartpole": Experiment(1000, TWENTY, places.Balancing, cartpole_score),
    "cartpole_swingup": Experiment(1000, HEIGHTS, SwingUp, swing_up_score),
    "deep_sea": Experiment(10_000, sizes(False), Sea, sea_score(0.9, 1)),
    "deep_sea_stochastic": Experiment(10_000, sizes(True), Sea, sea_score(0.8, 100)),
}
FRACTIONS = {"deep_sea": (0.9, 1), "deep_sea_stochastic": (0.8, 100)}


def run(
    algorithm: str, name: str, settings: Mapping[str, Any] = {}, episodes: int | None = None, seed: int = 0
) -> tuple[float, list[Log]]:
    """Run an algorithm in an experiment and score it; with fewer episodes, the score is that of a partial run."""
    experiment = experiment_of(name)
    count = min(episodes or experiment.episodes, experiment.episodes)
    logs = [log_of(algorithm, name, i, settings, count, seed) for i in range(len(experiment.settings))]
    return experiment.score(logs, count), logs


def experiment_of(name: str) -> Experiment:
    """An experiment by its name."""
    if name not in EXPERIMENTS:
        raise unknown("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]


def log_of(algorithm: str, name: str, i: int, settings: Mapping[str, Any], episodes: int, seed: int = 0) -> Log:
    """The log of an algorithm in one environment of an experiment; a solved Deep Sea needs no more episodes."""
    experiment = experiment_of(name)
    chosen = experiment.settings[i]
    env = experiment.make(**chosen)
    agent = Agent(env, algorithm, seed=evaluation_seeds(100 * seed + i).learner % 2**32, settings=dict(settings))
    done, bad = 0, np.zeros(0, bool)
    while done < episodes and not agent.diverged:
        done += int((agent.advance(CHUNK).ends > 0).sum())
        bad = np.array(getattr(env, "bad", [])[:done], bool)
        if name in FRACTIONS and solved_at(bad, *FRACTIONS[name]) is not None:
            break
    returns = agent.history.episode_returns[:episodes]
    if not len(returns):
        raise UserError(f"{algorithm} finished no episode of {name} before its values diverged")
    return Log(chosen, returns, bad[: len(returns)])
