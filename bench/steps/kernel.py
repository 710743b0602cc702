"""The package's own steps, each in a compiled loop."""

import functools
from typing import Any

import numpy as np

from bench.steps.stream import Stream
from ucls.algorithms import ucls, ucls_exact
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit


@functools.cache
def _along(algorithm: Any) -> Any:
    """A loop that lets an algorithm learn along a stream."""
    update = algorithm.update

    @jit
    def along(state, hyper, index, value, r, gamma, first, steps, rng):
        for t in range(first, first + steps):
            i = t % len(r)
            xs, xs_next = (
                la.Active(index[i : i + 1], value[i : i + 1]),
                la.Active(index[i + 1 : i + 2], value[i + 1 : i + 2]),
            )
            update(state, hyper, xs, 0, r[i], gamma, xs_next, 0, rng)

    return along


class Kernel:
    """`ucls.algorithms.ucls.update`, with all features of the stream taken as seen, in room for `size` of them."""

    unit, algorithm = 1, ucls

    def __init__(self, stream: Stream, dtype: str, size: int | None = None) -> None:
        self.hyper = ucls.Settings()
        self.state = ucls.init(self.hyper, size or stream.d, 1, stream.index.shape[1], np.dtype(dtype).type)
        self.state.system.seen[0] = stream.d
        self._begin(stream)

    def _begin(self, stream: Stream) -> None:
        self.stream, self.t, self.rng = stream, 0, np.random.default_rng(0)

    def run(self, steps: int) -> None:
        _, index, value, r, gamma = self.stream
        _along(self.algorithm)(self.state, self.hyper, index, value, r, gamma, self.t, steps, self.rng)
        self.t += steps

    @property
    def w(self) -> np.ndarray:
        return self.state.system.w

    @property
    def C(self) -> np.ndarray:
        return np.tril(self.state.C) + np.tril(self.state.C, -1).T


class ExactKernel(Kernel):
    """`ucls.algorithms.ucls_exact.update`, with all features of the stream taken as seen."""

    algorithm = ucls_exact

    def __init__(self, stream: Stream, dtype: str) -> None:
        self.hyper = ucls_exact.Settings(return_max=1.0, noise_scale=1.0)
        self.state = ucls_exact.init(self.hyper, stream.d, 1, stream.index.shape[1], np.dtype(dtype).type)
        self.state.seen[0] = stream.d
        self._begin(stream)
