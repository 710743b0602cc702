"""The public door for people who write an algorithm, features or an environment: `from ucls.kernels import jit, dot`.

A kernel is a plain function on arrays that is compiled: `jit` lets sums be reordered, `exact` nothing. `Active` is what
features are, the indices and values of those that are not 0, a row for each action. What an algorithm's arrays may hold
is said by the ranges. Names are loaded when they are first asked for; the modules behind them are

- `active`: products of sparse features with vectors and matrices, the choice of the best action;
- `system`, `solvers`, `sherman_morrison`, `lazy_matrix`, `averages`, `cholesky`: least squares, step by step;
- `traces`: eligibility traces; `returns`: the largest return there may be;
- `row_table`, `gaussian_process`: what two of the algorithms stand on;
- `ranges`: what the arrays of a checkpoint may hold.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucls.kernels._jit import exact, jit
    from ucls.kernels.active import (
        Active,
        add,
        argmax,
        average,
        dot,
        enlarged,
        epsilon_greedy,
        no_features,
        of_action,
        quadratic,
        see,
        square,
    )
    from ucls.kernels.ranges import ACTION, COUNT, FEATURE, FLAG, Count, Grows, Index

__all__ = [
    "ACTION",
    "COUNT",
    "FEATURE",
    "FLAG",
    "Active",
    "Count",
    "Grows",
    "Index",
    "add",
    "argmax",
    "average",
    "dot",
    "enlarged",
    "epsilon_greedy",
    "exact",
    "jit",
    "no_features",
    "of_action",
    "quadratic",
    "see",
    "square",
]
_MODULES = {
    **dict.fromkeys(("exact", "jit"), "_jit"),
    **dict.fromkeys(("ACTION", "COUNT", "FEATURE", "FLAG", "Count", "Grows", "Index"), "ranges"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucls.kernels' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ucls.kernels.{_MODULES.get(name, 'active')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
