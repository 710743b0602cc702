"""Hashed tile coding, after Sutton's tiles3.

Each tiling is a grid over the state, shifted from the one before by 1, 3, 5, ... units along the dimensions, where a
unit is a tile divided by the number of tilings. A tile gets the next free index when it is first visited; when all
`memory` indices are given away, a further tile shares the index that a hash of its coordinates says.

States are scaled so that `tiles` tiles span the range from `low` to `high`; a state outside has tiles of its own.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.features import BUDGET, Room
from ucls.kernels._jit import exact
from ucls.kernels.arrays import IntMatrix, IntScalar, IntVector, Vector
from ucls.kernels.ranges import MADE, Count, Index, Within, is_permutation
from ucls.kernels.row_table import slots_for
from ucls.settings import Choice, Whole

ONE_OVER_N, ONE_OVER_SQRT_N, ONE = range(3)
BLOCKS, JOINT = range(2)
FAR = 1e12  # scaled coordinates are held within this, so that they fit an integer


class Settings(NamedTuple):
    """The settings of the tile coder."""

    tilings: Annotated[int, Whole(1, 4096), "number of tilings, which is the number of active features"] = 8
    tiles: Annotated[int, Whole(1, 10**6), "tiles along each dimension"] = 8
    memory: Annotated[int, Whole(1, 2**40), "number of indices for the tiles of states; tiles beyond share them"] = 512
    feature_value: Annotated[
        int, Choice("1/n", "1/sqrt_n", "1"), "value of an active feature, n being the number of tilings"
    ] = ONE_OVER_N
    hashing: Annotated[
        int, Choice("blocks", "joint"), "blocks: the state is hashed, each action has a block; joint: both are hashed"
    ] = BLOCKS


class Coder(NamedTuple):
    """A tile coder and its table; the last three fields fill as tiles are visited."""

    size: int
    n_active: int
    n_actions: int
    joint: bool
    memory: int
    value: float
    low: Annotated[Vector, MADE]
    tiles_per_unit: Annotated[Vector, MADE]
    keys: Annotated[IntMatrix, Within(-1e15, 1e15)]
    indices: Annotated[IntVector, Index("indices", none=True)]
    count: Annotated[IntScalar, Count("indices")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """Indices are given one after the other, each once and none beyond the memory; every tile is found."""
        if self.count[0] > self.memory or not is_permutation(self.indices[self.indices >= 0], self.count[0]):
            return "tiles are numbered wrongly"
        return "" if _consistent(self) else "a tile is not found, or is there twice"


def fit(dimensions: int, n_actions: int) -> dict[str, Any]:
    """The finest tiles, up to the default, that there is room for; in more than two dimensions half the tilings do.

    >>> [fit(dimensions, n_actions=3) for dimensions in (2, 3)]
    [{'tilings': 8, 'tiles': 8, 'memory': 682}, {'tilings': 4, 'tiles': 5, 'memory': 682}]
    """
    usual, memory = Settings(), max(1, BUDGET // n_actions)
    tilings = usual.tilings if dimensions <= 2 else usual.tilings // 2
    tiles = next((n for n in range(usual.tiles, 2, -1) if tilings * n**dimensions <= memory), 2)
    return {"tilings": tilings, "tiles": tiles, "memory": memory}


def notices(coder: Coder, settings: Settings) -> list[str]:
    """Say that further tiles share indices, if there can be any within the bounds."""
    within = coder.n_active * (settings.tiles + 1) ** len(coder.low) * (coder.n_actions if coder.joint else 1)
    if coder.count[0] < coder.memory or within <= coder.memory:
        return []
    return [f"all {coder.memory:,} tiles of the table are taken, new ones share them: raise memory, or lower tiles"]


def room(settings: Settings, low: Any, high: Any, n_actions: int) -> Room:
    """The table is the largest part."""
    if not all(b - a > 1e-200 for a, b in zip(low, high, strict=True)):
        raise UserError("tiles need room between the bounds: every number in low must be below its number in high")
    joint = settings.hashing == JOINT
    memory = settings.memory * (n_actions if joint else 1)
    return Room(settings.memory * n_actions, settings.tilings, slots_for(memory) * (len(low) + 3))


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a tile coder with an empty table.

    >>> coder = make(Settings(tilings=4, tiles=10, memory=64), [0.0], [1.0], n_actions=2)
    >>> coder.size, coder.n_active
    (128, 4)
    """
    low, high = np.array(low, np.float64), np.array(high, np.float64)
    joint = settings.hashing == JOINT
    memory = settings.memory * (n_actions if joint else 1)
    slots = slots_for(memory)
    return Coder(
        size=settings.memory * n_actions,
        n_active=settings.tilings,
        n_actions=n_actions,
        joint=joint,
        memory=memory,
        value=float([1 / settings.tilings, settings.tilings**-0.5, 1.0][settings.feature_value]),
        low=low,
        tiles_per_unit=settings.tiles / (high - low),
        keys=np.zeros((slots, 1 + len(low) + int(joint)), np.int64),
        indices=np.full(slots, -1),
        count=np.zeros(1, np.int64),
    )


