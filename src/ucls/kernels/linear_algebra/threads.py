"""NumPy's matrix products in one thread.

Their last digits depend on the number of threads, and products as small as those of a small network are slower with
several. `one_thread` sets the number for the time of a call, which costs about a microsecond; the rest of the process
keeps its own. `lapack` does the same for SciPy's library, for good.
"""

import ctypes
import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads", "openblas_{}_num_threads")


def _found(what: str) -> Callable[..., int] | None:
    """The function that sets or gets the number of threads; None in a NumPy with another library."""
    library = ctypes.CDLL(
        import_module("numpy._core._multiarray_umath").__file__
    )  # finds the libraries that it was linked with, too
    return next((getattr(library, name.format(what)) for name in NAMES if hasattr(library, name.format(what))), None)


_get, _set = _found("get"), _found("set")


def one_thread(function: F) -> F:
    """Call a function with one thread for NumPy's matrix products."""
    if _get is None or _set is None:
        return function
    get, set_to = _get, _set

    @functools.wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        threads = get()
        set_to(1)
        try:
            return function(*args, **kwargs)
        finally:
            set_to(threads)

    return cast(F, limited)
