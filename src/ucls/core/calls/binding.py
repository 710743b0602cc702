"""A kernel bound to the parts of a learner, so that their types are not determined again in every call.

numba determines the type of every array in every argument at every call, which can take longer than a step. The types
of a learner's parts change only when a part is replaced, so they are determined only then.
"""

from collections.abc import Callable
from operator import is_
from typing import Any


class BoundKernel:
    """A kernel whose first arguments are the parts of a learner."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._parts: tuple[Any, ...] = ()
        self._entry: Callable[..., Any] = kernel

    def __call__(self, parts: tuple[Any, ...], *rest: Any) -> Any:
        """Call the kernel; `rest` has the same types in every call."""
        if len(parts) != len(self._parts) or not all(map(is_, parts, self._parts)):
            self._entry = entry(self._kernel, (*parts, *rest))
            self._parts = parts
        return self._entry(*parts, *rest)


def entry(kernel: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """The machine code of a kernel for the types of these arguments; without numba's compiler, the kernel itself."""
    if not hasattr(kernel, "compile"):
        return kernel
    return kernel.compile(tuple(map(kernel.typeof_pyval, arguments)))
