"""The domains of the ablation, and the score of a run; larger is better."""

from collections.abc import Callable
from typing import Any, NamedTuple

import ucls
from bench.lakes import exact_return, policy_of
from ucls.core.run import make_run
from ucls.stats.episodes import solved_after

ALGORITHM = "ucls-plan"
EPISODES, UNSOLVED = 600, 500  # of Deep Sea: how many are run, and what counts where it is not solved


class Domain(NamedTuple):
    """The score of a run with some settings and a seed, whether features are one-hot, and how many runs there are."""

    score: Callable[[dict[str, Any], int], float]
    one_hot: bool
    runs: int = 30


def _deep_sea(settings: dict[str, Any], seed: int) -> float:
    """Return minus the episodes until Deep Sea 20 is solved; `UNSOLVED` if it is not."""
    settings = {"size": 20, "mapping_seed": seed, **settings}
    history = make_run("ucls/DeepSea-v0", ALGORITHM, seed=seed, settings=settings).advance(20 * EPISODES)
    solved = solved_after(history.episode_returns > 0.5)
    return -float(UNSOLVED if solved is None else solved)


def _one_state(settings: dict[str, Any], seed: int) -> float:
    """Whether the last tenth of 20,000 steps has the better action."""
    run = make_run("ucls/OneState-v0", ALGORITHM, seed=seed, settings=settings)
    return float(run.advance(20_000).rewards[-2000:].mean() > 1.5)


def _total(env: str, goals: bool) -> Callable[[dict[str, Any], int], float]:
    """The total reward of 50,000 steps, or the number of episodes."""

    def score(settings: dict[str, Any], seed: int) -> float:
        history = make_run(env, ALGORITHM, seed=seed, settings=settings).advance(50_000)
        return float(len(history.episode_returns) if goals else history.rewards.sum())

    return score


def _lake(env: str) -> Callable[[dict[str, Any], int], float]:
    """The expected return of the greedy policy after 20,000 steps, by the table of the environment."""

    def score(settings: dict[str, Any], seed: int) -> float:
        agent = ucls.Agent(env, ALGORITHM, seed=seed, **settings).learn(20_000)
        assert agent.env is not None
        return exact_return(agent.env, policy_of(agent))

    return score


DOMAINS = {
    "Deep Sea 20": Domain(_deep_sea, one_hot=True),
    "One-State": Domain(_one_state, one_hot=True),
    "FrozenLake 4x4": Domain(_lake("FrozenLake-v1"), one_hot=True),
    "FrozenLake 8x8": Domain(_lake("FrozenLake8x8-v1"), one_hot=True),
    "River Swim": Domain(_total("ucls/RiverSwim-v0", goals=False), one_hot=False),
    "Puddle World": Domain(_total("ucls/PuddleWorld-v0", goals=True), one_hot=False),
    "Sparse Mountain Car": Domain(_total("ucls/SparseMountainCar-v0", goals=True), one_hot=False),
}
