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
from ucls.diagnostics import probe_run
from ucls.errors import UserError
from ucls.kernels import Active, jit
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.runners.local import local_runner
from ucls.testing import check_algorithm, small_run
from ucls.testing.algorithm import says_what_memory_it_takes

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
    others = [copy.deepcopy(agent), *(ucls.Agent.load(path, algorithm=given) for given in (my_network, "my_network"))]
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
    one, other = (probe_run(run, 200, measurements=2)[1] for run in runs)
    assert other["step"].tolist() == [0, 50, 200]
    assert all(np.allclose(one[name], other[name], equal_nan=True) for name in one)


def test_a_run_on_the_plain_engine_is_loaded_with_its_module_alone(tmp_path):
    run = small_run(RIVER, "my_network", seed=2)
    run.advance(30)
    again = Run.load(run.save(tmp_path / "run.safetensors"), my_network)
    assert np.array_equal(run.advance(50).rewards, again.advance(50).rewards)


def variant(algorithm, **parts):
    """An algorithm with other functions."""
    module = ModuleType("variant")
    vars(module).update({**vars(algorithm), **parts, "__name__": "variant"})
    return module


def test_learned_features_are_those_of_the_network_as_it_is_now():
    """Between two questions about one state the network is changed: the second answer is that of the new one."""
    run = small_run(RIVER, "my_network", seed=1)
    run.advance(50)
    state, s = run.learner.state, np.array([0.3])
    inputs = np.array([0.3])  # scaled from [0, 1]
    for _ in range(2):
        expected = state.weights[2] @ state.hidden(inputs)
        assert np.allclose(run.learner.interval(s)[0], expected, rtol=1e-12)
        assert run.learner.choices(np.tile(s, (200, 1))).mean() == pytest.approx(np.argmax(expected), abs=0.2)
        state.weights[0][:] *= 0.5
        state.weights[2][:] *= -1.0


@jit
def halves(state, hyper, x):
    """The features at half their values: learned features that never change."""
    return Active(x.index, 0.5 * x.value)


@pytest.mark.parametrize("engine", ["compiled", "plain"])
def test_features_are_encoded_wherever_an_algorithm_is_asked(engine):
    """Sarsa with halved features in `act` and `value`, and what they are halved from in `update`."""
    base = sarsa if engine == "compiled" else plain(sarsa)
    encode = halves if engine == "compiled" else halves.py_func
    one, other = small_run(RIVER, base, seed=4), small_run(RIVER, variant(base, encode=encode), seed=4)
    for run in (one, other):
        run.advance(1)
    other.learner.restore(one.learner.checkpoint())
    s = np.array([0.4])
    assert np.allclose(2.0 * other.learner.interval(s)[0], one.learner.interval(s)[0], rtol=1e-12)
    assert np.array_equal(other.learner.pending.xs.value, one.learner.pending.xs.value)


def test_learned_features_of_unequal_number_are_refused():
    def encode(state, hyper, x):
        learned = my_network.encode(state, hyper, x)
        return Active(learned.index, learned.value) if x.index[0] % 2 else Active(learned.index[1:], learned.value[1:])

    with pytest.raises(ValueError, match="as many features for every action"):
        small_run(RIVER, variant(my_network, encode=encode)).advance(1)
    with pytest.raises(UserError, match="`encode` and `prior_fraction`"):
        small_run(RIVER, variant(sarsa, encode=halves, prior_fraction=halves))


def test_a_run_whose_data_would_outgrow_the_memory_is_refused_before_it_begins():
    def allocation_at(hyper, size, n_actions, n_active, steps):
        return 10**9 * steps

    module = variant(my_network, allocation_at=allocation_at)
    run, agent = small_run(RIVER, module), ucls.Agent(RIVER, module)
    for refused in (lambda: run.advance(10**6), lambda: agent.learn(10**6)):
        with pytest.raises(UserError, match=r"after 1,000,000 steps needs .* GB of memory"):
            refused()
    assert run.steps == agent.steps == 0


@pytest.mark.parametrize("name", ["allocation", "allocation_at"])
def test_an_algorithm_that_takes_more_memory_than_it_says_breaks_the_contract(name):
    module = variant(my_network, **{name: lambda hyper, size, n_actions, n_active, steps=0: 10})
    with pytest.raises(UserError, match="more than the 10 of allocation"):
        says_what_memory_it_takes(module, RIVER)
