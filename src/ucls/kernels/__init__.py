"""Public functions for writing an algorithm, features or an environment: `from ucls.kernels import jit, dot`.

A kernel is a compiled function on arrays: `jit` allows sums to be reordered, `exact` does not. `Active` holds the
features of a state: indices and values of the nonzero ones, with a row per action. `Matrix`, `Vector` and `Scalar` (an
array of length one, for a number that changes) annotate the arrays of an algorithm, and the ranges say which values
they may contain. Names are imported on first use. The modules are

- `active`: products of sparse features with vectors and matrices, the choice of the best action;
- `linear_algebra`: least squares, eligibility `traces`, and `lapack`, which solves dense systems by LAPACK;
- `network`: a small neural network with an exact last layer, and what it remembers;
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
