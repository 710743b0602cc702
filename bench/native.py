"""The system's C compiler, if there is one: sources of this folder, compiled for this machine."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
# What numba's kernels may do. Not -ffast-math itself: linked with that, a library turns denormals off for everybody.
FLAGS = (
    "-O3 -march=native -fassociative-math -fno-signed-zeros -fno-trapping-math -freciprocal-math -fno-math-errno "
    "-ffp-contract=fast -shared -fPIC"
)
REAL = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}


def compiler() -> str | None:
    """The path of the C compiler."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compiler_version() -> str | None:
    """Return the version that the compiler prints."""
    path = compiler()
    if path is None:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return said.splitlines()[0] if said else path


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="ucls-bench-")


@functools.cache
def library(source: str, dtype: str) -> ctypes.CDLL:
    """Compile a source for one type of numbers and load it."""
    real = REAL[np.dtype(dtype)]
    path = compiler()
    if path is None:
        raise FileNotFoundError("no C compiler")
    target = Path(_folder().name) / f"{Path(source).stem}-{real}.so"
    subprocess.run([path, *FLAGS.split(), f"-DREAL={real}", str(HERE / source), "-o", str(target)], check=True)
    return ctypes.CDLL(str(target))


def real_type(dtype: str) -> type[ctypes.c_double] | type[ctypes.c_float]:
    """The C type of a number."""
    return ctypes.c_double if np.dtype(dtype) == np.float64 else ctypes.c_float
