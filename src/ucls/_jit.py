"""The one door to numba: `jit` and `exact` for kernels, `jit_uncached` for loops that are built around kernels.

numba's own cache watches only the file of the decorated function, so a changed helper in another file would leave
stale machine code behind. Here the cache folder is named by a digest of all sources of the package: a changed source
is a new folder. A kernel of a module outside the package is not cached on disk, because its sources are not watched.

`jit` allows sums to be reordered (without it dot products do not vectorise) but keeps NaN and infinity, so that
divergence can be seen; `exact` allows nothing.
"""

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numba.core.config

from ucls._files import cache_dir

F = TypeVar("F", bound=Callable[..., Any])

FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
PACKAGE = Path(__file__).parent

config: Any = numba.core.config


@functools.cache
def source_digest() -> str:
    """A digest of every source file of the package, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@functools.cache
def kernel_cache() -> Path:
    """The folder that holds the machine code of these sources."""
    return cache_dir("kernels") / source_digest()


def jit(function: F) -> F:
    """Compile a kernel whose sums may be reordered, and keep the machine code for the next process."""
    return _compile(function, FASTMATH)


def exact(function: F) -> F:
    """Compile a kernel that rounds as plain Python does: the physics of worlds, the borders of tiles."""
    return _compile(function, set())


def jit_uncached(function: F) -> F:
    """Compile a function whose parts are chosen at run time; numba could not find it in a cache again."""
    return cast(F, numba.njit(fastmath=FASTMATH)(function))


def _compile(function: F, fastmath: set[str]) -> F:
    if not function.__module__.startswith("ucls."):
        return cast(F, numba.njit(fastmath=fastmath)(function))
    # numba reads its cache folder when a function is decorated: set it for ours only.
    before, config.CACHE_DIR = config.CACHE_DIR, str(kernel_cache())
    try:
        return cast(F, numba.njit(cache=True, fastmath=fastmath)(function))
    finally:
        config.CACHE_DIR = before
