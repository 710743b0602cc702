"""The tile coder against a description of tiles3 in plain Python: offsets, first-visit numbering, overflow."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucls.features import tiles
from ucls.kernels import active as la
from ucls.settings import resolve


class Tiles3:
    """Tile coding with an index table, as its public description has it.

    Floats are multiplied by the number of tilings and floored; tiling t shifts dimension i by t(2i + 1) of these units;
    the coordinates are the shifted units divided by the number of tilings. A tile seen for the first time is numbered
    next, until the table is full.
    """

    def __init__(self, memory):
        self.memory, self.table = memory, {}

    def coordinates(self, n_tilings, floats):
        units = [math.floor(f * n_tilings) for f in floats]
        for t in range(n_tilings):
            yield (t, *((unit + t * (2 * i + 1)) // n_tilings for i, unit in enumerate(units)))

    def number(self, tile):
        """The index of a tile, or None where a hash must say."""
        if tile not in self.table and len(self.table) < self.memory:
            self.table[tile] = len(self.table)
        return self.table.get(tile)


def hash_by_hand(tile, memory):
    """The published hash: a Lehmer generator fed with the coordinates, on integers without bounds."""
    h = 1
    for coordinate in tile:
        h = ((h + coordinate) % (2**31 - 1)) * 48271 % (2**31 - 1)
    return h % memory


def make(n_actions=2, low=(0.0, 0.0), high=(1.0, 1.0), **given):
    return tiles.make(resolve(tiles.Settings, given), low, high, n_actions)


def encode(coder, s, function=tiles.encode):
    xs = la.no_features(coder.n_actions, coder.n_active)
    function(coder, np.array(s, np.float64), xs)
    return xs


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-0.2, 1.2)), min_size=1, max_size=40),
    st.integers(1, 7),
    st.integers(1, 6),
    st.sampled_from([5, 30, 400]),
)
def test_indices_are_those_of_tiles3(states, n_tilings, n_tiles, memory):
    coder = make(3, tilings=n_tilings, tiles=n_tiles, table_size=memory)
    table = Tiles3(memory)
    for s in states:
        expected = []
        for tile in table.coordinates(n_tilings, [x * n_tiles for x in s]):
            number = table.number(tile)
            expected.append(hash_by_hand(tile, memory) if number is None else number)
        xs = encode(coder, s)
        for a in range(3):
            assert list(xs.index[a]) == [3 * tile + a for tile in expected]
    assert coder.count[0] == len(table.table)


@pytest.mark.parametrize("n_tilings", [1, 2, 3, 16])
def test_tiles_of_many_dimensions_are_those_of_tiles3(n_tilings):
    """Where a shift is longer than a tile, and on either side of 0."""
    coder, table = make(1, (0.0,) * 6, (1.0,) * 6, tilings=n_tilings, tiles=3, table_size=4000), Tiles3(4000)
    for s in np.random.default_rng(3).uniform(-2, 2, size=(60, 6)):
        expected = [table.number(tile) for tile in table.coordinates(n_tilings, 3 * s)]
        assert encode(coder, s).index[0].tolist() == expected


@settings(deadline=None)
@given(st.integers(-(2**60), 2**60))
def test_the_remainder_without_a_division_is_the_remainder(x):
    assert tiles._modulo(x) == x % (2**31 - 1)


def test_known_tiles_by_hand():
    """Two tilings of one dimension with two tiles: the second is shifted by half a tile."""
    coder = make(1, (0.0,), (1.0,), tilings=2, tiles=2, table_size=10)
    first_visits = [(0.0, [0, 1]), (0.2, [0, 1]), (0.25, [0, 2]), (0.5, [3, 2]), (0.75, [3, 4])]
    for s, expected in first_visits:
        assert list(encode(coder, [s]).index[0]) == expected


@pytest.mark.parametrize(
    ("profile", "bounds", "distinct"),
    [
        ({"tilings": 32, "tiles": 4, "table_size": 1024}, ((0.0,), (1.0,)), 160),
        ({"tilings": 4, "tiles": 32, "table_size": 1024}, ((0.0,), (1.0,)), 132),
        ({"tilings": 5, "tiles": 5, "table_size": 1024}, ((0.0, 0.0), (1.0, 1.0)), 180),
    ],
)
def test_number_of_distinct_tiles_of_the_papers_profiles(profile, bounds, distinct):
    coder = make(1, *bounds, **profile)
    axes = [np.linspace(low, high, 161) for low, high in zip(*bounds, strict=True)]
    for s in np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(axes)):
        encode(coder, s)
    assert coder.count[0] == distinct


def test_a_feature_hit_twice_is_one_feature():
    coder = make(2, (0.0,), (1.0,), tilings=16, tiles=4, table_size=6)
    twice = 0
    for s in np.linspace(0, 1, 50):
        xs = encode(coder, [s])
        for a in range(2):
            active = xs.index[a][xs.value[a] > 0]
            assert sorted(active) == sorted(set(xs.index[a]))
            assert set(xs.value[a]) <= {0.0, 1 / 16}
        twice += (xs.value[0] == 0).sum()
    assert twice > 0


@pytest.mark.parametrize(("name", "value"), [("1/n", 1 / 9), ("1/sqrt_n", 1 / 3), ("1", 1.0)])
def test_feature_value(name, value):
    assert (encode(make(tilings=9, feature_value=name), [0.5, 0.5]).value == value).all()


@pytest.mark.parametrize("hashing", ["blocks", "joint", "clipped"])
def test_look_gives_what_encode_would_and_remembers_nothing(hashing):
    coder = make(2, tilings=4, tiles=3, table_size=20, hashing=hashing)
    for s in np.random.default_rng(0).uniform(size=(40, 2)):
        before = [coder.keys.copy(), coder.indices.copy(), coder.count.copy()]
        seen = encode(coder, s, tiles.lookup)
        for kept, now in zip(before, [coder.keys, coder.indices, coder.count], strict=True):
            assert np.array_equal(kept, now)
        xs = encode(coder, s)
        assert np.array_equal(seen.index, xs.index)
        assert np.array_equal(seen.value, xs.value)


def test_blocks_are_disjoint_and_what_was_seen_is_a_leading_block():
    coder = make(3, tilings=4, tiles=5, table_size=200)
    seen = set()
    for s in np.random.default_rng(1).uniform(size=(60, 2)):
        xs = encode(coder, s)
        for a in range(3):
            assert set(xs.index[a] % 3) == {a}
        seen |= set(xs.index.ravel().tolist())
        assert seen == set(range(3 * coder.count[0]))


def test_joint_hashing_numbers_state_and_action_together():
    coder = make(3, tilings=4, tiles=5, table_size=50, hashing="joint")
    assert encode(coder, [0.1, 0.1]).index.ravel().tolist() == list(range(12))
    assert coder.size == 150


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-0.5, 1.5), st.floats(-0.5, 1.5)), min_size=1, max_size=40),
    st.integers(1, 7),
    st.integers(1, 6),
)
def test_clipped_tiles_are_shifted_by_less_than_a_tile_and_end_at_the_borders(states, n_tilings, n_tiles):
    coder = make(1, tilings=n_tilings, tiles=n_tiles, table_size=400, hashing="clipped")
    table = Tiles3(400)
    for s in states:
        units = [math.floor(x * n_tiles * n_tilings) for x in s]
        expected = []
        for t in range(n_tilings):
            shifted = [(unit + t * (2 * i + 1) % n_tilings) // n_tilings for i, unit in enumerate(units)]
            expected.append(table.number((t, *(min(max(at, 0), n_tiles - 1) for at in shifted))))
        assert encode(coder, s).index[0].tolist() == expected


@pytest.mark.parametrize(
    ("profile", "dimensions", "printed"),
    [
        ({"tilings": 8, "tiles": 8}, 2, 512),
        ({"tilings": 32, "tiles": 4}, 1, 128),
        ({"tilings": 4, "tiles": 32}, 1, 128),
        ({"tilings": 5, "tiles": 5}, 2, 128),
    ],
)
def test_the_printed_memories_have_room_for_clipped_tiles(profile, dimensions, printed):
    coder = make(1, (0.0,) * dimensions, (1.0,) * dimensions, **profile, table_size=printed, hashing="clipped")
    axes = [np.linspace(0, 1, 161)] * dimensions
    for s in np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, dimensions):
        encode(coder, s)
    assert coder.count[0] == profile["tilings"] * profile["tiles"] ** dimensions <= printed
    assert tiles.notices(coder, resolve(tiles.Settings, {**profile, "table_size": printed, "hashing": "clipped"})) == []


def test_hash_spreads_tiles_evenly():
    memory = 128
    hits = np.zeros(memory)
    for t in range(8):
        for i in range(40):
            for j in range(40):
                hits[tiles._hash(np.array([t, i, j])) % memory] += 1
    chi2 = ((hits - hits.mean()) ** 2 / hits.mean()).sum()
    assert chi2 < memory + 5 * math.sqrt(2 * memory)


def test_states_far_outside_the_bounds_have_tiles_too():
    coder = make(1, (0.0,), (1.0,), table_size=64)
    for s in (-1e300, -5.0, 7.0, 1e300):
        index = encode(coder, [s]).index
        assert ((index >= 0) & (index < 64)).all()


@pytest.mark.parametrize("hashing", ["blocks", "clipped"])
def test_compiled_and_plain_python_encode_alike(hashing):
    compiled, plain = (make(2, tilings=4, tiles=3, table_size=20, hashing=hashing) for _ in range(2))
    for s in np.random.default_rng(2).uniform(size=(30, 2)):
        xs = la.no_features(2, 4)
        tiles._encode.py_func(plain, s, xs, True)
        assert np.array_equal(encode(compiled, s).index, xs.index)
