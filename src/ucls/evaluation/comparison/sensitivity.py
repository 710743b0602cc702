"""How much the answer depends on lambda; on some of the episodes, if the log is large."""

from typing import NamedTuple

import numpy as np

from ucls.evaluation.comparison.basis import Basis
from ucls.evaluation.comparison.estimators.estimate import Estimate
from ucls.evaluation.comparison.estimators.traces import LAMBDAS, by_lambda, sample, some_of
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog


class ByLambda(NamedTuple):
    """Estimates with every one of `LAMBDAS`, from so many episodes: the value of a policy, and its difference."""

    episodes: int
    values: list[Estimate]
    differences: list[Estimate]

    def lines(self, log: EpisodeLog) -> list[tuple[str, Estimate, Estimate]]:
        """Named estimates; without lambda 0 if that is the estimate of the whole log."""
        whole = self.episodes == log.n_episodes
        some = "" if whole else f", {self.episodes:,} episodes"
        lines = zip(LAMBDAS, self.values, self.differences, strict=True)
        return [(f"lambda {x:g}{some}", value, gap) for x, value, gap in lines if x or not whole]


class Sensitivity:
    """Estimates by lambda of the candidates of a comparison."""

    def __init__(self, log: EpisodeLog, behavior: OnLog):
        self.log, self.behavior = log, behavior
        self._logged: dict[str, tuple[EpisodeLog, np.ndarray, list[Estimate]]] = {}

    def of(self, basis: Basis, policy: OnLog) -> ByLambda:
        """Estimates of a policy with some features."""
        if basis.name not in self._logged:
            episodes = sample(self.log, basis.size * len(self.log.actions))
            log = self.log.some(episodes)
            logged = by_lambda(log, basis, some_of(self.behavior, self.log, episodes))
            self._logged[basis.name] = log, episodes, logged
        log, episodes, logged = self._logged[basis.name]
        values = by_lambda(log, basis, some_of(policy, self.log, episodes))
        return ByLambda(len(episodes), values, [new.minus(old) for new, old in zip(values, logged, strict=True)])
