"""Arrays in files take fewer bytes, and come back bit for bit; what cannot have been packed is refused."""

import numpy as np
import pytest

from ucls import Agent
from ucls.core.saving import checkpoint, packing
from ucls.errors import UserError


def arrays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 40))
    M = np.stack([np.linalg.inv(X.T @ X), X.T @ X])
    M[0, 3, 9] = np.nextafter(M[0, 3, 9], np.inf)
    M[1, 5, 7], M[1, 7, 5] = -0.0, 0.0
    return {
        "matrices": M,
        "single": np.tile(M[0].astype(np.float32), 3),
        "rows": np.repeat(rng.integers(0, 9, (50, 4)), 2, axis=1)[:, ::2],
        "spare": np.concatenate([rng.normal(size=50), np.full(500, -0.0), [np.inf, np.nan]]),
        "flags": rng.integers(0, 2, 2000).astype(np.uint8),
        "noise": rng.normal(size=500),
        "small": np.zeros(3),
        "empty": np.zeros((0, 2000)),
    }


def same(one, other):
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == np.ascontiguousarray(other).tobytes()
    )


def test_packed_arrays_come_back_bit_for_bit(tmp_path):
    given = arrays()
    how, packed = packing.pack(given)
    assert set(how) == {"matrices", "single", "rows", "spare", "flags"}
    assert [name for name, (_, _, folded) in how.items() if folded] == ["matrices"]
    about, found = checkpoint.load(checkpoint.save(tmp_path / "file.safetensors", {"a": 1}, given))
    assert about == {"a": 1, "format": 3}
    assert all(same(found[name], array) for name, array in given.items())
    assert packed["matrices"].nbytes < 0.62 * given["matrices"].nbytes
    assert packed["spare"].nbytes < 0.2 * given["spare"].nbytes


@pytest.mark.parametrize(
    "change",
    [
        {"rows": ["<i8", [50, 5], False]},
        {"rows": ["<i8", [50, 3], False]},
        {"rows": ["<i8", [-50, -4], False]},
        {"rows": ["<i8", [50, 4.0], False]},
        {"rows": ["<i8", [2**40, 4], False]},
        {"rows": ["<i8", [], False]},
        {"rows": ["|O8", [50, 4], False]},
        {"rows": ["<f8", [50, 4], True]},
        {"rows": ["<i8", [50, 4]]},
        {"rows": None},
        {"noise": ["<f8", [500], False]},
        {"missing": ["<f8", [500], False]},
        [],
        "rows",
    ],
)
def test_what_cannot_have_been_packed_is_refused_in_one_line(change):
    how, packed = packing.pack(arrays())
    how = {**how, **change} if isinstance(change, dict) else change or [1]
    with pytest.raises(UserError, match="agent is corrupted: what it says about its packed arrays") as error:
        packing.unpack(how, packed, "agent")
    assert "\n" not in str(error.value)


def test_no_more_than_the_limit_is_packed_or_unpacked(monkeypatch):
    given = {name: np.zeros(2000) for name in "abc"}
    how, packed = packing.pack(given)
    monkeypatch.setattr(packing, "LIMIT", 40_000)
    with pytest.raises(UserError, match="corrupted"):
        packing.unpack(how, packed, "agent")
    how, packed = packing.pack(given)
    assert set(how) == {"a", "b"}
    assert same(packing.unpack(how, packed, "agent")["c"], given["c"])


def test_the_file_of_an_agent_has_no_empty_capacity(tmp_path):
    agent = Agent("FrozenLake-v1", "ucls-exact", seed=0).learn(200)
    assert agent.save(tmp_path / "agent").stat().st_size < 30_000
    agent = Agent("MountainCar-v0", "ucls-exact", seed=0).learn(20)
    assert agent.save(tmp_path / "agent").stat().st_size < 60_000
