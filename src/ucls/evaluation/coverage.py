"""How often an interval holds what it should: every estimator on chains whose answers are known.

In each run a chain is walked once, and the evaluator is asked after some numbers of transitions. What counts is whether
x'w* is inside, for the features x of every state: on average over the states as the chain visits them, and in the
worst state. An infinite interval (the data say nothing) covers, and one that an estimator came to no estimate of does
not; how often that happens is counted apart.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.chains import Domain, domains, noise_of, simulate
from ucls.evaluation.estimators import ESTIMATORS, BlockBootstrap, NoEstimate, make_estimator
from ucls.evaluation.lstd import LSTD, factor_of
from ucls.stats import Estimate, proportion

LAMBDAS, SIZES, PS, FACTORS = (0.0, 0.8, 1.0), (200, 1000, 5000), (0.01, 0.1, 0.3), ("chebyshev", "normal")
SETTINGS = (("exact", "iid"), ("exact", "state"), ("poor", "iid"))
RESAMPLES = 100


class Case(NamedTuple):
    """What is evaluated: a chain by name, its features and noise, and lambda."""

    chain: str
    features: str
    noise: str
    lambda_: float


class Row(NamedTuple):
    """What was found for one case, number of transitions, estimator, factor and p.

    `coverage` is the mean over states, `low` to `high` its 95% band from the spread over runs; `worst` is that of the
    state with the least, with a binomial band. `ratio` is the estimated standard error over the true one, root mean
    squares over states and runs; `width` the mean of the interval where it is finite, `unknown` how often it is not.
    `ratio` and `width` are not a number where none is finite.
    """

    chain: str
    features: str
    noise: str
    lambda_: float
    n: int
    estimator: str
    factor: str
    p: float
    runs: int
    coverage: float
    low: float
    high: float
    worst: float
    worst_low: float
    worst_high: float
    ratio: float
    width: float
    unknown: float


class Found(NamedTuple):
    """The errors x'w - x'w* of a case (runs, sizes, states) and the standard errors (..., estimators, states)."""

    weights: np.ndarray
    errors: np.ndarray
    standard: np.ndarray


def cases(quick: bool = False) -> list[Case]:
    """Every chain, with exact features under both kinds of noise and poor ones under one, for some lambdas."""
    lambdas = LAMBDAS[:2] if quick else LAMBDAS
    return [Case(name, *setting, lambda_) for name in domains() for setting in SETTINGS for lambda_ in lambdas]


def features_of(domain: Domain, case: Case) -> np.ndarray:
    """The features of every state."""
    return domain.exact if case.features == "exact" else domain.poor


def observe(lstd: LSTD, X: np.ndarray, walk: tuple[np.ndarray, np.ndarray, np.ndarray], part: slice) -> None:
    """Let an evaluator see a part of a walk."""
    states, rewards, discounts = walk
    here, there = states[:-1][part], states[1:][part]
    if np.array_equal(X, np.eye(len(X))):
        lstd.observe_batch(here[:, None], rewards[part], discounts[part], there[:, None])
    else:
        lstd.observe_batch(X[here], rewards[part], discounts[part], X[there])


def measure(
    case: Case,
    runs: int,
    sizes: tuple[int, ...],
    names: tuple[str, ...] = tuple(ESTIMATORS),
    differences: bool = False,
) -> Found:
    """Walk the chain `runs` times; every run has a seed of its own, the same in all cases of a chain.

    What is asked about is every state, or by how much each is better than each other, all pairs alike.
    """
    domain = domains()[case.chain]
    chain, X = noise_of(domain, case.noise), features_of(domain, case)
    asked, weights = X, chain.stationary()
    if differences:
        asked = np.array([X[i] - X[j] for i in range(len(X)) for j in range(i)])
        weights = np.full(len(asked), 1 / len(asked))
    truth = asked @ chain.fixed_point(X, case.lambda_)
    estimators = [BlockBootstrap(RESAMPLES) if name == "block_bootstrap" else make_estimator(name) for name in names]
    errors = np.empty((runs, len(sizes), len(asked)))
    standard = np.empty((runs, len(sizes), len(names), len(asked)))
    for run in range(runs):
        walk = simulate(chain, sizes[-1], np.random.default_rng([run, list(domains()).index(case.chain)]))
        lstd = LSTD(X.shape[1], case.lambda_)
        for i, (begin, end) in enumerate(zip((0, *sizes), sizes, strict=False)):
            observe(lstd, X, walk, slice(begin, end))
            errors[run, i] = lstd.value(asked) - truth
            for j, estimator in enumerate(estimators):
                standard[run, i, j] = _standard_error(lstd, asked, estimator)
    return Found(weights, errors, standard)


def _standard_error(lstd: LSTD, X: np.ndarray, estimator: Any) -> Any:
    """The standard error of every row's value; not a number where there is no estimate, so that nothing lies within."""
    try:
        return lstd.standard_error(X, estimator)
    except NoEstimate:
        return np.nan


def rows(
    case: Case, trials: Found, sizes: tuple[int, ...], names: tuple[str, ...] = tuple(ESTIMATORS)
) -> Iterator[Row]:
    """Coverage and width for every number of transitions, estimator, factor and p."""
    for i, n in enumerate(sizes):
        error, true = trials.errors[:, i], np.sqrt((trials.errors[:, i] ** 2).mean(axis=0) @ trials.weights)
        for j, name in enumerate(names):
            standard = trials.standard[:, i, j]
            finite = np.isfinite(standard)
            known = np.where(finite, standard, 0.0)
            mass = finite @ trials.weights
            ratio = np.sqrt((known**2 @ trials.weights).sum() / mass.sum()) / true if mass.any() else np.nan
            for factor in FACTORS:
                for p in PS:
                    times = factor_of(p, factor)
                    inside = np.abs(error) <= times * standard
                    width = 2 * times * (known @ trials.weights).sum() / mass.sum() if mass.any() else np.nan
                    mean, worst = _mean(inside @ trials.weights), _worst(inside)
                    yield Row(
                        *case, n, name, factor, p, len(error), *mean, *worst, ratio, width, max(0.0, 1 - mass.mean())
                    )


def _mean(values: np.ndarray) -> Estimate:
    """A mean over runs with a 95% band, within [0, 1]."""
    error = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    mean = float(values.mean())
    return Estimate(mean, float(max(0.0, mean - error)), float(min(1.0, mean + error)))


def _worst(inside: np.ndarray) -> Estimate:
    """The coverage of the state that is covered least often, with its binomial band."""
    hits = int(inside.sum(axis=0).min())
    found = proportion(hits, len(inside))
    assert found is not None, "there are runs"
    return found


def study(runs: int, quick: bool = False, tick: Callable[[Case], object] = lambda case: None) -> list[Row]:
    """Measure every case; `tick` is called after each."""
    sizes = SIZES[:2] if quick else SIZES
    found: list[Row] = []
    for case in cases(quick):
        found += rows(case, measure(case, runs, sizes), sizes)
        tick(case)
    return found


def as_data(rows: list[Row]) -> list[dict[str, Any]]:
    """The rows as plain data, for JSON and CSV, which have no word for what is not a number."""
    return [
        {key.rstrip("_"): None if value != value else value for key, value in row._asdict().items()} for row in rows
    ]
