"""The compiled loop: ends of episodes, settings and names; what holds for every agent is in test_contract.py."""

import copy
import importlib
import signal
import sys
from types import ModuleType

import gymnasium
import numpy as np
import pytest

from ucls import Agent
from ucls.algorithms import ALGORITHMS, algorithm_module, dgpq, rlsvi, sarsa
from ucls.core import protocol
from ucls.core.calls import past
from ucls.core.history import TERMINATED, TRUNCATED, History, join
from ucls.core.protocol import AnyRun, in_chunks
from ucls.core.run import make_run
from ucls.errors import Terminated, UserError
from ucls.features import features_module
from ucls.train.signals import stopping

GROWING = ("dgpq", "rlsvi")  # arrays of theirs get longer


def test_truncation_bootstraps():
    """Seen in A, the average of z (x - gamma x')'; that termination does not is part of every oracle test."""
    truncated = make_run("ucls/OneState-v0", "ucls", settings={"discount": 0.5, "time_limit": 1})
    assert (truncated.advance(50).ends == TRUNCATED).all()
    A = truncated.learner.state.system.At * truncated.learner.state.system.scale[0]
    trace_of_A = 0.001 * (1 - 0.999**50) / 0.001
    # each step adds x - 0.5 x', and both belong to the one state: entries sum to half of what x alone would give
    assert A.sum() == pytest.approx(0.5 * trace_of_A)


def test_an_episode_that_ends_is_counted_with_its_length_and_return():
    history = History(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0, TERMINATED, 0, TRUNCATED, 0]))
    assert history.episode_steps.tolist() == [2, 2]
    assert history.episode_returns.tolist() == [3.0, 7.0]
    assert history.final_reward_per_step == 5.0
    assert History(np.zeros(0), np.zeros(0)).final_reward_per_step == 0.0


def test_the_state_after_termination_is_not_encoded():
    narrow = {"tilings": 1, "tiles": 200, "table_size": 300, "goal_position": -0.39, "time_limit": 0}
    run = make_run("ucls/MountainCar-v0", "ucls", seed=1, settings=narrow)
    happened = run.advance(3000)
    assert (happened.ends == TERMINATED).sum() > 3
    coder = run.learner.coder
    reached = run.world.bounds()[0][0] + (coder.keys[coder.indices >= 0][:, 1]) / coder.tiles_per_unit[0]
    assert reached.max() <= -0.39


def test_float32_is_a_setting():
    run = make_run("ucls/RiverSwim-v0", "sarsa", dtype="float32")
    assert not run.advance(200).diverged
    assert run.learner.state.w.dtype == np.float32
    with pytest.raises(UserError, match="float64, float32"):
        make_run("ucls/RiverSwim-v0", "ucls", dtype="float16")


def test_settings_find_their_owner_and_unknown_ones_are_named():
    run = make_run("ucls/RiverSwim-v0", "ucls", settings={"p": 0.5, "tilings": 3, "noise_std": 0.0, "agent.beta": 0.01})
    assert run.learner.hyper.p == 0.5
    assert run.learner.hyper.trace_threshold == run.learner.hyper.beta == 0.01
    assert run.learner.coder.n_active == 3
    assert run.world.settings["noise_std"] == 0.0
    with pytest.raises(UserError, match="did you mean 'beta'"):
        make_run("ucls/RiverSwim-v0", "ucls", settings={"betta": 1})


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UserError, match="did you mean 'ucls/RiverSwim-v0'"):
        make_run("ucls/RiverSwin-v0", "ucls")
    with pytest.raises(UserError, match="did you mean 'ucls'"):
        make_run("ucls/RiverSwim-v0", "ulcs")
    with pytest.raises(UserError, match="did you mean 'tiles'"):
        features_module("tile")


def test_loop_and_shell_make_the_same_plan_and_settings_are_read_once(monkeypatch):
    from ucls.core import config as plans

    read = []
    resolve = plans.resolve
    monkeypatch.setattr(plans, "resolve", lambda cls, *given: read.append(cls) or resolve(cls, *given))
    asked = {"tilings": 3, "epsilon": 0.2, "initial_value": "return_max"}
    run = make_run("ucls/PuddleWorld-v0", sarsa, seed=4, settings=asked)
    assert len(read) == len(set(read)) == 2
    shell = Agent("ucls/PuddleWorld-v0", "ucls.algorithms.sarsa", seed=4, **asked)
    assert run.learner.plan == shell.learner.plan
    assert run.learner.plan.agent == "sarsa"


@pytest.mark.parametrize(
    "make", [lambda: make_run("ucls/OneState-v0", sarsa, seed=3), lambda: Agent("ucls/OneState-v0", sarsa, seed=3)]
)
def test_a_run_of_either_kind_goes_in_chunks_back_and_on_bit_for_bit(make):
    run: AnyRun = make()
    parts = [chunk.part for chunk in in_chunks(run, 120, seconds=0.0)]
    assert [len(part.rewards) for part in parts] == [1] * 120
    saved, about = copy.deepcopy(run.checkpoint()), run.about()
    assert (run.steps, run.world and run.world.id, about["steps"]) == (120, "ucls/OneState-v0", 120)
    rest = run.advance(30)
    run.restore(saved, 120)
    assert run.steps == 120
    assert np.array_equal(run.advance(30).rewards, rest.rewards)
    whole = make().advance(150)
    assert np.array_equal(whole.rewards, join([*parts, rest]).rewards)


