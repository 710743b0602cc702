"""The linear systems of LSTD-Q: features of a log in parts, and the sums S and b that all estimators share.

S is the sum of x_t x_t' minus that of gamma x_t x_bar(s'_t)'. Features are products of state features and actions, so
both consist of blocks, and little of them has to be summed twice:

- the first part is the same for all policies;
- the blocks of the second part that belong to one logged action add up to the sum of gamma x_t x(s'_t)', whatever the
  policy does next, so that one of them is what the others leave of it;
- the sums of coarser features are rows and columns of those of finer ones that contain them.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.evaluation.comparison.basis import Basis
from ucls.evaluation.comparison.policies import OnLog
from ucls.evaluation.logs.episodes import EpisodeLog

CHUNK, LEAST = 1 << 22, 512  # entries of a matrix of features, and its rows at least
MANY = 0.9  # of rows
KEPT = 3e7  # entries up to which features are computed once, and up to which sums are kept


class Sums(NamedTuple):
    """S and b over the episodes of every fold, and the rows that count."""

    S: np.ndarray
    b: np.ndarray
    usable: np.ndarray


class Part(NamedTuple):
    """Some rows of a log, by fold, action, and what follows; the features of their states and, below them, of next
    states that are no state of these rows; and which of all these is the next state of each (any where there is none).
    """

    rows: np.ndarray
    features: Any
    follower: np.ndarray

    def times(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The features of the states and those of the next states, times a matrix."""
        products = self.features @ weights
        return products[: len(self.rows)], products[self.follower]

    def in_order(self) -> tuple[slice, Any, Any]:
        """The rows in the order of the log, and the features of their states and of the next states."""
        back = np.argsort(self.rows)
        begin = int(self.rows[back[0]])
        return slice(begin, begin + len(back)), self.features[back], self.features[self.follower[back]]


