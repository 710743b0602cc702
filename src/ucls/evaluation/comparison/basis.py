"""Features of states for evaluating policies from a log: the package's own coders, sized for the data.

A table (one_hot) represents every value exactly, so it is used if the log shows every state often enough. Otherwise the
values are approximated by a Fourier basis that grows with the number of episodes: fine enough that what it cannot
represent stays small beside the noise, which `compare` checks against a finer and a coarser one.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.evaluation.logs.episodes import EpisodeLog
from ucls.features import features_module, fourier, is_discrete
from ucls.features import name_of as features_name
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.settings import resolve

MOST = 1024  # features of all actions: least squares cost their cube
VISITS = 5  # per state and action, on average, that a table needs
ORDER = 30  # the highest frequency along a dimension, in half periods
GRID = np.linspace(0.0, 1.0, 33)  # quantiles that describe the distribution of a component


@dataclass(frozen=True)
class Basis:
    """State features; `rows` turns states into a matrix with one row each, dense or sparse."""

    name: str
    size: int
    exact: bool
    rows: Callable[[np.ndarray], Any] = field(compare=False)
    terms: tuple[tuple[int, ...], ...] = field(default=(), compare=False)  # frequencies of Fourier features, if any

    def columns_in(self, finer: "Basis") -> np.ndarray | None:
        """Which columns of finer features are these; None if some are not among them."""
        place = {term: i for i, term in enumerate(finer.terms)}
        found = [place.get(term, -1) for term in self.terms]
        return np.array(found) if found and min(found) >= 0 else None


def bounds_of(log: EpisodeLog) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and largest state of the log."""
    after = log.next_states[log.has_next & ~log.follows]
    low, high = log.states.min(axis=0), log.states.max(axis=0)
    return (np.minimum(low, after.min(axis=0)), np.maximum(high, after.max(axis=0))) if len(after) else (low, high)


class Bases(NamedTuple):
    """A table, if there can be one; the features to use otherwise; finer ones that must agree; and coarser ones, to use
    if the log does not determine the values, the finest first."""

    table: Basis | None
    main: Basis
    finer: Basis | None
    coarser: list[Basis]


def chosen_bases(log: EpisodeLog, features: Any = None) -> Bases:
    """The features to evaluate with. Given ones must agree with those that would have been chosen."""
    ladder = list(_ladder(log))
    n_actions, most = len(log.actions), budget(log)
    place = max(i for i, each in enumerate(ladder) if i == 0 or each.size * n_actions <= most)
    main = ladder[place]
    if features is not None:
        given = _of_module(log, features)
        return Bases(None, given, None if given.exact else main, [])
    fine = [each for each in ladder[place + 1 :] if 1.3 * main.size <= each.size <= log.n_steps / (5 * n_actions)]
    coarse: list[Basis] = []
    for each in reversed(ladder[:place]):
        if each.size <= 0.7 * (coarse[-1] if coarse else main).size:
            coarse.append(each)
    return Bases(_table(log), main, next(iter(fine), None), coarse)


def budget(log: EpisodeLog) -> float:
    """How many features of all actions the data afford.

    More features cost little precision as long as they are few beside the steps, and too few bias the values: so there
    are as many as leave-one-episode-out errors stay sound with.
    """
    return min(MOST / 4, log.n_steps / 8, 4.0 * log.n_episodes)


