"""The one door to numba: `jit` and `exact` for kernels, whether they stand in a module or are built around others.

Machine code is kept for the next process by `machine_code`, through hooks of numba that are not public. Where one is
missing, in a version of numba that was not tried, every process compiles what it needs, and a notice says so.

Whatever a kernel calls is optimized again with it, so each layer of calls costs as much as the one below: `woven` saves
one.

`jit` allows sums to be reordered (without it dot products do not vectorize) but keeps NaN and infinity, so that
divergence can be seen; `exact` allows nothing.
"""

import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numba.core.config

from ucls.errors import UclsWarning

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
OUTWARDS: dict[str, Any] = {"no_cfunc_wrapper": True}  # which is for C
INWARDS: dict[str, Any] = {**OUTWARDS, "no_cpython_wrapper": True}

config: Any = numba.core.config


def _find_keeper() -> ModuleType | None:
    """The module that keeps machine code; None where nothing is compiled, or this numba lacks a hook."""
    if config.DISABLE_JIT:
        return None
    try:
        from ucls.kernels.compilation import machine_code
    except (ImportError, AttributeError) as missing:
        warnings.warn(
            f"machine code cannot be saved with numba {numba.__version__} ({missing}), so every process compiles its "
            "kernels again; install a version of numba that ucls allows",
            UclsWarning,
            stacklevel=2,
        )
        return None
    return machine_code


_keeper: Any = _find_keeper()


def kernel_cache(ours: bool = True) -> Path | None:
    """The folder that holds machine code, of ours or of others, if there is one that nobody else can write to."""
    return _keeper.kernel_cache(ours) if _keeper else None


def jit(function: F) -> F:
    """Compile a kernel whose sums may be reordered, and keep the machine code for the next process."""
    return _compile(function, FASTMATH)


def exact(function: F) -> F:
    """Compile a kernel that rounds as plain Python does: the physics of worlds, the borders of tiles."""
    return _compile(function, set())


def engine_of(algorithm: Any) -> Callable[[F], F]:
    """How the functions around an algorithm's are built: compiled, or as they are if it says `COMPILED = False`.

    Kernels of the package can be called from either.
    """
    return jit if getattr(algorithm, "COMPILED", True) else _plain


def _plain(function: F) -> F:
    return function


def woven(kernel: F) -> F:
    """A kernel as a part of each that calls it: what is called in one place needs no machine code of its own.

    It rounds as its caller does: weave what is `exact` into what is `exact`. A plain function stays as it is.
    """
    made: Any = kernel
    if config.DISABLE_JIT or not hasattr(made, "py_func"):
        return kernel
    return cast(F, numba.njit(fastmath=made.targetoptions["fastmath"], inline="always")(made.py_func))


def _compile(function: F, fastmath: set[str]) -> F:
    if _keeper is None:
        return cast(F, numba.njit(fastmath=fastmath)(function))
    dispatcher: Any = numba.njit(fastmath=fastmath, **OUTWARDS)(function)
    _keeper.keep(dispatcher, numba.njit(fastmath=fastmath, **INWARDS)(function))
    return cast(F, dispatcher)