class Design:
    """The features of a log, in parts of some rows.

    Episode i is in fold i mod `folds`. With the design of `finer` features that contain these, sums come from there.
    """

    def __init__(self, log: EpisodeLog, basis: Basis, folds: int = 1, finer: "Design | None" = None):
        self.log, self.basis, self.folds = log, basis, folds
        self.fold = log.episode % folds
        self.kind = self._kinds()
        self._finer, self._columns = finer, None if finer is None else basis.columns_in(finer.basis)
        probe = basis.rows(log.states[:1])
        self.dense = isinstance(probe, np.ndarray)
        step = max(LEAST, CHUNK // max(1, basis.size if self.dense else min(basis.size, 4 * probe.nnz)))
        cuts = np.searchsorted(log.first, np.arange(step, log.n_steps, step))
        edges = np.unique(np.concatenate([[0], log.first[cuts], [log.n_steps]]))
        self._edges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        self._kept = list(self._made()) if basis.size * log.n_steps <= KEPT else None
        self._sums: dict[int, tuple[OnLog, Sums]] = {}
        self._first: _Summing | None = None

    def parts(self) -> Iterator[Part]:
        """All rows, in parts that begin with an episode."""
        yield from self._made() if self._kept is None else self._kept

    def _made(self) -> Iterator[Part]:
        log = self.log
        for begin, end in self._edges:
            rows = np.argsort(self.kind[begin:end], kind="stable") + begin
            place = np.empty(len(rows) + 1, np.int64)
            place[rows - begin], place[-1] = np.arange(len(rows)), 0
            follower = place[rows - begin + 1]
            alone = np.flatnonzero(log.has_next[rows] & ~log.follows[rows])
            follower[alone] = len(rows) + np.arange(len(alone))
            yield Part(rows, self.basis.rows(np.vstack([log.states[rows], log.next_states[rows[alone]]])), follower)

    def prepare(self, policies: Sequence[OnLog]) -> None:
        """Sum for several policies while the features are at hand."""
        missing = [each for each in policies if id(each) not in self._sums]
        room = max(1, int(KEPT / (self.folds * (len(self.log.actions) * self.basis.size) ** 2)))
        for begin in range(0, len(missing), room):
            some = missing[begin : begin + room]
            while self._sums and len(self._sums) + len(some) > room:
                del self._sums[next(iter(self._sums))]
            found = self._summed(some) if self._columns is None else self._picked(some)
            self._sums |= {
                id(each): (each, sums) for each, sums in zip(some, found, strict=True)
            }  # or ids could return

    def sums(self, policy: OnLog) -> Sums:
        """S and b of a policy."""
        self.prepare([policy])
        return self._sums[id(policy)][1]

    def _picked(self, policies: Sequence[OnLog]) -> list[Sums]:
        """The rows and columns of finer features."""
        assert self._finer is not None
        assert self._columns is not None
        self._finer.prepare(policies)
        size = self._finer.basis.size
        place = (np.arange(len(self.log.actions))[:, None] * size + self._columns).ravel()
        found = [self._finer.sums(policy) for policy in policies]
        return [Sums(S[:, place[:, None], place], b[:, place], usable) for S, b, usable in found]

    def _summed(self, policies: Sequence[OnLog]) -> list[Sums]:
        every: list[_Summing] = []
        for policy in policies:
            every.append(_Summing(self, policy, self._first))
            if self._first is None and every[0].whole:
                self._first = every[0]
        for part in self.parts():
            x_next = part.features[part.follower]
            for each in every:
                each.add(part, x_next)
        return [each.finished() for each in every]

    def _kinds(self) -> np.ndarray:
        """A number for every row that orders rows by fold, action, and what follows: the row of some next action, a
        termination, a state that no row has, or nothing."""
        log, n_actions = self.log, len(self.log.actions)
        later = np.where(log.terminated, n_actions, np.where(log.has_next, n_actions + 1, n_actions + 2))
        later[:-1] = np.where(log.follows[:-1] & ~log.terminated[:-1], log.action[1:], later[:-1])
        return (self.fold * n_actions + log.action) * (n_actions + 3) + later

    def groups(self, rows: np.ndarray, usable: np.ndarray) -> Iterator[tuple[int, int, slice]]:
        """The folds and actions of ordered rows, and the places of their usable rows, which come first."""
        n_actions = len(self.log.actions)
        kinds, begins, counts = np.unique(self.kind[rows] // (n_actions + 3), return_index=True, return_counts=True)
        for kind, begin, count in zip(kinds.tolist(), begins.tolist(), counts.tolist(), strict=True):
            end = begin + int(usable[rows[begin : begin + count]].sum())
            if end > begin:
                yield kind // n_actions, kind % n_actions, slice(begin, end)


class _Summing:
    """The sums of one policy; what it shares with the `first` one of the design is not summed again."""

    def __init__(self, design: Design, policy: OnLog, first: "_Summing | None"):
        log, n_actions, size, folds = design.log, len(design.log.actions), design.basis.size, design.folds
        self.design, self.usable = design, policy.known & (log.has_next | log.terminated)
        self.first = first if first is not None and np.array_equal(first.usable, self.usable) else None
        self.weights = log.discount[:, None] * policy.after
        self.whole = design.dense and policy.outside.max(initial=0.0) == 0
        often = [(self.weights[self.usable & (log.action == a)] != 0).sum(axis=0) for a in range(n_actions)]
        self.rest = [int(each.argmax()) if self.whole and self.first else -1 for each in often]
        self.crosses = np.zeros((folds, n_actions, size, n_actions, size))
        if self.first is None:
            self.squares, self.rewards = np.zeros((folds, n_actions, size, size)), np.zeros((folds, n_actions, size))

    def add(self, part: Part, x_next: Any) -> None:
        """Add some rows, with the features of their next states."""
        weight, reward = self.weights[part.rows], self.design.log.reward[part.rows]
        for f, a, some in self.design.groups(part.rows, self.usable):
            x = part.features[some]
            if self.first is None:
                self.squares[f, a] += dense(x.T @ x)
                self.rewards[f, a] += x.T @ reward[some]
            for c in range(weight.shape[1]):
                if c != self.rest[a]:
                    self.crosses[f, a, :, c] += _cross(x, x_next[some], weight[some, c])

    def finished(self) -> Sums:
        """The sums, once all rows have been added; afterwards `crosses` has those over all next actions."""
        shared, S = self.first or self, self.crosses
        for a, c in enumerate(self.rest):
            if c >= 0:
                S[:, a, :, c] = shared.crosses[:, a] - S[:, a].sum(axis=2)
        self.crosses = S.sum(axis=3) if shared is self else S[:0]
        self.weights = self.weights[:0]
        S = -S
        folds, n_actions, size = S.shape[:3]
        for a in range(n_actions):
            S[:, a, :, a] += shared.squares[:, a]
        return Sums(S.reshape(folds, n_actions * size, -1), shared.rewards.reshape(folds, -1), self.usable)


def _cross(x: Any, x_next: Any, weight: np.ndarray) -> Any:
    """The sum of x_t w_t x(s'_t)'; rows without weight, if they are many, are not multiplied."""
    some: Any = np.flatnonzero(weight)
    if not len(some):
        return 0.0
    if len(some) < MANY * len(weight):
        if some[-1] - some[0] + 1 == len(some):
            some = slice(some[0], some[-1] + 1)
        x, x_next, weight = x[some], x_next[some], weight[some]
    if (weight == weight[0]).all():
        return dense(x.T @ x_next) * weight[0]
    return dense(x.T @ scaled(x_next, weight))


def dense(rows: Any) -> np.ndarray:
    """A matrix as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def scaled(rows: Any, weights: np.ndarray) -> Any:
    """A matrix whose rows are multiplied by weights."""
    return rows * weights[:, None] if isinstance(rows, np.ndarray) else rows.multiply(weights[:, None]).tocsr()
