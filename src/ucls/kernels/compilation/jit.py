"""The only import of numba: `jit` and `exact` compile kernels, both functions of a module and closures over others.

`machine_code` saves machine code for later processes, through hooks of numba that are not public. If an untested
version of numba lacks one of them, every process compiles what it needs, and a warning says so.

numba optimizes the functions that a kernel calls again as part of that kernel, so every layer of calls costs as much as
the layer below. `woven` saves one layer.

`jit` allows sums to be reordered (otherwise dot products are not vectorized) but preserves NaN and infinity, so that
divergence can be detected. `exact` allows no such changes.
"""

import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numba
import numba.core.config

from ucls.errors import UclsWarning, UserError

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
OUTWARDS: dict[str, Any] = {"no_cfunc_wrapper": True}  # the wrapper for callers in C is not needed
INWARDS: dict[str, Any] = {**OUTWARDS, "no_cpython_wrapper": True}

config: Any = numba.core.config


def _find_keeper() -> ModuleType | None:
    """Return the module that saves machine code; None if compilation is off or this numba lacks a hook."""
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
    """Return the folder of machine code, of this package or of third-party kernels, or None if none is safe to use."""
    return _keeper.kernel_cache(ours) if _keeper else None


def jit(function: F) -> F:
    """Compile a kernel whose sums may be reordered, and save its machine code."""
    return _compile(function, FASTMATH)


def exact(function: F) -> F:
    """Compile a kernel that rounds as plain Python does: the physics of environments, the borders of tiles."""
    return _compile(function, set())


def engine_of(algorithm: Any) -> Callable[[F], F]:
    """Return how functions that call an algorithm are built: by `jit`, or unchanged if it says `COMPILED = False`.

    Kernels of the package can be called from both.
    """
    return jit if getattr(algorithm, "COMPILED", True) else _plain


def _plain(function: F) -> F:
    return function


def refuse_plain(module: ModuleType, name: str, kernels: Iterable[str], fix: str) -> None:
    """Refuse a module with a function that should be compiled and is not; if compilation is off, any will do."""
    for kernel in () if config.DISABLE_JIT else kernels:
        if not hasattr(getattr(module, kernel), "py_func"):
            raise UserError(f"{kernel} of module {name!r} is not compiled: {fix}")


def woven(kernel: F) -> F:
    """Return a kernel that is inlined into its callers: one with a single caller needs no machine code of its own.

    It rounds as its caller does, so inline an `exact` kernel only into `exact` ones. A plain function is unchanged.
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
