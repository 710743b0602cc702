"""The domains of the paper, with the numbers of the protocol."""

from typing import NamedTuple


class Domain(NamedTuple):
    """A domain, and the paper's number of runs in it."""

    env: str
    title: str
    runs: int


RIVER, PUDDLE, SPARSE = "ucls/RiverSwim-v0", "ucls/PuddleWorld-v0", "ucls/SparseMountainCar-v0"
CLASSIC, ONE_STATE = "ucls/MountainCar-v0", "ucls/OneState-v0"

DOMAINS = {
    SPARSE: Domain(SPARSE, "Sparse Mountain Car", 200),
    PUDDLE: Domain(PUDDLE, "Puddle World", 200),
    RIVER: Domain(RIVER, "River Swim", 100),
    CLASSIC: Domain(CLASSIC, "Mountain Car", 200),
    ONE_STATE: Domain(ONE_STATE, "One-State", 30),
}

# d = 1536 in the Mountain Cars: single precision halves the hours of what costs d^2 a step.
QUADRATIC = ("ucls", "gv-ucb", "lspi-rmax")


def dtype_of(agent: str, env: str) -> str:
    """The precision of a run."""
    return "float32" if agent in QUADRATIC and env in (SPARSE, CLASSIC) else "float64"