def _table(log: EpisodeLog) -> Basis | None:
    """A feature for every distinct state, if states are integers and the log shows every one of them often enough."""
    whole = (log.states == np.round(log.states)).all() and (np.abs(log.states) < 2**40).all()
    if not whole:
        return None
    most = min(MOST // len(log.actions), log.n_steps // (VISITS * len(log.actions)))
    low, high = bounds_of(log)
    spans = [int(b - a) + 1 for a, b in zip(low, high, strict=True)]
    if math.prod(spans) > 2**62:
        return None
    codes = np.unique(_code(log.states, low, spans))
    after = log.next_states[log.has_next & ~log.follows]
    codes = np.union1d(codes, _code(after, low, spans)) if len(after) else codes
    return None if len(codes) > most else Basis("one_hot", len(codes), True, _one_hot(codes, low, spans))


def _code(states: np.ndarray, low: np.ndarray, spans: list[int]) -> np.ndarray:
    code = np.zeros(len(states), np.int64)
    for k, span in enumerate(spans):
        code = code * span + (states[:, k] - low[k]).astype(np.int64)
    return code


def _one_hot(codes: np.ndarray, low: np.ndarray, spans: list[int]) -> Callable[[np.ndarray], Any]:
    def rows(states: np.ndarray) -> Any:
        from scipy import sparse

        number = np.minimum(np.searchsorted(codes, _code(states, low, spans)), len(codes) - 1)
        inside = ((states >= low) & (states <= low + np.array(spans) - 1)).all(axis=1)
        known = inside & (codes[number] == _code(states, low, spans))
        ends = np.concatenate([[0], np.cumsum(known)])
        return sparse.csr_array((np.ones(known.sum()), number[known], ends), shape=(len(states), len(codes)))

    return rows


def _ladder(log: EpisodeLog) -> Iterator[Basis]:
    """Fourier bases from coarse to fine: more dimensions coupled first if there are few, then higher frequencies."""
    scale, choices = Scale(log), {}
    kinds = len(scale.varying)
    distinct = min((len(np.unique(log.states[:, k])) for k in scale.varying), default=1)
    finest = min(ORDER, max(1, round(0.6 * distinct)))  # as many terms as values would be a table
    for order, coupled in itertools.product(range(1, finest + 1), range(1, min(2, kinds) + 1)):
        size = 1 + sum(math.comb(kinds, c) * order**c for c in range(1, coupled + 1))
        if size * len(log.actions) <= MOST and (order <= 2 or coupled == min(2, kinds) or kinds > 8):
            choices.setdefault(size, (order, coupled))
    if not choices:
        choices = {1: (1, 0)}
    for size in sorted(choices):
        yield fourier_basis(*choices[size], scale)


class Scale:
    """Maps the components of a state that vary to [0, 1]: the mean of a linear scale and of their distribution in the
    log, so that features resolve both the whole range and the states where most data are."""

    def __init__(self, log: EpisodeLog):
        low, high = bounds_of(log)
        self.varying = np.flatnonzero(high > low)
        self.low, self.high = low[self.varying], high[self.varying]
        self.quantiles = np.quantile(log.states[:, self.varying], GRID, axis=0)

    def __call__(self, states: np.ndarray) -> np.ndarray:
        found = np.empty((len(states), len(self.varying)))
        for j, k in enumerate(self.varying):
            s = np.clip(states[:, k], self.low[j], self.high[j])
            linear = (s - self.low[j]) / (self.high[j] - self.low[j])
            found[:, j] = (linear + np.interp(s, self.quantiles[:, j], GRID)) / 2
        return found


def fourier_basis(order: int, coupled: int, scale: Scale) -> Basis:
    """The package's Fourier features of scaled states; with nothing coupled, a constant."""
    n = len(scale.varying) if coupled else 0
    coder = fourier.make(fourier.Settings(order, max(1, coupled)), [0.0] * n, [1.0] * n, 1)
    waves = np.rint(coder.frequencies / np.pi).astype(int).tolist()

    def rows(states: np.ndarray) -> np.ndarray:
        u, found = np.pi * scale(states)[:, :n], np.empty((len(states), coder.size))
        _fill(np.cos(u), np.sin(u), order, coupled > 1, found)
        return found

    name = f"fourier (order {order}, {coupled} coupled)" if coupled else "constant"
    return Basis(name, coder.size, False, rows, tuple(map(tuple, waves)))


@jit
def _fill(cosine, sine, order, pairs, found):
    """Cosines of multiples of angles and then, if wanted, of sums of two of them, all from those of the angles."""
    n = cosine.shape[1]
    c, s = np.empty((n, order)), np.empty((n, order))
    for t in range(len(found)):
        found[t, 0] = 1.0
        for i in range(n):
            re, im = 1.0, 0.0
            for k in range(order):
                re, im = re * cosine[t, i] - im * sine[t, i], re * sine[t, i] + im * cosine[t, i]
                c[i, k], s[i, k] = re, im
                found[t, 1 + i * order + k] = re
        place = 1 + n * order
        for i in range(n if pairs else 0):
            for j in range(i + 1, n):
                for k in range(order):
                    for m in range(order):
                        found[t, place + m] = c[i, k] * c[j, m] - s[i, k] * s[j, m]
                    place += order


def _of_module(log: EpisodeLog, features: Any) -> Basis:
    """Features by name, or a module, or a function from states to a matrix."""
    if callable(features):
        size = np.asarray(features(log.states[:1])).shape
        if len(size) != 2:
            raise UserError(f"features must return a matrix with one row per state, not the shape {size}")
        return Basis("given", size[1], False, lambda states: np.asarray(features(states), np.float64))
    module: Any = features_module(features)
    low, high = (bound.tolist() for bound in bounds_of(log))
    fit = getattr(module, "fit", None)
    settings = resolve(module.Settings, fit(len(low), len(log.actions)) if fit else {})
    coder = module.make(settings, low, high, 1)
    if coder.size * len(log.actions) > 4 * MOST:
        raise UserError(
            f"{features_name(module)} makes {coder.size * len(log.actions):,} features: at most {4 * MOST:,} fit"
        )
    encode = _encoder(module.encode)
    xs = la.no_features(1, coder.n_active)
    encode(coder, log.states, xs, *_room(len(log.states), coder))  # numbers the features by first visit

    def rows(states: np.ndarray) -> Any:
        from scipy import sparse

        index, value = _room(len(states), coder)
        encode(coder, np.ascontiguousarray(states), xs, index, value)
        ends = np.arange(len(states) + 1) * coder.n_active
        return sparse.csr_array((value.ravel(), index.ravel(), ends), shape=(len(states), coder.size))

    name = features_name(module)
    return Basis(name, coder.size, is_discrete(module), rows)


def _room(n: int, coder: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((n, coder.n_active), np.int64), np.zeros((n, coder.n_active))


@functools.cache
def _encoder(encode: Any) -> Any:
    @jit
    def run(coder, states, xs, index, value):
        for t in range(len(states)):
            encode(coder, states[t], xs)
            for i in range(index.shape[1]):
                index[t, i] = xs.index[0, i]
                value[t, i] = xs.value[0, i]

    return run
