"""The same algebra in C (step.c), compiled on demand."""

import ctypes

import numpy as np

from bench.native import library
from bench.steps.dense_numpy import B_STEP, BETA, ETA, LAMBDA, W_STEP
from bench.steps.stream import Stream
from ucls.kernels.linear_algebra.traces import TINY

COUNTS = ("d", "k", "length")
ARRAYS = ("At", "Bt", "C", "b", "w", "z", "nu", "c", "q", "h", "u", "g", "a", "r", "near")
NUMBERS = ("scale", "norm2", "c_max", "gamma_previous", "lambda_", "beta", "eta", "b_step", "w_step", "tiny")


class Learner(ctypes.Structure):
    """The struct of step.c."""

    _fields_ = (
        *((name, ctypes.c_long) for name in COUNTS),
        *((name, ctypes.c_void_p) for name in ARRAYS),
        *((name, ctypes.c_double) for name in NUMBERS),
    )


class Native:
    """Algorithm 2 in C; d must be a multiple of 4."""

    unit = 1

    def __init__(self, stream: Stream, dtype: str) -> None:
        d = stream.d
        matrices = {"At": np.zeros((d, d), dtype), "Bt": np.eye(d, dtype=dtype), "C": np.eye(d, dtype=dtype)}
        vectors = {name: np.zeros(d, dtype) for name in ARRAYS[3:-1]}
        self.arrays = {**matrices, **vectors, "c": np.ones(d, dtype), "near": np.zeros(d, np.int_)}
        numbers = (1.0, 0.0, 1.0, 0.0, LAMBDA, BETA, ETA, B_STEP, W_STEP, TINY[np.dtype(dtype)])
        addresses = (self.arrays[name].ctypes.data for name in ARRAYS)
        self.learner = Learner(d, stream.index.shape[1], len(stream.r), *addresses, *numbers)
        self.index = np.ascontiguousarray(stream.index, np.int_)
        self.stream, self.t = stream, 0
        self._run = library("steps/step.c", dtype).run
        pointer, whole = ctypes.c_void_p, ctypes.c_long
        self._run.argtypes = [pointer, pointer, pointer, pointer, ctypes.c_double, whole, whole]
        self._run.restype = None

    def run(self, steps: int) -> None:
        s = self.stream
        along = self.index.ctypes.data, s.value.ctypes.data, s.r.ctypes.data
        self._run(ctypes.addressof(self.learner), *along, s.gamma, self.t, steps)
        self.t += steps

    @property
    def w(self) -> np.ndarray:
        return self.arrays["w"]

    @property
    def C(self) -> np.ndarray:
        return np.tril(self.arrays["C"]) + np.tril(self.arrays["C"], -1).T
