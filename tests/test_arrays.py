"""The words for arrays stand at the public door, and every array of a state is what its word says."""

from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from ucls import kernels
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.run import make_run
from ucls.kernels import arrays

WORDS = [f"{kind}{shape}" for kind in ("", "Int") for shape in ("Array", "Matrix", "Vector", "Scalar")]


def test_the_words_are_at_the_door():
    assert {*WORDS} <= {*kernels.__all__}
    assert all(getattr(kernels, name) is getattr(arrays, name) for name in WORDS)


def begins_with_a_line(array):
    return array.ctypes.data % arrays.LINE == 0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_large_matrices_begin_with_a_cache_line(dtype):
    assert np.array_equal(arrays.zeros((3, 5), dtype), np.zeros((3, 5)))
    assert np.array_equal(arrays.diagonal(4, 2.5, dtype), 2.5 * np.eye(4))
    for shape in ((0, 0), (3, 5), (1,)):
        array = np.arange(np.prod(shape), dtype=dtype).reshape(shape)
        copy = arrays.aligned(array)
        assert np.array_equal(copy, array)
        assert copy.dtype == dtype
        assert copy.flags.c_contiguous
        assert begins_with_a_line(copy) or copy.size == 0


@pytest.mark.parametrize(("agent", "matrices"), [("ucls", "At Bt C"), ("ucls-exact", "M left right"), ("gv-ucb", "C")])
def test_matrices_begin_with_a_cache_line_when_made_and_when_restored(agent, matrices):
    run = make_run("ucls/RiverSwim-v0", agent)
    for _ in range(2):
        made = {name: array for part in parts(run.learner.state) for name, array in part._asdict().items()}
        assert all(begins_with_a_line(made[name]) for name in matrices.split())
        run.restore(run.checkpoint(), 0)


def parts(made):
    """A NamedTuple of arrays, and those in it."""
    yield made
    for part in made:
        if hasattr(part, "_fields"):
            yield from parts(part)


@pytest.mark.parametrize("agent", ALGORITHMS)
def test_every_array_of_a_state_has_the_shape_and_kind_of_its_word(agent):
    module = algorithm_module(agent)
    for part in parts(module.init(module.Settings(), 4, 2, 2, np.float64)):
        hints = get_type_hints(type(part))
        for name, array in part._asdict().items():
            if isinstance(array, np.ndarray):
                shape, dtype = get_args(hints[name])
                [kind] = get_args(dtype)
                assert np.issubdtype(array.dtype, get_origin(kind)), name
                assert shape is Any or len(get_args(shape)) == array.ndim, name
