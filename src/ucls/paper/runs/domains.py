"""The domains of the paper, with the numbers of the protocol."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ucls.algorithms import algorithm_module


class Domain(NamedTuple):
    """A domain, and the paper's number of runs in it (ours, if the paper has none)."""

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

# The memory of the tile coder, read in two ways. The printed one is too small for the tiles of a coder that overlaps
# the borders (160 and 180 of them), so that tiles share indices; it is the number of tiles of a coder that does not, so
# that the authors' table had room for all. The environments' own features have it too.
PRINTED, ROOM = "printed", "room"
MEMORY: dict[str, dict[str, dict[str, Any]]] = {
    PRINTED: {RIVER: {"table_size": 128}, PUDDLE: {"table_size": 128}},
    ROOM: {},
}
HAS_READING = tuple(MEMORY[PRINTED])
READING = ROOM  # of the figures and claims of the paper: the other is then an open choice


def other_reading() -> str:
    """Return the interpretation of the hash-table size that figures and claims do not use."""
    return ROOM if READING == PRINTED else PRINTED


def has_tiles(agent: str) -> bool:
    """Whether an algorithm uses the environment's tiles, and no features of its own."""
    return not hasattr(algorithm_module(agent), "FEATURES")


def as_read(agent: str, env: str, settings: Mapping[str, Any], reading: str = "") -> dict[str, Any]:
    """Return settings with the interpreted hash-table size, for an algorithm that uses tiles and has no other size."""
    return {**(MEMORY[reading or READING].get(env, {}) if has_tiles(agent) else {}), **settings}


# d = 1536 in the Mountain Cars: single precision halves the hours of what costs d^2 per step.
QUADRATIC = ("ucls", "ucls-exact", "gv-ucb", "lspi-rmax")


def dtype_of(agent: str, env: str) -> str:
    """The precision of a run."""
    return "float32" if agent in QUADRATIC and env in (SPARSE, CLASSIC) else "float64"
