"""Algorithms that learn their features: `encode` computes them whenever values or actions are needed.

A learner carries the features of the coder from one step to the next, and files contain those. Learned ones are never
kept, because every update may change them.
"""

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np

from ucls.kernels import active as la
from ucls.kernels.compilation.jit import engine_of

OF_ONE = ("value", "upper", "radius_terms", "learned")  # (state, hyper, x)


@functools.cache
def functions_of(algorithm: Any) -> Any:
    """The functions of an algorithm, to be called with the features of the coder.

    If it has `encode`, all but `start` and `update` get what that returns.
    """
    if not hasattr(algorithm, "encode"):
        return algorithm
    build, encode, own_act = engine_of(algorithm), algorithm.encode, algorithm.act

    @build
    def act(state, hyper, xs, rng):
        first = encode(state, hyper, la.of_action(xs, 0))
        index = np.empty((len(xs.index), len(first.index)), np.int64)
        value = np.empty(index.shape)
        for a in range(len(index)):
            x = encode(state, hyper, la.of_action(xs, a))
            if len(x.index) != index.shape[1] or len(x.value) != index.shape[1]:
                raise ValueError("encode must give as many features for every action, each with an index and a value")
            for i in range(index.shape[1]):
                index[a, i] = x.index[i]
                value[a, i] = x.value[i]
        return own_act(state, hyper, la.Active(index, value), rng)

    made = {name: _encoded(build, encode, getattr(algorithm, name)) for name in OF_ONE if hasattr(algorithm, name)}
    if hasattr(algorithm, "interval"):
        made["interval"] = _encoded_interval(build, encode, algorithm.interval)
    return SimpleNamespace(**{**vars(algorithm), **made, "act": act})


def _encoded(build: Any, encode: Any, function: Any) -> Any:
    @build
    def of_one(state, hyper, x):
        return function(state, hyper, encode(state, hyper, x))

    return of_one


def _encoded_interval(build: Any, encode: Any, function: Any) -> Any:
    @build
    def interval(state, hyper, x, rng):
        return function(state, hyper, encode(state, hyper, x), rng)

    return interval
