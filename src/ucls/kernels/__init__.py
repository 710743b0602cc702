"""The public door for people who write an algorithm, features or an environment: `from ucls.kernels import jit, dot`.

A kernel is a plain function on arrays that is compiled: `jit` lets sums be reordered, `exact` nothing. `Active` is what
features are, the indices and values of those that are not 0, a row for each action. `Matrix`, `Vector` and `Scalar` (an
array of one, a number that changes) say what an algorithm's arrays are, and the ranges what they may hold. Names are
loaded when they are first asked for; the modules behind them are

- `active`: products of sparse features with vectors and matrices, the choice of the best action;
- `linear_algebra`: least squares, eligibility `traces`, and `lapack`, which solves dense systems by LAPACK;
- `planning`: remembered transitions, and planning on them; `returns`, the largest return there may be;
- `dynamic_programming`: the optimum of an environment whose transitions are known;
- `row_table`: a table of rows that is found by their content;
- `arrays`, `ranges`: what the arrays of a state are, and what those of a checkpoint may hold;
- `compilation`: `jit`, and the machine code that is kept for the next process.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from ucls.kernels.arrays import Array, IntArray, IntMatrix, IntScalar, IntVector, Matrix, Scalar, Vector
    from ucls.kernels.compilation.jit import exact, jit
    from ucls.kernels.linear_algebra.lapack import cholesky, cholesky_solve, inverse, solve
    from ucls.kernels.ranges import ACTION, COUNT, FEATURE, FLAG, Count, Grows, Index

__all__ = [
    "ACTION",
    "COUNT",
    "FEATURE",
    "FLAG",
    "Active",
    "Array",
    "Count",
    "Grows",
    "Index",
    "IntArray",
    "IntMatrix",
    "IntScalar",
    "IntVector",
    "Matrix",
    "Scalar",
    "Vector",
    "add",
    "argmax",
    "average",
    "cholesky",
    "cholesky_solve",
    "dot",
    "enlarged",
    "epsilon_greedy",
    "exact",
    "inverse",
    "jit",
    "no_features",
    "of_action",
    "quadratic",
    "see",
    "solve",
    "square",
]
_ARRAYS = ("Array", "IntArray", "IntMatrix", "IntScalar", "IntVector", "Matrix", "Scalar", "Vector")
_MODULES = {
    **dict.fromkeys(("exact", "jit"), "compilation.jit"),
    **dict.fromkeys(_ARRAYS, "arrays"),
    **dict.fromkeys(("cholesky", "cholesky_solve", "inverse", "solve"), "linear_algebra.lapack"),
    **dict.fromkeys(("ACTION", "COUNT", "FEATURE", "FLAG", "Count", "Grows", "Index"), "ranges"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucls.kernels' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ucls.kernels.{_MODULES.get(name, 'active')}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
