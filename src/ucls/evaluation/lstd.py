"""LSTD(lambda) of a fixed policy, with confidence intervals: Theorem 1 of the paper for people with data.

Features x come in three forms: integers are the indices of active features, each of value 1; a pair (indices, values)
gives the values too; floats are a dense vector of all features. A batch has a row for each transition.
"""

from math import inf, isfinite
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.evaluation import off_policy, passes
from ucls.evaluation.buffer import ROOM, Buffer
from ucls.evaluation.estimators import RANK_TOLERANCE, Estimator, Fit, Spread, make_estimator
from ucls.evaluation.log import BREAKS, SEEN, TRANSITIONS, append, empty_log, with_room
from ucls.evaluation.room import refuse_features
from ucls.evaluation.rows import dense_rows, numbers, sparse_rows
from ucls.kernels.linear_algebra.traces import live_trace

SEEN_TOLERANCE = 1e-6  # of |x|: more than that outside the rows of A, and x'w is not known
TOO_LARGE = "the numbers are too large or too small to compute with: scale rewards and features"
CHUNK = 1 << 20  # entries of a dense batch that are made sparse at a time


class Interval(NamedTuple):
    """A value and its interval; numbers for one x, arrays for many. Infinite where the data say nothing."""

    value: Any
    low: Any
    high: Any


class Report(NamedTuple):
    """How well the data determine w. `condition` is that of A within its rank; `breaks` are transitions whose x is
    not the x_next before although no start was declared (harmless if x_next is an expectation over actions).

    `effective_sample_size` is (sum w)^2 / sum w^2 of the weights that importance ratios give to the traces, and
    `growth` is gamma^2 lambda^2 E[rho^2], which must be below 1 (`evaluation.off_policy`).
    """

    transitions: int
    features: int
    rank: int
    condition: float
    smallest_singular_value: float
    breaks: int
    effective_sample_size: float
    growth: float


def factor_of(p: float, kind: str) -> float:
    """How many standard deviations: Theorem 1's sqrt((1 + p) / p), or the normal quantile.

    >>> round(factor_of(0.1, "chebyshev"), 3), round(factor_of(0.1, "normal"), 3)
    (3.317, 1.645)
    """
    if not 0 < p < 1:
        raise UserError(f"p must be between 0 and 1, not {p}")
    if kind == "chebyshev":
        return float(np.sqrt((1 + p) / p))
    if kind == "normal":
        return NormalDist().inv_cdf(1 - p / 2)
    raise UserError(f"unknown factor {kind!r}: chebyshev or normal")


