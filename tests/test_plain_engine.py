"""Algorithms in plain Python (`COMPILED = False`): everything that works for compiled ones works for them."""

import copy
import pickle
from types import ModuleType

import numpy as np
import pytest

import my_agent
import my_network
import ucls
from ucls.algorithms import sarsa
from ucls.core.run import Run, make_run
from ucls.diagnostics import probed
from ucls.errors import UserError
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.runners.local import local_runner
from ucls.testing import check_algorithm, small_run

RIVER, SEA = "ucls/RiverSwim-v0", "ucls/DeepSea-v0"


def plain(algorithm):
    """A compiled algorithm as it is written, on the plain engine."""
    module = ModuleType("plain")
    functions = {name: getattr(part, "py_func", part) for name, part in vars(algorithm).items()}
    vars(module).update(functions, COMPILED=False, __name__="plain")
    return module


@pytest.mark.parametrize("env", [RIVER, pytest.param(SEA, marks=pytest.mark.slow)])
def test_the_example_fulfills_the_contract(env):
    check_algorithm("my_network", [env])


def test_a_compiled_algorithm_gives_the_same_run_on_the_plain_engine():
    one, other = small_run(RIVER, "sarsa", seed=4), small_run(RIVER, plain(sarsa), seed=4)
    assert np.array_equal(one.advance(500).rewards, other.advance(500).rewards)
    assert not hasattr(other.loop, "py_func")
    assert np.allclose(one.learner.state.w, other.learner.state.w, rtol=1e-12, atol=0.0)


def test_an_agent_can_be_copied_pickled_saved_and_loaded(tmp_path):
    agent = ucls.Agent(RIVER, "my_network", seed=1).learn(100)
    path = agent.save(tmp_path / "agent.safetensors")
    with pytest.raises(UserError, match="give its module"):
        ucls.Agent.load(path)
    others = [copy.deepcopy(agent), ucls.Agent.load(path, algorithm=my_network)]
    rewards = [one.learn(200).history.rewards for one in (agent, *others)]
    assert all(np.array_equal(rewards[0], other) for other in rewards[1:])
    again = pickle.loads(pickle.dumps(agent.learner))
    assert np.array_equal(again.interval(np.zeros(1))[0], agent.learner.interval(np.zeros(1))[0])


def test_a_checkpoint_holds_copies_of_the_arrays():
    run = small_run(RIVER, "my_network", seed=1)
    run.advance(50)
    saved, steps = run.checkpoint(), run.steps
    expected = run.advance(100).rewards
    run.restore(saved, steps)
    assert np.array_equal(run.advance(100).rewards, expected)


@pytest.mark.parametrize(
    "spoil", [lambda w: w[:-1], lambda w: w * np.nan, lambda w: w.astype("U5")], ids=["shape", "nan", "text"]
)
def test_arrays_that_do_not_fit_are_refused_and_change_nothing(spoil):
    run = small_run(RIVER, "my_network", seed=1)
    run.advance(50)
    saved = run.checkpoint()
    with pytest.raises(UserError, match="checkpoint"):
        run.restore({**saved, "state.W1": spoil(saved["state.W1"])}, run.steps)
    assert all(np.array_equal(array, run.checkpoint()[name]) for name, array in saved.items())


def test_a_state_that_cannot_be_saved_is_refused_when_the_learner_is_made():
    module = ModuleType("forgetful")
    vars(module).update(
        {**vars(my_network), "to_arrays": lambda state: {"n": state.n_updates}, "__name__": "forgetful"}
    )
    with pytest.raises(UserError, match=r"to_arrays returned 'n' of type int"):
        make_run(RIVER, module)


def test_an_exception_in_an_algorithm_ends_the_run():
    module, calls = ModuleType("faulty"), []

    def update(*arguments):
        calls.append(1)
        if len(calls) == 40:
            raise RuntimeError("out of luck")
        my_network.update(*arguments)

    vars(module).update({**vars(my_network), "update": update, "__name__": "faulty"})
    run = small_run(RIVER, module, seed=1)
    with pytest.raises(RuntimeError, match="out of luck"):
        run.advance(100)
    assert run.steps == 39
    with pytest.raises(UserError, match="diverged"):
        run.checkpoint()


def test_studies_run_it(tmp_path):
    cells = make_run_specs(RIVER, "my_network", steps=200, seeds=range(2))
    study = Study("plain", tuple(Member("network", cell) for cell in cells))
    with Store(tmp_path / "study.sqlite", write=True) as store:
        run_study(store, study, local_runner(1), quiet=True)
        rows = store.rows("plain")
    assert [row.status for row in rows] == ["done", "done"]


def test_its_optimism_can_be_measured():
    runs = [small_run(RIVER, module, seed=1) for module in ("my_agent", plain(my_agent))]
    one, other = (probed(run, 200, measurements=2)[1] for run in runs)
    assert other["step"].tolist() == [0, 50, 200]
    assert all(np.allclose(one[name], other[name], equal_nan=True) for name in one)


def test_a_run_on_the_plain_engine_is_loaded_with_its_module_alone(tmp_path):
    run = small_run(RIVER, "my_network", seed=2)
    run.advance(30)
    again = Run.load(run.save(tmp_path / "run.safetensors"), my_network)
    assert np.array_equal(run.advance(50).rewards, again.advance(50).rewards)
