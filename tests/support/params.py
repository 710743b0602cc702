"""Parameters of tests that have kernels to compile for each."""

import pytest

UNLIKE = ("ucls/RiverSwim-v0", "ucls/PuddleWorld-v0")  # which share the kernels of algorithms with tiles


def always(often, names):
    """Names as parameters of a test that has kernels to compile for each: those that do not run often are slow."""
    return [pytest.param(name, marks=() if name in often else pytest.mark.slow) for name in names]