class LSTD:
    """Least-squares TD(lambda) of the policy that made the data, from a stream or in batches.

    Every transition is kept (12 bytes an active feature and 48 more), because intervals need TD errors under the final
    w. Nothing is solved until something is asked; then A is decomposed, in time O(d^3), and kept until more data come.
    Without `lambda_` it is 0.9, or with importance ratios the largest multiple of 0.1 that leaves the trace a variance.
    `eta` is added to the diagonal of the mean A; at 0 a singular A has its pseudoinverse, as in Theorem 1.

    >>> lstd = LSTD(size=2, lambda_=0.0)
    >>> for reward in (1.0, 2.0, 1.0, 2.0):
    ...     lstd.observe([0], reward, 0.0)
    >>> lstd.value([0])
    1.5
    >>> low, high = lstd.interval([0], confidence=0.9, factor="normal")[1:]
    >>> round(low, 3), round(high, 3)
    (0.952, 2.048)
    >>> lstd.interval([1]).high  # never seen
    inf
    """

    def __init__(self, size: int, lambda_: float | None = None, eta: float = 0.0):
        if size < 1:
            raise UserError(f"size must be at least 1, not {size}")
        refuse_features(size)
        if lambda_ is not None and not 0 <= lambda_ <= 1:
            raise UserError(f"lambda must be in [0, 1], not {lambda_}")
        if not eta >= 0:
            raise UserError(f"eta must be at least 0, not {eta}")
        self.size, self._given, self.eta = size, None if lambda_ is None else float(lambda_), float(eta)
        self._log = empty_log()
        self._waiting, self._starts = Buffer(0, size), True
        self._begin_sums()
        self._fit: Fit | None = None
        self._spreads: dict[Any, Spread] = {}

    def _begin_sums(self) -> None:
        self._At, self._b = np.zeros((self.size, self.size)), np.zeros((1, self.size))
        self._trace, self._added, self._used = live_trace(self.size, np.float64), 0, self._given

    @property
    def lambda_(self) -> float:
        """The decay of the trace: as given, or as chosen from the ratios seen so far."""
        if self._given is not None:
            return self._given
        self._flush()
        return off_policy.choose_lambda(self._log, len(self))

    def __len__(self) -> int:
        """The number of transitions seen."""
        return int(self._log.used[TRANSITIONS]) + self._waiting.count

    def start(self) -> None:
        """Begin an episode: the next transition does not follow the last. Needless after a discount of 0."""
        self._starts = True

    def observe(self, x: Any, reward: float, discount: float, x_next: Any = None, rho: float = 1.0) -> None:
        """Take in one transition; discount 0 ends the episode, and x_next is then not looked at.

        `rho` is the importance ratio pi(a|s) / mu(a|s) of its action if another policy mu acted.
        """
        last: Any = x if x_next is None and discount == 0 else x_next
        waiting = self._waiting
        if waiting.active != np.size(x) and isinstance(x, np.ndarray) and x.dtype.kind in "iu":
            self._flush()
            waiting = self._waiting = Buffer(x.size, self.size)
        if _usable(reward, discount, rho) and waiting.takes(x) and waiting.takes(last):
            waiting.take(x, reward, discount, last, rho, self._starts)
            self._starts = False
            self._changed()
            if waiting.count == ROOM:
                self._flush()
        else:
            self.observe_batch(_one(x), [reward], [discount], _one(last), [rho])

    def observe_batch(
        self, x: Any, reward: Any, discount: Any, x_next: Any, rho: Any = 1.0, start: Any = False
    ) -> None:
        """Take in transitions in the order in which they happened; `start` marks those that begin an episode."""
        self._flush()
        start = np.asarray(start, bool)
        if start.shape not in ((), np.shape(reward)):
            raise UserError(f"start has the shape {start.shape}: it needs a mark for each of {np.size(reward)} rewards")
        start = np.array(np.broadcast_to(start, np.shape(reward)))
        if start.size and self._starts:
            start.flat[0] = True
        self._take(x, reward, discount, x_next, rho, start)
        self._starts = self._starts and not start.size

    def _flush(self) -> None:
        """Log what waits."""
        if self._waiting.count:
            self._take(*self._waiting.empty())

    def _changed(self) -> None:
        self._fit = None
        if self._spreads:
            self._spreads.clear()

    def _take(self, x: Any, reward: Any, discount: Any, x_next: Any, rho: Any, start: np.ndarray) -> None:
        reward = numbers(reward, "reward")
        n = len(reward)
        discount, rho = numbers(discount, "discount", n), numbers(rho, "rho", n)
        if n and not (discount.min() >= 0 and discount.max() <= 1):
            raise UserError(f"discounts must be in [0, 1]: found {discount.min():g} to {discount.max():g}")
        if n and rho.min() < 0:
            raise UserError(f"rho must be at least 0: found {rho.min():g}")
        here, after = sparse_rows(x, self.size, n, "x"), sparse_rows(x_next, self.size, n, "x_next", discount == 0)
        width = here.index.shape[-1] + after.index.shape[-1]
        for i in range(0, n, step := max(1, CHUNK // width)):
            part = slice(i, i + step)
            rows, rows_next = dense_rows(here, part), dense_rows(after, part)
            self._log = with_room(self._log, len(reward[part]), rows.index.size + rows_next.index.size)
            append(self._log, rows, reward[part], discount[part], rows_next, rho[part], start[part])
        self._changed()

    @property
    def w(self) -> np.ndarray:
        """The weights, 0 for features never seen."""
        return np.concatenate([(w := self.fit().w), np.zeros(self.size - len(w))])

    def value(self, x: Any) -> Any:
        """The estimated value x'w."""
        return _shaped(self._dense(x) @ self.w, x)

    def interval(
        self, x: Any, confidence: float = 0.9, estimator: str | Estimator = "leave_one_out", factor: str = "chebyshev"
    ) -> Interval:
        """Return the value x'w and a confidence interval for x'w*.

        The interval covers x'w* with probability at least `confidence` if the estimated covariance is correct. It is
        infinite if the data do not determine the value, or if a single transition does: every fit matches that
        transition exactly, which leaves its error unknown.
        """
        if not 0 < confidence < 1:
            raise UserError(f"confidence must be between 0 and 1, not {confidence}")
        X, fit = self._dense(x), self.fit()
        values = X @ self.w
        radius = factor_of(1 - confidence, factor) * self.standard_error(X, estimator)
        if estimator != "leave_one_out":
            radius = np.where(np.isfinite(self.standard_error(X)), radius, np.inf)
        if self.eta > 0:  # the plug-in of the remainder ((A + eta I)^-1 A - I) w* = -eta (A + eta I)^-1 w*
            radius = radius + np.abs(X[:, : fit.size] @ (self.eta * (fit.inverse @ fit.w)))
        return Interval(_shaped(values, x), _shaped(values - radius, x), _shaped(values + radius, x))

    def standard_error(self, x: Any, estimator: str | Estimator = "leave_one_out") -> Any:
        """The estimated standard deviation of x'w; infinite where the data do not determine x'w or its variance.

        Refused if importance ratios leave the trace no variance.
        """
        X, fit = self._dense(x), self.fit()
        off_policy.refuse_growth(fit.log, fit.n, fit.lambda_)
        spread = self.spread(estimator)
        block = X[:, : fit.size]
        error = np.sqrt(np.maximum(0.0, np.einsum("ni,ij,nj->n", block, spread.covariance, block, optimize=True)))
        error[~self.seen(X)] = np.inf
        if spread.pinned is not None:
            part = np.abs(block @ fit.inverse @ spread.pinned.T).max(axis=1)
            error[part > SEEN_TOLERANCE * np.abs(block @ fit.inverse).max(axis=1)] = np.inf
        return _shaped(error, x)

    def seen(self, x: Any) -> Any:
        """Whether the data determine x'w: x lies in the directions that A has seen."""
        X, fit = self._dense(x), self.fit()
        outside = np.linalg.norm(X[:, fit.size :], axis=1) + np.linalg.norm(X[:, : fit.size] @ fit.null, axis=1)
        return _shaped(outside <= SEEN_TOLERANCE * np.linalg.norm(X, axis=1), x)

    def spread(self, estimator: str | Estimator = "leave_one_out") -> Spread:
        """The estimated covariance of the weights seen so far."""
        chosen = make_estimator(estimator)
        key = (type(chosen).__name__, chosen)
        if key not in self._spreads:
            self._spreads[key] = chosen.spread(self.fit())
        return self._spreads[key]

    def report(self) -> Report:
        """How well the data determine w."""
        fit = self.fit()
        smallest = float(fit.singular[fit.rank - 1]) if fit.rank else 0.0
        condition = float(fit.singular[0]) / smallest if fit.rank else np.inf
        weighted = off_policy.effective_sample_size(fit.log, fit.n, fit.lambda_)
        growth = fit.lambda_**2 * off_policy.mean_square(fit.log, fit.n)
        breaks = int(self._log.used[BREAKS])
        return Report(len(self), fit.size, fit.rank, condition, smallest, breaks, weighted, growth)

    def fit(self) -> Fit:
        """Solve A w = b with all transitions seen so far."""
        if self._fit is None:
            self._flush()
            n, d = len(self), int(self._log.used[SEEN])
            if n == 0:
                raise UserError("no transitions yet: observe some first")
            lambda_ = self.lambda_
            if lambda_ != self._used:  # chosen anew: the sums of another lambda are of no use
                self._begin_sums()
                self._used = lambda_
            passes.add_systems(self._log, self._added, n, lambda_, self._trace, d, self._At, self._b)
            self._added = n
            self._fit = _solve(self._At[:d, :d].T / n, self._b[0, :d] / n, self)
        return self._fit

    def _dense(self, x: Any) -> np.ndarray:
        if isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim == 2 and x.shape[1] == self.size:
            return x
        rows = _one(x) if _is_one(x) else x
        sparse = sparse_rows(rows, self.size, None, "x")
        found = np.zeros((len(sparse.value), self.size))
        np.add.at(found, (np.arange(len(found))[:, None], sparse.index), sparse.value)
        return found


def _solve(A: np.ndarray, b: np.ndarray, lstd: LSTD) -> Fit:
    """The (pseudo)inverse of A + eta I, and the rank of A itself."""
    if not (np.isfinite(A).all() and np.isfinite(b).all()):  # on which LAPACK may never end
        raise UserError(TOO_LARGE)
    try:
        left, singular, right = np.linalg.svd(A)
    except np.linalg.LinAlgError:
        raise UserError(TOO_LARGE) from None
    rank = int((singular > RANK_TOLERANCE * singular.max(initial=0.0)).sum())
    if lstd.eta > 0:
        inverse = np.linalg.inv(A + lstd.eta * np.eye(len(A)))
    else:
        inverse = right[:rank].T / singular[:rank] @ left[:, :rank].T
    null = np.ascontiguousarray(right[rank:].T)
    return Fit(lstd._log, len(lstd), lstd.lambda_, lstd.eta, inverse @ b, inverse, null, singular, rank)


def _usable(reward: Any, discount: Any, rho: Any) -> bool:
    try:
        return isfinite(reward) and 0 <= discount <= 1 and 0 <= rho < inf
    except TypeError:
        return False


def _is_one(x: Any) -> bool:
    return np.ndim(x[0] if isinstance(x, tuple) else x) == 1


def _one(x: Any) -> Any:
    """One x as a batch of one."""
    return tuple(np.atleast_2d(part) for part in x) if isinstance(x, tuple) else np.atleast_2d(x)


def _shaped(values: np.ndarray, x: Any) -> Any:
    """A number for one x, an array for many."""
    return values[0].item() if _is_one(x) else values
