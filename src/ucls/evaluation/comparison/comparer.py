"""The parts of a comparison that all candidates share, and how each candidate is judged."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ucls.errors import UserError
from ucls.evaluation.comparison import verdict
from ucls.evaluation.comparison.basis import Basis, chosen_bases
from ucls.evaluation.comparison.checks import (
    REST,
    Check,
    estimators_check,
    features_check,
    lambda_check,
    remaining,
    returns_check,
    stationarity_check,
)
from ucls.evaluation.comparison.estimators import importance
from ucls.evaluation.comparison.estimators.doubly_robust import FOLDS, doubly_robust
from ucls.evaluation.comparison.estimators.estimate import Estimate
from ucls.evaluation.comparison.estimators.lstd_q import Evaluated, evaluate, evaluate_all
from ucls.evaluation.comparison.estimators.propensity import Propensity, fit_propensity
from ucls.evaluation.comparison.estimators.systems import Design
from ucls.evaluation.comparison.grids import grid_of, shares
from ucls.evaluation.comparison.policies import (
    OnLog,
    logged_policy,
    on_log,
    probabilities_at,
)
from ucls.evaluation.comparison.result import AtState, Candidate, Comparison, Line
from ucls.evaluation.comparison.sensitivity import Sensitivity
from ucls.evaluation.comparison.spans import BOTH, DOUBLY_ROBUST, LSTD_Q, Fitted, Found, allowance, p_value, span
from ucls.evaluation.comparison.support import regions_of, support_of
from ucls.evaluation.logs.episodes import EpisodeLog

ENOUGH = 25  # effective episodes from which doubly robust estimation may be trusted
TABLE = 1.5  # times the standard error of smooth features up to which a table is preferred: it needs fewer assumptions
LOOSE = 5.0  # times the standard error up to which finer features tell anything
WIDER, PLENTY = 2.0, 50  # times the standard error of coarser features, unless there are so many steps per feature
PRECISE = 1.5  # times the standard error of LSTD-Q up to which the interval must hold for it too


class Comparer:
    """The parts of a comparison that all candidates share."""

    def __init__(self, log: EpisodeLog, confidence: float, features: Any = None, at: Sequence[Sequence[float]] = ()):
        if log.n_episodes < 2:
            raise UserError("the log has one episode: intervals need several")
        self.log, self.confidence = log, confidence
        wide = log.states.shape[1]
        if any(len(state) != wide for state in at):
            raise UserError(f"a state has {wide} numbers ({', '.join(log.columns.state)[:100]})")
        self.at = np.array(at, np.float64).reshape(len(at), wide)
        self.bases = chosen_bases(log, features)
        self.regions = regions_of(log)
        self.behavior = logged_policy(log)
        self.returns = importance.monte_carlo(log)
        self.sensitivity = Sensitivity(log, self.behavior)
        self.propensity: Propensity | None = None
        if log.probability is None or len(at):
            self.propensity = fit_propensity(log, [each for each in self.bases[:2] if each is not None])
        fitted = None if self.propensity is None else self.propensity.probability
        self.probability = log.probability if log.probability is not None else fitted
        self.folds = min(FOLDS, log.n_episodes) if remaining(log) <= REST else 1  # for doubly robust estimation
        self._designs: dict[str, Design] = {}
        self._logged: dict[str, Evaluated] = {}
        self._fits: dict[tuple[str, int], Fitted] = {}

    def run(self, named: Mapping[str, Any]) -> Comparison:
        """Compare policies with the logged one."""
        self._fits.clear()
        on = {name: on_log(policy, self.log) for name, policy in named.items()}
        bases = self._determined(list(on.values()))
        raw = [self._raw(name, policy, *bases) for name, policy in on.items()]
        p_values = [p_value(one.differences, one.allowances(self.confidence)[1]) for one in raw]
        levels = verdict.levels(p_values, self.confidence)
        candidates = [
            self._candidate(one, level, p, named[one.name]) for one, (level, p) in zip(raw, levels, strict=True)
        ]
        basis = bases[0][0]
        logged = [self._logged[each.name].value for each in [*bases[0], *bases[1]][:2]]
        extra = allowance(logged[0], logged[-1], self.confidence) if not basis.exact else 0.0
        logged = logged[: len(bases[0])]
        known = self.log.probability is not None
        return Comparison(
            self.log, self.confidence, span(logged, self.confidence, extra), candidates, basis.name,
            basis.size * len(self.log.actions), "logged" if known else "fitted",
            None if known or self.propensity is None else self.propensity.calibration_error,
        )  # fmt: skip

    def _determined(self, policies: Sequence[OnLog]) -> tuple[list[Basis], list[Basis]]:
        """The features that the interval must hold for, and others to compare with.

        A table is used if it is about as precise; otherwise values are smoothed over states, by features that the log
        determines the values with.
        """
        table, main, finer, coarser = self.bases
        shown = [each for each in policies if each.outside.max(initial=0.0) == 0]
        while coarser and self._too_fine(main, coarser[0], shown):
            finer, main, coarser = main, coarser[0], coarser[1:]
        others = coarser[:1]
        if table is not None:
            if self._within(TABLE, table, main, shown):
                return [table], []
            others = [table] if self._within(np.inf, table, main, shown) else others
        if finer is not None and self._within(LOOSE, finer, main, shown):
            return [main, finer], others if table is not None else []
        return [main], others

    def _too_fine(self, main: Basis, coarser: Basis, policies: Sequence[OnLog]) -> bool:
        """Whether the log does not determine the differences with features, or far better with coarser ones."""
        errors = [self._fitted(main, each).difference.error for each in policies]
        if not all(map(np.isfinite, errors)):
            return True
        if main.size * len(self.log.actions) * PLENTY < self.log.n_steps:
            return False
        return any(
            e > WIDER * self._fitted(coarser, each).difference.error for e, each in zip(errors, policies, strict=True)
        )

    def _within(self, times: float, basis: Basis, main: Basis, policies: Sequence[OnLog]) -> bool:
        """Whether features determine all differences, with at most so many times the standard error of others."""
        pairs = [(self._fitted(each, policy).difference.error for each in (basis, main)) for policy in policies]
        return all(error < np.inf and error <= times * other for error, other in pairs)

    def _design(self, basis: Basis) -> Design:
        if basis.name not in self._designs:
            finest = self.bases.finer or self.bases.main
            finer = self._design(finest) if basis.terms and basis is not finest else None
            self._designs[basis.name] = Design(self.log, basis, self.folds, finer)
        return self._designs[basis.name]

    def _rows(self, basis: Basis, p: np.ndarray) -> np.ndarray:
        rows = basis.rows(self.at)
        rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return (p[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)

    def _fitted(self, basis: Basis, policy: OnLog) -> Fitted:
        key = basis.name, id(policy.now)
        if key not in self._fits:
            design = self._design(basis)
            if basis.name in self._logged:
                new = evaluate(design, policy)
            else:
                at = self._rows(basis, self.propensity.at(self.at)) if len(self.at) and self.propensity else None
                both = [self.behavior, policy], [at, None]
                self._logged[basis.name], new = evaluate_all(design, *both)
            self._fits[key] = Fitted(design, self._logged[basis.name], new)
        return self._fits[key]

    def _raw(self, name: str, policy: OnLog, needed: Sequence[Basis], others: Sequence[Basis]) -> Found:
        log = self.log
        fits = [self._fitted(basis, policy) for basis in needed]
        robust = weighted = per_decision = weights = None
        if self.probability is not None:
            weight = importance.weights(log, importance.ratios(log, policy, self.probability))
            weights = importance.concentration(log, weight)
            if self.folds > 1 and policy.outside.max(initial=0.0) == 0:
                ours = [importance.weighted(log, weight), importance.per_decision(log, weight)]
                weighted, per_decision = ((each, each.minus(self.returns)) for each in ours)
                new = doubly_robust(fits[0].design, policy, weight)
                robust = new, new.minus(self._robust_of_logged(fits[0].design))
        others_fitted = [self._fitted(basis, policy) for basis in others]
        by_lambda = self.sensitivity.of(needed[0], policy)
        checks = [
            *self._checks(fits, others_fitted, robust, weights), lambda_check(by_lambda.differences, self.confidence)
        ]  # fmt: skip
        return Found(name, policy, fits, others_fitted, robust, weighted, per_decision, weights, by_lambda, checks,
                    self._trusted(fits, robust, weights, checks))  # fmt: skip

    def _robust_of_logged(self, design: Design) -> Estimate:
        """Doubly robust estimation of the logged policy, which is its mean return if all episodes terminated."""
        if not self.log.truncated.any():
            return self.returns
        return doubly_robust(design, self.behavior, np.ones(self.log.n_steps))

    def _checks(
        self,
        fits: list[Fitted],
        others: list[Fitted],
        robust: tuple[Estimate, Estimate] | None,
        weights: importance.Weights | None,
    ) -> list[Check]:
        main, log = fits[0], self.log
        found: list[Check | None] = [returns_check(log, main.logged.value, self.returns)]
        for other in [*fits[1:], *(each for each in others if each.design.basis.exact)]:
            names = (main.design.basis.name, other.design.basis.name)
            found.append(features_check(main.difference, other.difference, self.confidence, names))
        found.append(stationarity_check(log, main.new.residuals, main.new.value.influence))
        if robust is not None and weights is not None and weights.effective_sample_size >= ENOUGH:
            found.append(estimators_check(main.difference, robust[1]))
        return [each for each in found if each is not None]

    def _trusted(
        self,
        fits: list[Fitted],
        robust: tuple[Estimate, Estimate] | None,
        weights: importance.Weights | None,
        checks: Sequence[Check],
    ) -> str:
        """LSTD-Q; with logged probabilities and enough effective episodes both, if doubly robust estimation is about as
        precise, or that alone if tests say that LSTD-Q is wrong."""
        if self.log.probability is None or robust is None or weights is None:
            return LSTD_Q
        if weights.effective_sample_size < ENOUGH:
            return LSTD_Q
        if any(check.failed and check.name in verdict.EXCUSED for check in checks):
            return DOUBLY_ROBUST
        precise = robust[1].error <= PRECISE * max(fit.difference.error for fit in fits)
        return BOTH if precise else LSTD_Q

    def _candidate(self, raw: Found, level: float, p_value: float, policy: Any) -> Candidate:
        log = self.log
        of_value, of_difference = raw.allowances(self.confidence)
        difference = span(raw.differences, level, of_difference)
        support = support_of(log, raw.policy, self.regions)
        found = verdict.judge(
            log, difference, raw.differences, level, support, raw.checks, raw.trusted == DOUBLY_ROBUST, of_difference,
            raw.confirmed,
        )  # fmt: skip
        lines = [self._line(LSTD_Q, raw.fits[0].new.value, raw.fits[0].difference)]
        for name, pair in ((DOUBLY_ROBUST, raw.robust), ("weighted importance sampling", raw.weighted),
                           ("per-decision importance sampling", raw.per_decision)):  # fmt: skip
            if pair is not None:
                lines.append(self._line(name, *pair))
        features = [
            self._line(f"{fit.design.basis.name}: {fit.design.basis.size * len(log.actions)} features",
                       fit.new.value, fit.difference) for fit in [*raw.fits, *raw.others]
        ]  # fmt: skip
        lambdas = [self._line(*each) for each in raw.by_lambda.lines(log)]
        weights = raw.weights
        return Candidate(
            raw.name, span(raw.values, self.confidence, of_value), difference, p_value, level, found.verdict,
            found.because, found.more_episodes, raw.trusted, lines, features, lambdas, raw.checks,
            support,
            None if weights is None else weights.effective_sample_size,
            None if weights is None else weights.largest, grid_of(log, raw.policy), shares(log, raw.policy),
            self._at(raw, policy),
        )  # fmt: skip

    def _line(self, name: str, value: Estimate, difference: Estimate) -> Line:
        return Line(name, span([value], self.confidence), span([difference], self.confidence))

    def _at(self, raw: Found, policy: Any) -> list[AtState]:
        if not len(self.at):
            return []
        design, logged = raw.fits[0].design, raw.fits[0].logged
        rows = self._rows(design.basis, probabilities_at(policy, self.log, self.at))
        new = evaluate(design, raw.policy, rows).at
        return [
            AtState(state.tolist(), span([old], self.confidence), span([one], self.confidence),
                    span([one.minus(old)], self.confidence))
            for state, one, old in zip(self.at, new, logged.at, strict=True)
        ]  # fmt: skip
