"""Parameters of tests that have kernels to compile for each."""

import pytest

from ucls.algorithms import ALGORITHMS
from ucls.core.run import suits_env

UNLIKE = ("ucls/RiverSwim-v0", "ucls/PuddleWorld-v0")  # which share the kernels of algorithms with tiles


def always(often, names):
    """Names as parameters of a test that has kernels to compile for each: those that do not run often are slow."""
    return [pytest.param(name, marks=() if name in often else pytest.mark.slow) for name in names]


BASELINES = {name for name, path in ALGORITHMS.items() if ".baselines." in path}  # seldom compiled: uncompiled, always
SOLO = always([*ALGORITHMS.keys() - BASELINES], ALGORITHMS)


def in_env(env, often=ALGORITHMS.keys() - BASELINES):
    """The algorithms that can learn in an environment; those that are not named `often` are slow."""
    return always(often, [name for name in ALGORITHMS if suits_env(name, env)])
