"""The words for arrays stand at the public door, and every array of a state is what its word says."""

from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from ucls import kernels
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.kernels import arrays

WORDS = [f"{kind}{shape}" for kind in ("", "Int") for shape in ("Array", "Matrix", "Vector", "Scalar")]


def test_the_words_are_at_the_door():
    assert {*WORDS} <= {*kernels.__all__}
    assert all(getattr(kernels, name) is getattr(arrays, name) for name in WORDS)


def parts(made):
    """A NamedTuple of arrays, and those in it."""
    yield made
    for part in made:
        if hasattr(part, "_fields"):
            yield from parts(part)


@pytest.mark.parametrize("agent", ALGORITHMS)
def test_every_array_of_a_state_has_the_shape_and_kind_of_its_word(agent):
    module = algorithm_module(agent)
    for part in parts(module.init(module.Hyper(), 4, 2, 2, np.float64)):
        hints = get_type_hints(type(part))
        for name, array in part._asdict().items():
            if isinstance(array, np.ndarray):
                shape, dtype = get_args(hints[name])
                [kind] = get_args(dtype)
                assert np.issubdtype(array.dtype, get_origin(kind)), name
                assert shape is Any or len(get_args(shape)) == array.ndim, name
