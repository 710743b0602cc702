"""Estimators of the covariance of LSTD's weights, E[A+ nu nu' A+'] of Theorem 1, by name.

w - w* = A^-1 nu, where nu is the average of u_t = z_t delta_t over n transitions and delta_t the TD error of w*. So the
covariance is about A^-1 S A^-T / n, where S is the long-run covariance of u_t. They differ in what they take S to be.

With exact features delta_t has mean 0 given the past, which z_t is part of: then the u_t are uncorrelated for every
lambda, and S = E[delta^2 z z'], which `sandwich` averages. With features that cannot hold the values, u_t are
correlated, with either sign; `robust` and `block_bootstrap` allow for it. The TD errors are those of the final w, in a
pass over the log.

Costs are for n transitions with k active features, m live traces (up to d) and d features, after the fit in d^3.
"""

from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError, unknown
from ucls.evaluation import passes
from ucls.evaluation.log import Log
from ucls.kernels.linear_algebra.traces import live_trace

RANK_TOLERANCE = 1e-12  # of the largest singular value of A: below is rounding
FULL_LEVERAGE = 1e-8  # a transition is fitted by itself alone if 1 - h is below this
BLOCKS = 64
LARGEST = 1e100  # a weight beyond has diverged, and its square may be no number


class Fit(NamedTuple):
    """LSTD's solution: `inverse` is the (pseudo)inverse of the mean A + eta I; `null` spans what A has not seen."""

    log: Log
    n: int
    lambda_: float
    eta: float
    w: np.ndarray
    inverse: np.ndarray
    null: np.ndarray
    singular: np.ndarray
    rank: int

    @property
    def size(self) -> int:
        """The number of features in the leading block."""
        return len(self.w)

    def trace(self) -> Any:
        """A trace of zeros."""
        return live_trace(self.size, np.float64)

    def delta(self) -> np.ndarray:
        """The TD errors under w."""
        delta = np.empty(self.n)
        passes.residuals(self.log, self.w, delta)
        return delta

    def squares(self, q: np.ndarray) -> np.ndarray:
        """The mean of q z z'."""
        H = np.zeros((self.size, self.size))
        passes.add_squares(self.log, self.lambda_, self.trace(), q * self.log.rho[: self.n] ** 2, H)
        return (H + H.T) / self.n

    def around(self, S: np.ndarray) -> np.ndarray:
        """A^-1 S A^-T / n."""
        return self.inverse @ S @ self.inverse.T / self.n


class Spread(NamedTuple):
    """A covariance of w; along a row of `pinned`, z of a transition that alone decides its part of w, it is unknown."""

    covariance: np.ndarray
    pinned: np.ndarray | None = None


class NoEstimate(UserError):
    """An estimator came to none from this log, with these settings."""


class Sandwich(NamedTuple):
    """Plug-in: A^-1 S A^-T / n with S the mean of delta^2 z z'.

    Consistent with exact features, for any lambda and any noise. Too narrow with few transitions: a state seen once is
    fitted exactly and gets no width. Time O(n k m + d^3), memory O(n + d^2).
    """

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        return Spread(fit.around(fit.squares(fit.delta() ** 2)))


class LeaveOneOut(NamedTuple):
    """The sandwich with every TD error taken under the w that the other transitions give: delta / (1 - h).

    Wider than the sandwich with few transitions and equal to it with many; what a single transition decides has unknown
    width. With exact features it is the one to use. Time O(n k m + d^3), memory O(n + d^2).
    """

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        h = np.empty(fit.n)
        passes.leverages(fit.log, fit.lambda_, fit.trace(), fit.inverse / fit.n, h)
        alone = np.abs(1 - h) < FULL_LEVERAGE
        delta = np.where(alone, 0.0, fit.delta() / np.where(alone, 1.0, 1 - h))
        return Spread(fit.around(fit.squares(delta**2)), self._pinned(fit, np.flatnonzero(alone)))

    def _pinned(self, fit: Fit, times: np.ndarray) -> np.ndarray | None:
        if not len(times):
            return None
        Z = np.zeros((len(times), fit.size))
        passes.pick_traces(fit.log, fit.lambda_, fit.trace(), times, Z)
        return Z


class Robust(NamedTuple):
    """Batch means: S from the sums of z delta over `batches` stretches of the log, sqrt(n) of them unless told.

    It counts the correlations of z delta within a stretch, so that features need not be exact. Batch means rather than
    Newey and West's sum over lags, because a batch costs one outer product where the lags cost one for each transition
    and lag. Noisier than the sandwich: its width varies by about 1/sqrt(2 batches). Time O(n m + batches d^2 + d^3),
    memory O(n + batches d + d^2).
    """

    batches: int | None = None

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        batches = _batches(fit, self.batches or int(np.sqrt(fit.n)))
        U = np.zeros((batches, fit.size))
        u = fit.delta() * fit.log.rho[: fit.n]
        passes.add_batches(fit.log, fit.lambda_, fit.trace(), u, passes.edges(fit.n, batches), U)
        return Spread(fit.around(U.T @ U / fit.n * batches / (batches - 1)))