@exact
def encode(coder, s, xs):
    """Write the features of every action in state s into xs; tiles visited for the first time are numbered."""
    _encode(coder, s, xs, True)


@exact
def look(coder, s, xs):
    """Write what `encode` would, and leave the table as it is."""
    _encode(coder, s, xs, False)


@exact
def _encode(coder, s, xs, remember):
    key = np.empty(coder.keys.shape[1], np.int64)
    unseen = 0
    if not coder.joint:
        for tiling in range(coder.n_active):
            _coordinates(coder, s, tiling, key)
            tile, new = _index(coder, key, remember, unseen)
            unseen += new
            for a in range(coder.n_actions):
                xs.index[a, tiling] = tile * coder.n_actions + a
    else:
        for a in range(coder.n_actions):
            key[-1] = a
            for tiling in range(coder.n_active):
                _coordinates(coder, s, tiling, key)
                xs.index[a, tiling], new = _index(coder, key, remember, unseen)
                unseen += new
    for a in range(coder.n_actions):
        _values(coder, xs.index[a], xs.value[a])


@exact
def _coordinates(coder, s, tiling, key):
    """The tile of one tiling that s is in: floor(s in units, plus the shift) / tilings."""
    key[0] = tiling
    shift = tiling
    for i in range(len(s)):
        units = np.floor((s[i] - coder.low[i]) * coder.tiles_per_unit[i] * coder.n_active)
        key[1 + i] = (np.int64(min(max(units, -FAR), FAR)) + shift) // coder.n_active
        shift += 2 * tiling


@exact
def _index(coder, key, remember, unseen):
    """The index of a tile, and 1 if it is new and gets the next free index, where `unseen` are taken already."""
    slots = len(coder.indices)
    h = _hash(key)
    slot = h % slots
    while coder.indices[slot] >= 0:
        same = True
        for i in range(len(key)):
            same = same and coder.keys[slot, i] == key[i]
        if same:
            return coder.indices[slot], 0
        slot = (slot + 1) % slots
    index = coder.count[0] + (0 if remember else unseen)
    if index >= coder.memory:
        return h % coder.memory, 0
    if remember:
        for i in range(len(key)):
            coder.keys[slot, i] = key[i]
        coder.indices[slot] = index
        coder.count[0] += 1
    return index, 1


@exact
def _consistent(coder):
    """Whether every tile of the table is found at its place."""
    for slot in range(len(coder.indices)):
        if coder.indices[slot] >= 0:
            index, _ = _index(coder, coder.keys[slot], False, 0)
            if index != coder.indices[slot]:
                return False
    return True


@exact
def _hash(key):
    """A hash that is the same on every machine: Lehmer's generator, fed with the coordinates."""
    h = 1
    for i in range(len(key)):
        h = (h + key[i]) % 2147483647 * 48271 % 2147483647
    return h


@exact
def _values(coder, index, value):
    """Give each feature its value; one that is there already gets 0. Only a full table can give one twice."""
    full = coder.count[0] + coder.n_active > coder.memory
    for i in range(len(index)):
        value[i] = coder.value
        if full:
            for j in range(i):
                if index[j] == index[i]:
                    value[i] = 0.0
