"""Large matrices are stored as the block that something was learned of, and come back bit for bit."""

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import ucls
from support.params import SOLO, always
from ucls.agent.agent import Agent
from ucls.core.run import Run, suits_env
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.kernels.ranges import INFINITE, Grows, Sizes
from ucls.testing import small_run

RIVER = "ucls/RiverSwim-v0"

SIZES = Sizes(40, 2)


class Kept(NamedTuple):
    M: Annotated[Any, INFINITE]


class Growing(NamedTuple):
    M: Annotated[Any, Grows(0)]


@pytest.fixture
def trim_all(monkeypatch):
    monkeypatch.setattr(checkpoint, "TRIMMED", 1)


def matrices():
    rng = np.random.default_rng(0)
    seen = np.zeros((40, 40))
    seen[:7, :5] = rng.normal(size=(7, 5))
    prior = np.full((40, 40), -0.0)
    np.fill_diagonal(prior, 0.25)
    prior[3, 9], prior[9, 9] = 0.0, -1.0
    stack = np.zeros((3, 40, 40), np.float32)
    stack[:, range(40), range(40)] = 2.0
    stack[1, 4, 6] = np.inf
    wide = np.zeros((4, 80))
    wide[2, 11] = 1.0
    return {
        "zeros": np.zeros((40, 40)),
        "block": seen,
        "transposed": np.asfortranarray(seen),
        "strided": np.repeat(seen, 2, axis=1)[:, ::2],
        "negative zeros and a diagonal": prior,
        "stack": stack,
        "wide": wide,
        "integers": np.where(seen != 0, 3, -1),
        "flags": seen > 0,
        "last entry": np.eye(40)[::-1].copy(),
        "dense": rng.normal(size=(40, 40)),
    }


@pytest.mark.usefixtures("trim_all")
@pytest.mark.parametrize("kind", matrices())
def test_a_trimmed_matrix_comes_back_bit_for_bit(kind):
    M = matrices()[kind]
    arrays = checkpoint.flatten("state", Kept(M), trim=True)
    again = checkpoint.rebuild(
        "state", Kept(np.zeros_like(M)), checkpoint.from_bytes(checkpoint.to_bytes(arrays))[1], SIZES
    )
    assert again.M.tobytes() == np.ascontiguousarray(M).tobytes()
    assert again.M.shape == M.shape
    stored = sum(array.size for array in arrays.values())
    assert stored == M.size if kind in ("last entry", "dense") else stored < M.size / 2
    assert not any(np.shares_memory(array, M) for array in arrays.values())


def test_small_arrays_and_arrays_that_grow_are_stored_whole():
    assert list(checkpoint.flatten("state", Kept(np.zeros((40, 40))), trim=True)) == ["state.M"]
    assert list(checkpoint.flatten("state", Growing(np.zeros((400, 400))), trim=True)) == ["state.M"]
    assert list(checkpoint.flatten("state", Kept(np.zeros((400, 400))))) == ["state.M"]


@pytest.mark.usefixtures("trim_all")
@pytest.mark.parametrize(
    "change",
    [
        {"state.M": np.zeros((41, 1))},
        {"state.M": np.zeros((40, 41))},
        {"state.M": np.zeros((1, 1, 1))},
        {"state.M": np.zeros(7)},
        {"state.M": np.zeros((2, 2), np.float32)},
        {"state.M@beyond": np.zeros(2, np.float32)},
        {"state.M@beyond": np.zeros(3)},
        {"state.M@beyond": np.zeros((1, 2))},
        {"state.M@beyond": np.array([0.0, np.nan])},
    ],
)
def test_a_block_that_cannot_be_one_is_refused(change):
    arrays = checkpoint.flatten("state", Kept(np.zeros((40, 40))), trim=True)
    with pytest.raises(UserError, match=r"does not fit|must be"):
        checkpoint.rebuild("state", Kept(np.zeros((40, 40))), {**arrays, **change}, SIZES)


def test_a_block_without_what_is_beyond_it_or_of_an_array_that_grows_is_refused():
    block = {"state.M": np.zeros((2, 2))}
    with pytest.raises(UserError, match="does not fit"):
        checkpoint.rebuild("state", Kept(np.zeros((40, 40))), block, SIZES)
    with pytest.raises(UserError, match="does not fit"):
        checkpoint.rebuild("state", Growing(np.zeros((40, 40))), {**block, "state.M@beyond": np.zeros(2)}, SIZES)


@pytest.mark.usefixtures("trim_all")
@pytest.mark.parametrize("agent", SOLO)
@pytest.mark.parametrize("env", always({RIVER}, [RIVER, "ucls/PuddleWorld-v0", "ucls/DeepSea-v0"]))
def test_a_run_resumes_bit_for_bit_from_trimmed_matrices(agent, env, tmp_path):
    env = env if suits_env(agent, env) else "ucls/OneState-v0"
    run = small_run(env, agent, seed=4)
    run.advance(40)
    again = Run.load(run.save(tmp_path / "run.safetensors"))
    whole = small_run(env, agent, seed=4)
    whole.restore({**run.checkpoint(), **_untrimmed(run)}, 40)
    happened = run.advance(300)
    for other in (again, whole):
        resumed = other.advance(300)
        assert resumed.rewards.tobytes() == happened.rewards.tobytes()
        assert checkpoint.to_bytes(other.checkpoint()) == checkpoint.to_bytes(run.checkpoint())


def _untrimmed(run):
    """Arrays as files had them before matrices were trimmed; what is beyond a block is not in them."""
    arrays = checkpoint.flatten("state", run.learner.state)
    return {**dict.fromkeys(name + checkpoint.BEYOND for name in arrays), **arrays}


def test_the_file_of_an_agent_that_has_seen_little_is_small(tmp_path):
    agent = Agent("MountainCar-v0", "ucls-exact").learn(100)
    path = agent.save(tmp_path / "agent.safetensors")
    assert agent.learner.state.C.M.nbytes > 30e6
    assert path.stat().st_size < 1e6
    again = Agent.load(path)
    assert again.learner.state.inverse.M.tobytes() == agent.learner.state.inverse.M.tobytes()
    assert checkpoint.load(path)[0]["format"] == 3


def test_files_with_nothing_to_trim_or_pack_can_be_read_by_earlier_versions(tmp_path):
    path = ucls.make_run("ucls/OneState-v0", "sarsa").save(tmp_path / "run.safetensors")
    assert checkpoint.load(path)[0]["format"] == 1


def test_a_learner_too_large_for_a_small_file_is_stored_whole(monkeypatch, tmp_path):
    monkeypatch.setattr("ucls.core.learner.SPARE", 2**20)
    monkeypatch.setattr("ucls.core.memory.SPARE", 2**20)
    run = ucls.make_run("ucls/PuddleWorld-v0", settings={"tilings": 4, "tiles": 4})
    run.advance(5)
    assert not any(name.endswith(checkpoint.BEYOND) for name in run.checkpoint())
    assert Run.load(run.save(tmp_path / "run.safetensors")).steps == 5