@pytest.mark.parametrize(
    "make", [lambda: make_run("ucls/OneState-v0", sarsa, seed=3), lambda: Agent("ucls/OneState-v0", sarsa, seed=3)]
)
def test_a_checkpoint_is_a_copy_that_learning_does_not_change(make):
    run = make()
    run.advance(50)
    saved = run.checkpoint()
    before = copy.deepcopy(saved)
    rest = run.advance(80)
    assert all(np.array_equal(saved[name], before[name]) for name in before)
    run.restore(saved, 50)
    assert np.array_equal(run.advance(80).rewards, rest.rewards)
    for array in saved.values():
        array[...] = 0
    assert run.checkpoint()["state.w"].any()


@pytest.mark.parametrize("agent", ["sarsa", *GROWING])
@pytest.mark.parametrize("make", [make_run, lambda env, agent, **more: Agent(env, agent, **more)])
def test_one_checkpoint_serves_as_often_as_it_is_restored_whatever_was_learned_since(make, agent, monkeypatch):
    monkeypatch.setattr(dgpq, "CAPACITY", 1)
    monkeypatch.setattr(rlsvi, "CELLS", 8)
    monkeypatch.setattr(rlsvi, "MOVES", 8)
    small = {} if agent == "dgpq" else {"tilings": 3, "tiles": 3, "table_size": 48}
    run = make("ucls/RiverSwim-v0", agent, seed=3, settings=small)
    run.advance(4)
    saved = run.checkpoint()
    before, sizes = copy.deepcopy(saved), _lengths(run)
    rest = [run.advance(500) for _ in range(2)]
    assert agent not in GROWING or _lengths(run) != sizes
    for _ in range(2):
        run.restore(saved, 4)
        assert run.steps == 4
        again = run.checkpoint()
        assert again.keys() == saved.keys()
        assert all(again[name].tobytes() == before[name].tobytes() for name in before)
        assert not any(np.shares_memory(saved[name], array) for name, array in _parts(run).items())
        assert [part.rewards.tobytes() for part in rest] == [run.advance(500).rewards.tobytes() for _ in range(2)]
        assert all(saved[name].tobytes() == before[name].tobytes() for name in before)


def _parts(run):
    me = run.learner
    parts = {"coder": me.coder, "state": me.state, "pending": me.pending}
    flat = [(f"{name}.{field}", part) for name, part in parts.items() for field, part in part._asdict().items()]
    return {name: part for name, part in flat if isinstance(part, np.ndarray)}


def _lengths(run):
    return {name: array.shape for name, array in run.checkpoint().items()}


@pytest.mark.parametrize("error", [ZeroDivisionError, np.linalg.LinAlgError])
def test_arithmetic_that_fails_ends_a_run_before_the_step_at_which_it_did(error):
    run, shell = (make("ucls/OneState-v0", sarsa, seed=3) for make in (make_run, Agent))
    advance, calls = shell.learner._advance, []

    def loop(*parts):
        parts[-2][:3] = 1.0
        raise error("singular")

    def fail(*parts):
        calls.append(1)
        if len(calls) == 4:
            raise error("singular")
        return advance(*parts)

    run.loop, shell.learner._advance = loop, fail
    assert [len(each.advance(10).rewards) for each in (run, shell)] == [3, 3]
    assert (run.steps, shell.steps, run.diverged, shell.diverged) == (3, 3, True, True)
    with pytest.raises(UserError, match="have diverged"):
        shell.checkpoint()


def failing(at, error):
    """Sarsa in plain Python that fails at an update, or when an episode begins, with half of its work done."""
    module, calls = ModuleType("failing"), []

    def fail(state):
        calls.append(1)
        if len(calls) == at:
            state.w[:] = 7.0
            raise error("singular")

    def start(state, hyper, rng):
        fail(state)
        rng.random()
        return sarsa.start.py_func(state, hyper, rng)

    def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
        fail(state)
        rng.random()
        return sarsa.update.py_func(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)

    functions = {name: getattr(part, "py_func", part) for name, part in vars(sarsa).items()}
    own = {"start": start, "update": update, "COMPILED": False, "CAN_FAIL": True, "__name__": "failing", "calls": calls}
    vars(module).update({**functions, **own})
    return module


