"""The domains of the paper, with the numbers of the protocol."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ucls.algorithms import algorithm_module


class Domain(NamedTuple):
    """A domain, and the paper's number of runs in it (ours, where the paper has none)."""

    env: str
    title: str
    runs: int


RIVER, PUDDLE, SPARSE = "ucls/RiverSwim-v0", "ucls/PuddleWorld-v0", "ucls/SparseMountainCar-v0"
CLASSIC, ONE_STATE, DEEP_SEA = "ucls/MountainCar-v0", "ucls/OneState-v0", "ucls/DeepSea-v0"

DOMAINS = {
    SPARSE: Domain(SPARSE, "Sparse Mountain Car", 200),
    PUDDLE: Domain(PUDDLE, "Puddle World", 200),
    RIVER: Domain(RIVER, "River Swim", 100),
    CLASSIC: Domain(CLASSIC, "Mountain Car", 200),
    ONE_STATE: Domain(ONE_STATE, "One-State", 30),
    DEEP_SEA: Domain(DEEP_SEA, "Deep Sea", 30),
}

# The memory of the tile coder as it is printed. It is too small for the tiles of a coder that overlaps the borders (160
# and 180 of them), so that tiles share indices; the environments' own features have room for all.
PRINTED = {RIVER: {"memory": 128}, PUDDLE: {"memory": 128}}


def as_printed(agent: str, env: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with the printed memory of the tile coder, for an algorithm that uses tiles and is not given another."""
    tiles = not hasattr(algorithm_module(agent), "FEATURES")
    return {**(PRINTED.get(env, {}) if tiles else {}), **settings}


# d = 1536 in the Mountain Cars: single precision halves the hours of what costs d^2 a step.
QUADRATIC = ("ucls", "ucls-exact", "gv-ucb", "lspi-rmax")


def dtype_of(agent: str, env: str) -> str:
    """The precision of a run."""
    return "float32" if agent in QUADRATIC and env in (SPARSE, CLASSIC) else "float64"
