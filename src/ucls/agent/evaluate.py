"""Evaluation of an agent: the returns of episodes that it does not learn from.

>>> import ucls
>>> agent = ucls.Agent("FrozenLake-v1", seed=1).learn(200)
>>> mean, std = ucls.evaluate_policy(agent, n_eval_episodes=5)
"""

import warnings
from typing import Any

import numpy as np

from ucls._util.randomness import evaluation_seeds, generator
from ucls.agent import inference, rollouts
from ucls.agent.agent import Agent
from ucls.core.config import whole
from ucls.core.learner import refuse_diverged
from ucls.errors import UclsWarning, UserError
from ucls.features import is_discrete, is_precomputed
from ucls.gym import observations, spaces
from ucls.gym.action_masks import MaskReader
from ucls.gym.copies import copy_of, shares
from ucls.gym.registry import as_env
from ucls.gym.vector import is_vector
from ucls.stats import Estimate, bootstrap_mean, summarize
from ucls.stats.summary import interval_in_words


class Evaluation(tuple[float, float]):
    """The mean and the standard deviation of episode returns, as a pair.

    `returns` and `lengths` have one entry per episode; `n_truncated` episodes reached `max_steps`.
    """

    returns: np.ndarray
    lengths: np.ndarray
    n_truncated: int

    def __new__(cls, returns: np.ndarray, lengths: np.ndarray, n_truncated: int = 0) -> "Evaluation":
        self = super().__new__(cls, (float(np.mean(returns)), float(np.std(returns))))
        self.returns, self.lengths, self.n_truncated = returns, lengths, n_truncated
        return self

    def __getnewargs__(self) -> tuple[np.ndarray, np.ndarray, int]:
        """For `copy` and `pickle`."""
        return self.returns, self.lengths, self.n_truncated

    @property
    def mean(self) -> float:
        """The mean return."""
        return self[0]

    @property
    def std(self) -> float:
        """The standard deviation of the returns."""
        return self[1]

    def interval(self, confidence: float = 0.95) -> Estimate:
        """The mean return with its confidence interval over episodes; NaN for a single episode."""
        return bootstrap_mean(self.returns, confidence)

    @property
    def metrics(self) -> dict[str, float]:
        """The results under the names that Stable-Baselines3 uses."""
        return {"eval/mean_reward": self.mean, "eval/mean_ep_length": float(np.mean(self.lengths))}

    def __repr__(self) -> str:
        _, low, high, *_ = summarize(self.returns)
        interval = "" if low is None or high is None else f", {interval_in_words(low, high)}"
        return f"Evaluation(mean {self.mean:.6g}, std {self.std:.6g}{interval}, {len(self.returns)} episodes)"


def evaluate_policy(
    agent: Agent,
    env: Any = None,
    n_eval_episodes: int = 10,
    deterministic: bool = True,
    *,
    seed: int = 0,
    max_steps: int | None = None,
    return_episode_rewards: bool = False,
) -> Any:
    """Let an agent act for some episodes, without learning, and return an `Evaluation`.

    Parameters
    ----------
    agent: it is not changed, including its current episode and its random generator.
    env: an environment, its name, or a vector of environments, which play the same number of episodes each. By
        default, or if it is the agent's own, a copy of the agent's environment.
    deterministic: take the action with the highest mean; False lets the agent explore as in training.
    seed: of the environment and of the agent's random choices: the same seed gives the same episodes.
    max_steps: the length at which an episode is truncated; by default the environment's time limit, or 10,000.
    return_episode_rewards: return the lists of returns and of lengths instead, as Stable-Baselines3 does.
    """
    if not isinstance(agent, Agent):
        raise UserError(f"{type(agent).__name__} cannot be evaluated: give a ucls.Agent")
    refuse_diverged(agent.diverged)
    many = whole("n_eval_episodes", n_eval_episodes, 1)
    limit = None if max_steps is None else whole("max_steps", max_steps, 1)
    seed = whole("seed", seed, 0, 2**128)
    vector, mine = is_vector(env), env is None or shares(env, agent.env)
    if vector and mine:
        raise UserError("one of these is the agent's own environment: give copies of it")
    place: Any = copy_of(agent.env if env is None else env) if mine else env
    place = place if vector else spaces.with_discrete_actions(as_env(place))
    try:
        evaluation = _play(agent, place, many, deterministic, seed, limit)
    finally:
        if mine or isinstance(env, str):
            place.close()
    return (evaluation.returns.tolist(), evaluation.lengths.tolist()) if return_episode_rewards else evaluation


def _play(agent: Agent, env: Any, many: int, deterministic: bool, seed: int, limit: int | None) -> Evaluation:
    vector = is_vector(env)
    actions, space = (getattr(env, f"{'single_' * vector}{kind}_space") for kind in ("action", "observation"))
    agent.check_fit(actions, space)
    seeds = evaluation_seeds(seed)
    kind = agent._stage.observed
    if agent.env is None and not is_precomputed(agent.plan.features):
        kind = observations.observed(spaces.describe(space), agent.plan, is_discrete(agent.learner.features))
    rng = generator(seeds.learner)
    bound = limit or rollouts.longest(env)

    def policy(points: np.ndarray, masks: np.ndarray | None) -> np.ndarray:
        return inference.best_actions(agent.learner, points, deterministic, rng, masks) + int(actions.start)

    play = rollouts.in_many if vector else rollouts.in_one
    masks = MaskReader(env, agent.plan.n_actions, agent._stage.masked)
    played = play(policy, env, kind, seeds.world, many, bound, masks)
    if played.n_truncated:
        text = f"{played.n_truncated} of {len(played.returns)} episodes were truncated after {bound:,} steps"
        advice = "their partial returns are included. Raise max_steps to allow longer episodes"
        warnings.warn(f"{text}; {advice}", UclsWarning, stacklevel=3)
    return Evaluation(*played)
