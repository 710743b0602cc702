"""The roofline of a step: the time to read A and B once, or for 10 d^2 operations, whichever is longer."""

import ctypes
from collections.abc import Callable

import numpy as np

from bench.harness import Job
from bench.native import library, real_type

STREAMS = (1, 2, 4, 8)
FLOPS, READS = 10, 2  # of a step, times d^2


def jobs(d: int, dtype: str) -> dict[str, Job]:
    """Return a job for each way to approach the roofline; one of their steps corresponds to one step of UCLS."""
    lib, real = library("ceiling.c", dtype), real_type(dtype)
    found = {f"read {s}": Job(_reading(getattr(lib, f"read{s}"), lib.lanes(), d, dtype)) for s in STREAMS}
    lib.multiply_add.restype, lib.multiply_add.argtypes = real, [ctypes.c_size_t, real, real]
    per_step = FLOPS * d * d / (2 * 10 * lib.lanes())
    found["multiply-add"] = Job(lambda steps: lib.multiply_add(int(steps * per_step), 0.5, 1.0))
    return found


def _reading(function: ctypes._CFuncPtr, lanes: int, d: int, dtype: str) -> Callable[[int], object]:
    function.restype, function.argtypes = real_type(dtype), [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
    room = np.ones(READS * d * d + lanes, dtype)
    skip = -room.ctypes.data % (lanes * room.itemsize) // room.itemsize
    aligned = room[skip : skip + READS * d * d]
    return lambda steps: function(aligned.ctypes.data, len(aligned) // lanes, steps)


def binding(samples: dict[str, np.ndarray]) -> tuple[str, np.ndarray]:
    """Which limit binds, by medians, and its samples: the best way to read, or multiply-add if that is slower."""
    reading = min((f"read {s}" for s in STREAMS), key=lambda name: float(np.median(samples[name])))
    name = max((reading, "multiply-add"), key=lambda name: float(np.median(samples[name])))
    return name, samples[name]
