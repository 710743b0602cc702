"""Hashed tile coding, after Sutton's tiles3.

Each tiling is a grid over the state, shifted from the one before by 1, 3, 5, ... units along the dimensions, where a
unit is a tile divided by the number of tilings. A tile gets the next free index when it is first visited; when all
`table_size` indices are taken, a further tile shares the index given by a hash of its coordinates.

States are scaled so that `tiles` tiles span the range from `low` to `high`; a state outside has its own tiles, and
shifted tilings have some beyond the upper bound. With `hashing=clipped` a tile beyond a bound is the one at the
bound, and there are tilings x tiles^dimensions in total.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.errors import UserError
from ucls.features import BUDGET, Allocation
from ucls.kernels.arrays import IntMatrix, IntScalar, IntVector, Vector
from ucls.kernels.compilation.jit import exact, woven
from ucls.kernels.ranges import MADE, Count, Index, Within, is_permutation
from ucls.kernels.row_table import slots_for
from ucls.settings import Choice, Whole

ONE_OVER_N, ONE_OVER_SQRT_N, ONE = range(3)
BLOCKS, JOINT, CLIPPED = range(3)
PRIME = 2**31 - 1
# States that share tiles differ without any noise, and errors of the tiles add up over one-step targets.
FACTS = {"planner_prior_visits": 0.3, "planner_noise_scale": 0.3}
FAR = 1e12  # scaled coordinates are held within this, so that they fit an integer


class Settings(NamedTuple):
    """The settings of the tile coder."""

    tilings: Annotated[int, Whole(1, 4096), "number of tilings, which is the number of active features"] = 8
    tiles: Annotated[int, Whole(1, 10**6), "tiles along each dimension"] = 8
    table_size: Annotated[
        int, Whole(1, 2**40), "number of indices for the tiles of states; further tiles share them"
    ] = 512
    feature_value: Annotated[
        int, Choice("1/n", "1/sqrt_n", "1"), "value of an active feature, n being the number of tilings"
    ] = ONE_OVER_N
    hashing: Annotated[
        int,
        Choice("blocks", "joint", "clipped"),
        "blocks: the state is hashed, each action has a block; joint: both are hashed; clipped: blocks, and no tile is "
        "beyond the borders",
    ] = BLOCKS


class Coder(NamedTuple):
    """A tile coder and its table; the last three fields fill as tiles are visited."""

    size: int
    n_active: int
    n_actions: int
    joint: bool
    least: float
    most: float
    table_size: int
    value: float
    low: Annotated[Vector, MADE]
    tiles_per_unit: Annotated[Vector, MADE]
    keys: Annotated[IntMatrix, Within(-1e15, 1e15)]
    indices: Annotated[IntVector, Index("indices", none=True)]
    count: Annotated[IntScalar, Count("indices")]  # pyright: ignore[reportIncompatibleMethodOverride]

    def fault(self) -> str:
        """Indices are given one after the other, each once and none beyond the table; every tile is found."""
        if self.count[0] > self.table_size or not is_permutation(self.indices[self.indices >= 0], self.count[0]):
            return "tiles are numbered wrongly"
        return "" if _consistent(self) else "a tile is not found, or is there twice"


def fit(dimensions: int, n_actions: int) -> dict[str, Any]:
    """The finest tiles, up to the default, that fit; with more than two components, half the tilings.

    >>> [fit(dimensions, n_actions=3) for dimensions in (2, 3)]
    [{'tilings': 8, 'tiles': 8, 'table_size': 682}, {'tilings': 4, 'tiles': 5, 'table_size': 682}]
    """
    usual, table_size = Settings(), max(1, BUDGET // n_actions)
    tilings = usual.tilings if dimensions <= 2 else usual.tilings // 2
    tiles = next((n for n in range(usual.tiles, 2, -1) if tilings * n**dimensions <= table_size), 2)
    return {"tilings": tilings, "tiles": tiles, "table_size": table_size}


def notices(coder: Coder, settings: Settings) -> list[str]:
    """Warn that further tiles share indices, if there can be any within the bounds."""
    along = settings.tiles + (settings.hashing != CLIPPED)
    within = coder.n_active * along ** len(coder.low) * (coder.n_actions if coder.joint else 1)
    if coder.count[0] < coder.table_size or within <= coder.table_size:
        return []
    return [
        f"all {coder.table_size:,} tiles of the table are taken, new ones share them: raise table_size, or lower tiles"
    ]


def allocation(settings: Settings, low: Any, high: Any, n_actions: int) -> Allocation:
    """The table is the largest part."""
    if not all(b - a > 1e-200 for a, b in zip(low, high, strict=True)):
        raise UserError("tiles need room between the bounds: every number in low must be below its number in high")
    joint = settings.hashing == JOINT
    table_size = settings.table_size * (n_actions if joint else 1)
    return Allocation(settings.table_size * n_actions, settings.tilings, slots_for(table_size) * (len(low) + 3))


def make(settings: Settings, low: Any, high: Any, n_actions: int) -> Coder:
    """Make a tile coder with an empty table.

    >>> coder = make(Settings(tilings=4, tiles=10, table_size=64), [0.0], [1.0], n_actions=2)
    >>> coder.size, coder.n_active
    (128, 4)
    """
    low, high = np.array(low, np.float64), np.array(high, np.float64)
    joint, clipped = settings.hashing == JOINT, settings.hashing == CLIPPED
    table_size = settings.table_size * (n_actions if joint else 1)
    slots = slots_for(table_size)
    return Coder(
        size=settings.table_size * n_actions,
        n_active=settings.tilings,
        n_actions=n_actions,
        joint=joint,
        least=0.0 if clipped else -FAR,
        most=float((settings.tiles - 1) * settings.tilings) if clipped else FAR,
        table_size=table_size,
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
def lookup(coder, s, xs):
    """Write what `encode` would, and leave the table as it is."""
    _encode(coder, s, xs, False)


@woven
@exact
def _encode(coder, s, xs, remember):
    keys, indices, count = coder.keys, coder.indices, coder.count  # outside of the loop, where it would cost most of it
    index, table_size, last = xs.index, coder.table_size, len(coder.indices) - 1
    key, rest = np.empty(keys.shape[1], np.int64), np.empty(len(s), np.int64)
    unseen, shared = 0, False
    for a in range(coder.n_actions if coder.joint else 1):
        key[-1] = a
        _first_tile(coder, s, key, rest)
        for tiling in range(coder.n_active):
            h = _hash(key)
            slot = _slot(keys, indices, key, h & last)
            tile = indices[slot]
            if tile < 0:
                tile = count[0] + unseen
                if tile >= table_size:
                    tile, shared = h % table_size, True
                elif remember:
                    _give(keys, indices, count, key, slot)
                else:
                    unseen += 1
            index[a, tiling] = tile
            _next_tile(coder.n_active, key, rest)
    if not coder.joint:
        _block(index, coder.n_actions)
    _values(coder.value, index, xs.value, shared)


@exact
def _first_tile(coder, s, key, rest):
    """The tile of the first tiling that s is in: floor(s in units / tilings), and the units that are left over.

    Clipped, a state in the last tile is at that tile's beginning, from where a shift of less than a tile leads nowhere
    else; whole tiles of shift are the same for all states.
    """
    n = coder.n_active
    key[0] = 0
    for i in range(len(s)):
        units = np.int64(
            min(max(np.floor((s[i] - coder.low[i]) * coder.tiles_per_unit[i] * n), coder.least), coder.most)
        )
        key[1 + i] = units // n
        rest[i] = units - key[1 + i] * n


@exact
def _next_tile(n, key, rest):
    """Move to the next of n tilings, shifted by 1, 3, 5, ... units: adding costs less than another division."""
    key[0] += 1
    for i in range(len(rest)):
        rest[i] += 2 * i + 1
        if rest[i] >= 2 * n:
            key[1 + i] += rest[i] // n
            rest[i] %= n
        elif rest[i] >= n:
            key[1 + i] += 1
            rest[i] -= n


@exact
def _slot(keys, indices, key, slot):
    """The slot of a tile, or the free one that it would get, starting from that of its hash."""
    last = len(indices) - 1  # slots are a power of two
    while indices[slot] >= 0:
        same = True
        for i in range(len(key)):
            same = same and keys[slot, i] == key[i]
        if same:
            break
        slot = (slot + 1) & last
    return slot


@exact
def _give(keys, indices, count, key, slot):
    """Assign the next free index to a tile."""
    for i in range(len(key)):
        keys[slot, i] = key[i]
    indices[slot] = count[0]
    count[0] += 1


@exact
def _consistent(coder):
    """Whether every tile of the table is found in its slot."""
    keys, indices = coder.keys, coder.indices
    last = len(indices) - 1
    for slot in range(len(indices)):
        if indices[slot] >= 0 and _slot(keys, indices, keys[slot], _hash(keys[slot]) & last) != slot:
            return False
    return True


@exact
def _hash(key):
    """A hash that is the same on every machine: Lehmer's generator, fed with the coordinates."""
    h = 1
    for i in range(len(key)):
        h = _modulo(_modulo(h + key[i]) * 48271)
    return h


@exact
def _modulo(x):
    """x modulo the prime 2^31 - 1, for |x| < 2^61: as 2^31 is 1 there, the bits above are added to the lowest 31."""
    x = (x & PRIME) + (x >> 31)
    if x < 0:
        return x + PRIME
    return x - PRIME if x >= PRIME else x


@exact
def _block(index, n_actions):
    """Make features of every action of the tiles in the first row, which is the last to change."""
    for a in range(n_actions - 1, -1, -1):
        for i in range(index.shape[1]):
            index[a, i] = index[0, i] * n_actions + a


@exact
def _values(one, index, value, shared):
    """Give each feature its value; one that is there already gets 0. Only tiles that share an index can be."""
    for a in range(index.shape[0]):
        for i in range(index.shape[1]):
            value[a, i] = one
            if shared:
                for j in range(i):
                    if index[a, j] == index[a, i]:
                        value[a, i] = 0.0
