"""LSTD by Sherman-Morrison with a witness: the same steps, and beside them the sums that its inverse is the inverse of.

An algorithm outside the package, to measure how far the inverse drifts from the matrix that nobody keeps.
"""

from typing import Any, NamedTuple

import numpy as np

from ucls.algorithms import lstd_sm
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit

Settings = lstd_sm.Settings
_learn, _act, _value, _start = lstd_sm.update, lstd_sm.act, lstd_sm.value, lstd_sm.start


class State(NamedTuple):
    """What LSTD has learned, and the sums A of z (x - gamma x')' and b of r z."""

    lstd: lstd_sm.State
    A: Any
    b: Any


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Numbers that `init` makes room for."""
    return lstd_sm.allocation(hyper, size, n_actions, n_active) + size**2 + size


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start from eta I."""
    return State(lstd_sm.init(hyper, size, n_actions, n_active, dtype), hyper.eta * np.eye(size), np.zeros(size))


@jit
def start(state, hyper, rng):
    """Begin an episode."""
    _start(state.lstd, hyper, rng)


@jit
def value(state, hyper, x):
    """The estimated action value."""
    return _value(state.lstd, hyper, x)


@jit
def act(state, hyper, xs, rng):
    """What LSTD does."""
    return _act(state.lstd, hyper, xs, rng)


@jit
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Learn, and add up what was learned from."""
    _learn(state.lstd, hyper, xs, a, r, gamma, xs_next, a_next, rng)
    x, x_next, z = la.of_action(xs, a), la.of_action(xs_next, a_next), state.lstd.trace.z
    for i in range(len(z)):
        if z[i] != 0.0:
            state.b[i] += r * z[i]
            for k in range(len(x.index)):
                state.A[i, x.index[k]] += z[i] * x.value[k]
                state.A[i, x_next.index[k]] -= gamma * z[i] * x_next.value[k]


def drift(state: State) -> float:
    """How far the kept inverse times the sums is from the identity, where features were seen."""
    n, inverse = int(state.lstd.inverse.seen[0]), state.lstd.inverse
    product = inverse.scale[0] / (inverse.t[0] + 1.0) * inverse.M[:n, :n] @ state.A[:n, :n]
    return float(np.abs(product - np.eye(n)).max())