@pytest.mark.parametrize("make", [make_run, Agent])
@pytest.mark.parametrize("share", [past.SHARE, 0], ids=["few copies", "many copies"])
@pytest.mark.parametrize("at", [1, 12, 14, 58])  # episodes of ten steps begin with calls 1 and 12
def test_a_run_that_can_fail_ends_as_it_was_before_the_step(make, share, at, monkeypatch):
    monkeypatch.setattr(past, "SHARE", share)
    modules = [failing(call, np.linalg.LinAlgError) for call in (at, -1)]
    run, twin = (make("ucls/DeepSea-v0", module, seed=3) for module in modules)
    found = [run.advance(n) for n in (20, 100) if not run.diverged]
    assert run.diverged
    assert sum(len(part.rewards) for part in found) == run.steps
    twin.advance(run.steps)
    assert len(modules[1].calls) == at - 1
    one, other = run.learner.checkpoint(), twin.learner.checkpoint()
    assert all(np.array_equal(one[name], other[name]) for name in other)
    if make is make_run:
        assert (run.s.tolist(), run.clock[0]) == (twin.s.tolist(), twin.clock[0])
        assert run.world_rng.bit_generator.state == twin.world_rng.bit_generator.state
    with pytest.raises(UserError, match="have diverged"):
        run.checkpoint()


CALLS = {
    "a name": "from ucls.kernels import solve\ndef update(A, b): return solve(A, b)",
    "kernels": "from ucls import kernels\n@kernels.jit\ndef update(A, b): return kernels.solve(A, b)",
    "the whole path": "import ucls.kernels\ndef update(A, b): return ucls.kernels.solve(A, b)",
    "the module": "from ucls.kernels.linear_algebra import lapack\ndef update(A, b): return lapack.solve(A, b)",
    "NumPy": "import numpy as np\ndef update(A, b): return np.linalg.solve(A, b)",
    "SciPy": "from scipy.linalg import cho_factor\ndef update(A, b): return cho_factor(A)",
    "a helper": "import helper_of_tests\ndef update(A, b): return helper_of_tests.solved(A, b)",
    "a closure": "from helper_of_tests import built\nupdate = built()",
}
HELPER = "from ucls import kernels\ndef solved(A, b): return [kernels.solve(A, b) for _ in range(1)]\n"
HELPER += "def built(solve=kernels.solve): return lambda A, b: solved(A, b)"


@pytest.mark.parametrize("way", CALLS)
def test_an_algorithm_that_calls_linear_algebra_can_fail(way, tmp_path, monkeypatch):
    (tmp_path / "helper_of_tests.py").write_text(HELPER)
    (tmp_path / "own_of_tests.py").write_text(CALLS[way])
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("helper_of_tests", "own_of_tests"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    module = importlib.import_module("own_of_tests")
    assert past.can_fail(module)
    module.CAN_FAIL = False
    assert not past.can_fail(module)


def test_no_algorithm_of_the_package_can_fail():
    assert not any(past.can_fail(algorithm_module(name)) for name in [*ALGORITHMS, "my_agent"])


@pytest.mark.parametrize(
    ("error", "words"), [(ZeroDivisionError, "by zero"), (np.linalg.LinAlgError, "linear algebra")]
)
def test_arithmetic_that_fails_while_looking_is_one_line(error, words):
    def fail(*parts):
        raise error("singular")

    learner = make_run("ucls/OneState-v0", sarsa).learner
    learner.kernels = learner.kernels._replace(intervals=fail, choices=fail)
    for look in (learner.interval, learner.choose):
        with pytest.raises(UserError, match=words):
            look(np.zeros(1))


def test_whoever_stops_a_run_stops_it_between_chunks():
    run, asked = make_run("ucls/OneState-v0", sarsa), []
    assert len(list(in_chunks(run, 1000, 0.0, lambda: asked.append(1) or len(asked) > 2))) == 2
    assert run.steps == 2


class Slow(gymnasium.Env):
    """Each step takes the next of some seconds, the last one from then on, by a clock of the test's."""

    action_space, observation_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

    def __init__(self, monkeypatch, *seconds):
        self.now, self.seconds = 0.0, list(seconds)
        monkeypatch.setattr(protocol.time, "perf_counter", lambda: self.now)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        self.now += self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        return 0, 0.0, False, False, {}


def chunks_of(env, steps):
    return [len(chunk.part.rewards) for chunk in in_chunks(Agent(env, sarsa, seed=0), steps, seconds=0.2)]


def test_a_slow_environment_can_be_stopped_after_every_step(monkeypatch):
    assert chunks_of(Slow(monkeypatch, 1.0), 5) == [1, 1, 1, 1, 1]
    assert chunks_of(Slow(monkeypatch, 0.05), 13) == [1, 4, 4, 4]
    assert chunks_of(Slow(monkeypatch, *[0.001] * 25, 1.0), 28) == [1, 4, 16, 5, 1, 1]


@pytest.mark.parametrize(("saves", "most"), [("", 2), ("the run", 3)])
def test_the_last_signal_ends_at_once_and_the_handlers_come_back(saves, most):
    before, said = signal.getsignal(signal.SIGTERM), []
    with stopping(saves, said.append) as stop:
        for _ in range(most - 1):
            signal.raise_signal(signal.SIGTERM)
        assert (stop.is_set(), stop.number, len(said)) == (True, signal.SIGTERM, most - 1)
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) == before
    assert all("press Ctrl-C" in line for line in said)
