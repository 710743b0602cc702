"""What a comparison found, as data."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.checks import Check
from ucls.evaluation.comparison.grids import Grid
from ucls.evaluation.comparison.support import Support
from ucls.evaluation.logs.episodes import EpisodeLog

BETTER, WORSE, CANNOT_SAY = "better", "worse", "cannot say"


class Span(NamedTuple):
    """An estimate with its confidence interval; not finite where the data do not determine it."""

    estimate: float
    low: float
    high: float

    def as_data(self) -> dict[str, float | None]:
        """For JSON: null where there is no number."""
        return {name: float(x) if np.isfinite(x) else None for name, x in self._asdict().items()}


class Line(NamedTuple):
    """The result of one estimator, or of one set of features: the value of the new policy, and the difference."""

    name: str
    value: Span
    difference: Span


class AtState(NamedTuple):
    """Values at a chosen state."""

    state: list[float]
    logged: Span
    new: Span
    difference: Span


@dataclass(frozen=True)
class Candidate:
    """A new policy: its value, its difference from the logged one, the verdict, and what they rest on.

    `estimator` is the one that the answer comes from; `p_value` is corrected for the number of candidates (Holm), and
    `confidence` is the level of the interval of the difference after that correction.
    """

    name: str
    value: Span
    difference: Span
    p_value: float
    confidence: float
    verdict: str
    because: list[str]
    more_episodes: int | None
    estimator: str
    estimators: list[Line]
    features: list[Line]
    lambdas: list[Line]
    checks: list[Check]
    support: Support
    effective_sample_size: float | None
    largest_weight: float | None
    grid: Grid
    shares: list[tuple[str, float, float]]
    at: list[AtState] = field(default_factory=list)

    @property
    def agreement(self) -> list[Line]:
        """All results: of every estimator, and of LSTD-Q with other features and with other lambda."""
        others = [*((line.name.rpartition(": ")[2], line) for line in self.features[1:]),
                  *((line.name, line) for line in self.lambdas)]  # fmt: skip
        return [*self.estimators, *(line._replace(name=f"LSTD-Q, {name}") for name, line in others)]

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        if not np.isfinite(self.difference.low):
            return f"Cannot say whether {self.name} is better than the logged policy: {self.because[0]}."
        d = self.difference
        interval = f"{d.estimate:+.4g} ({100 * self.confidence:.3g}% interval {d.low:+.4g} to {d.high:+.4g})"
        if self.verdict == CANNOT_SAY:
            return f"Cannot say whether {self.name} is better than the logged policy, because {self.because[0]}; " \
                   f"the estimated difference is {interval}."  # fmt: skip
        return f"{self.name} is {self.verdict} than the logged policy by {interval}."

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "because": self.because,
            "value": self.value.as_data(),
            "difference": self.difference.as_data(),
            "p_value": self.p_value,
            "confidence": self.confidence,
            "more_episodes": self.more_episodes,
            "estimator": self.estimator,
            "estimators": {line.name: _line(line) for line in self.estimators},
            "features": {line.name: _line(line) for line in self.features},
            "lambdas": {line.name: _line(line) for line in self.lambdas},
            "checks": [{"name": c.name, "p_value": c.p_value, "failed": c.failed} for c in self.checks],
            "effective_sample_size": self.effective_sample_size,
            "largest_weight": self.largest_weight,
            "support": {
                "never_shown": self.support.never,
                "rarely_shown": self.support.rare,
                "policy_difference": self.support.difference,
                "actions_never_shown": self.support.actions,
                "worst_regions": [region._asdict() for region in self.support.worst],
            },
            "at": [
                {"state": each.state, "logged": each.logged.as_data(), "new": each.new.as_data(),
                 "difference": each.difference.as_data()} for each in self.at
            ],
        }  # fmt: skip


def _line(line: Line) -> dict[str, Any]:
    return {"value": line.value.as_data(), "difference": line.difference.as_data()}


@dataclass(frozen=True)
class Comparison:
    """The answers to: is a new policy better than the logged one, by how much, and which would be safe?"""

    log: EpisodeLog
    confidence: float
    logged: Span
    candidates: list[Candidate]
    basis: str
    n_features: int
    propensities: str
    calibration_error: float | None

    @property
    def safe(self) -> str:
        """The policy with the largest lower bound of its difference, of those that are better; else the logged one."""
        better = [each for each in self.candidates if each.verdict == BETTER]
        return max(better, key=lambda each: each.difference.low).name if better else "the logged policy"

    def as_data(self) -> dict[str, Any]:
        """For JSON; with a single candidate its difference and verdict are at the top."""
        log = self.log
        about = {
            "episodes": log.n_episodes,
            "steps": log.n_steps,
            "gamma": log.gamma,
            "horizon": 1 / (1 - log.gamma) if log.gamma < 1 else None,
            "actions": log.actions.tolist(),
            "mean_length": float(log.lengths.mean()),
            "truncated": int(log.truncated.sum()),
            "columns": log.columns.as_data(),
        }
        [*several] = [each.as_data() for each in self.candidates]
        top = {name: several[0][name] for name in ("verdict", "because", "difference")} if len(several) == 1 else {}
        return {
            **top,
            "safe": self.safe,
            "logged": self.logged.as_data(),
            "policies": several,
            "confidence": self.confidence,
            "features": {"name": self.basis, "number": self.n_features},
            "propensities": self.propensities,
            "calibration_error": self.calibration_error,
            "log": about,
        }