class GlobalPrinted(NamedTuple):
    """Corollary 1 as printed: sigma^2 A^-1 z_bar z_bar' A^-T. It is not the variance, and does not fall with n.

    For independent noise E[nu nu'] is sigma^2 times the sum of z z' over n^2, not sigma^2 z_bar z_bar'.
    Time O(n m + d^3), memory O(n + d^2).
    """

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        total = np.zeros((1, fit.size))
        passes.add_traces(fit.log, fit.lambda_, fit.trace(), fit.n, total)
        a = fit.inverse @ total[0] / fit.n
        return Spread(np.var(fit.delta()) * np.outer(a, a))


class GlobalCorrected(NamedTuple):
    """Corollary 1 as its assumption implies: (sigma^2 / n) A^-1 mean(z z') A^-T.

    Right if the TD errors have one variance in all states, which transitions at random seldom give them.
    Time O(n k m + d^3), memory O(n + d^2).
    """

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        return Spread(fit.around(np.var(fit.delta()) * fit.squares(np.ones(fit.n))))


class Running(NamedTuple):
    """The paper's running average, as UCLS keeps it: C after its kernel has learned from the log with this beta.

    An average of single squares a a', a = B'nu, of averages over some 2 / beta transitions, and started from c_max:
    it neither has the scale of a w from n transitions nor settles. Time O(n d^2), memory O(d^2).
    """

    beta: float = 0.001

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        from ucls.evaluation.replay import running_covariance

        if (fit.log.rho[: fit.n] != 1).any():
            raise UserError("the estimator 'running' is on-policy: leave rho out, or use another estimator")
        return Spread(running_covariance(fit.log, fit.n, fit.size, fit.lambda_, self.beta))


class LinearTD(NamedTuple):
    """The appendix's bound for linear TD: w_var w_var', where w_var follows the TD errors of a w learned by TD.

    w_var is to solve A w_var = nu as TD solves A w = b, one sample at a time. It is one draw of an error and not its
    variance, has no width across its one direction, and does not fall with n: the step sizes, parts of an error as in
    UCLS-L, are constant. Time O(n m), memory O(d).
    """

    alpha: float = 0.01
    alpha_var: float = 0.1

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        from ucls.evaluation.replay import linear_spread

        if (fit.log.rho[: fit.n] != 1).any():
            raise UserError("the estimator 'linear_td' is on-policy: leave rho out, or use another estimator")
        w_var = linear_spread(fit.log, fit.n, fit.size, fit.lambda_, self.alpha, self.alpha_var)
        if not (np.abs(w_var) < LARGEST).all():
            raise NoEstimate("the estimator 'linear_td' diverged: give smaller steps, LinearTD(alpha=, alpha_var=)")
        return Spread(np.outer(w_var, w_var))


class BlockBootstrap(NamedTuple):
    """The covariance of w when `blocks` stretches of the log get random weights, exponential with mean 1.

    Exponential weights (the Bayesian bootstrap) rather than stretches drawn with replacement, for then A keeps its
    rank. Allows for correlations within a stretch. Blocks: sqrt(n) and at most 64 unless told.
    Time O(n k m + resamples (blocks d^2 + d^3)), memory O(n + (blocks + resamples) d^2).
    """

    resamples: int = 200
    blocks: int | None = None
    seed: int = 0

    def spread(self, fit: Fit) -> Spread:
        """Estimate the covariance of w."""
        blocks = _batches(fit, self.blocks or min(BLOCKS, int(np.sqrt(fit.n))))
        d, trace, ends = fit.size, fit.trace(), passes.edges(fit.n, blocks)
        At, b = np.zeros((blocks, d, d)), np.zeros((blocks, d))
        for k in range(blocks):
            passes.add_systems(fit.log, ends[k], ends[k + 1], fit.lambda_, trace, d, At[k], b[k : k + 1])
        weights = np.random.default_rng(self.seed).exponential(size=(self.resamples, blocks)) / fit.n
        A = np.swapaxes((weights @ At.reshape(blocks, -1)).reshape(-1, d, d), 1, 2)
        A = A + fit.eta * np.eye(d)
        rest = (weights @ b - A @ fit.w)[..., None]
        regular = fit.rank == d or fit.eta > 0
        moved = (np.linalg.solve(A, rest) if regular else np.linalg.pinv(A, rcond=RANK_TOLERANCE) @ rest)[..., 0]
        return Spread(moved.T @ moved / self.resamples)


Estimator = Sandwich | LeaveOneOut | Robust | GlobalPrinted | GlobalCorrected | Running | LinearTD | BlockBootstrap

ESTIMATORS: dict[str, Any] = {
    "leave_one_out": LeaveOneOut,
    "sandwich": Sandwich,
    "robust": Robust,
    "block_bootstrap": BlockBootstrap,
    "running": Running,
    "linear_td": LinearTD,
    "global_corrected": GlobalCorrected,
    "global_printed": GlobalPrinted,
}


def make_estimator(estimator: str | Estimator) -> Estimator:
    """An estimator with its default settings, by name; one that is made already is left as it is.

    >>> make_estimator("robust")
    Robust(batches=None)
    """
    if not isinstance(estimator, str):
        return estimator
    if estimator not in ESTIMATORS:
        raise unknown("estimator", estimator, ESTIMATORS)
    return ESTIMATORS[estimator]()


def _batches(fit: Fit, wanted: int) -> int:
    """At least 2 and at most n."""
    return max(2, min(wanted, fit.n))
