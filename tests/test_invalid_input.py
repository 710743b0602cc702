"""Kernels never see an index out of range: what an environment, a person or a file gives is checked at the door."""

import dataclasses
import json
from types import ModuleType

import gymnasium
import numpy as np
import pytest
from safetensors.numpy import save as serialize

import my_agent
from faults.torture.environments import Odd, Spoilt, Theirs
from ucls import Agent, UserError
from ucls.algorithms import ALGORITHMS, algorithm_module, sarsa
from ucls.core.config import resolve_plan
from ucls.core.learner import Learner
from ucls.core.run import Run, make_run
from ucls.core.saving import checkpoint
from ucls.features import features_module
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import jit
from ucls.settings import resolve

SMALL = {"tilings": 2, "tiles": 3, "table_size": 16}


def agent_in(discrete=True, fault="", at=0, value=None):
    return Agent(Spoilt(discrete, fault, at, value), "sarsa", **({} if discrete else SMALL))


def one_line(error):
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    return str(error.value)


@pytest.mark.parametrize(
    "observation", [1000, -1, 16, 3.7, "x", None, [1, 16], [[1, 2]], np.nan, 1j, [[1], [2, 3]], Odd(), 10**400]
)
def test_an_observation_that_is_no_state_is_refused(observation):
    agent = agent_in()
    for look in (agent.value_estimates, agent.predict):
        with pytest.raises(UserError, match="an observation cannot be") as error:
            look(observation)
        one_line(error)


@pytest.mark.parametrize("observation", [3, 3.0, np.int8(3), np.array(3), np.array(3.0, np.float32), True])
def test_whole_numbers_of_any_type_are_states(observation):
    assert agent_in().value_estimates(observation)[0].shape == (3,)
    assert agent_in().value_estimates([observation])[0].shape == (1, 3)


@pytest.mark.parametrize("observation", [[3], np.array([3.0], np.float32)])
def test_a_list_of_one_is_a_batch_of_one_but_from_an_environment_a_state(observation):
    assert agent_in().value_estimates(observation)[0].shape == (1, 3)
    assert agent_in(fault="observation", at=1, value=observation).learn(5).steps == 5


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        *[("observation", value) for value in (1000, -1, 3.7, None, "x", np.nan, np.zeros(2), Odd())],
        *[("reward", value) for value in (None, "1", np.nan, np.inf, np.zeros(2), [1.0], 1j, Odd())],
        *[("reward", value) for value in (10**400, -(10**400), np.ma.masked, np.ma.array([1.0], mask=[True]))],
        *[("reward", value) for value in (np.longdouble("1e400"), np.array([np.inf]), np.array(10**400, object))],
        *[("terminated", value) for value in (None, "no", np.nan, np.zeros(2), 2)],
        *[("truncated", value) for value in (None, [])],
        *[("info", value) for value in (None, [], "x")],
        *[("discount", value) for value in (1.5, -0.1, np.nan, "x", [])],
        *[("result", value) for value in (None, 3, [], Odd())],
        ("length", None),
    ],
)
def test_what_an_environment_does_wrong_is_its_fault_and_learning_can_go_on(fault, value):
    agent = agent_in(fault=fault, at=9, value=value)
    with pytest.raises(UserError, match="the environment is at fault, at step 8: ") as error:
        agent.learn(20)
    one_line(error)
    assert agent.steps == 7
    assert agent.learn(30).steps == 37
    assert agent.history.episode_steps.max() <= 12


@pytest.mark.parametrize(
    ("value", "reward"),
    [
        *((2.5, 2.5), (3, 3.0), (True, 1.0), (np.bool_(False), 0.0), (10**20, 1e20), (2**64 - 1, 2.0**64)),
        *((np.longdouble(0.5), 0.5), (np.float16(0.5), 0.5), (np.int8(-3), -3.0), (np.array(4), 4.0)),
        *((np.array([4.5]), 4.5), (np.array([[7]]), 7.0), (np.ma.array(1.5), 1.5), (np.ma.array([2], mask=[0]), 2.0)),
    ],
)
def test_a_reward_of_any_numeric_type_is_the_float_of_its_value(value, reward):
    assert agent_in(fault="reward", at=2, value=value).learn(1).history.rewards.tolist() == [reward]


@pytest.mark.parametrize("value", [3, (3,), None])
def test_a_reset_that_gives_only_an_observation_is_named(value):
    with pytest.raises(UserError, match=r"the environment is at fault, after step 0: reset\(\) cannot give"):
        agent_in(fault="result", at=1, value=value).learn(1)


def test_what_an_environment_raises_is_its_own_and_learning_can_go_on():
    agent = agent_in(fault="raises", at=9)
    with pytest.raises(Theirs):
        agent.learn(20)
    assert agent.learn(30).steps > 30


def test_an_agent_is_not_loaded_into_another_space(tmp_path):
    class Lake(Spoilt):
        def __init__(self, n):
            super().__init__(True, "", 0, None)
            self.observation_space = gymnasium.spaces.Discrete(n)

    class Pond(Spoilt):
        def __init__(self, high):
            super().__init__(False, "", 0, None)
            self.observation_space = gymnasium.spaces.Box(0.0, high, (2,), np.float64)

    path = Agent(Lake(16), "sarsa").learn(5).save(tmp_path / "a.safetensors")
    Agent.load(path, Lake(16)).learn(3)
    for n in (15, 64):
        with pytest.raises(UserError, match="was saved for observations") as error:
            Agent.load(path, Lake(n))
        one_line(error)
    path = Agent(Pond(np.inf), "sarsa", low=[0, 0], high=[2, 2], **SMALL).learn(5).save(tmp_path / "b.safetensors")
    Agent.load(path, Pond(np.inf)).learn(3)
    with pytest.raises(UserError, match="was saved for observations"):
        Agent.load(path, Pond(1.0))


def test_a_file_never_names_an_environment_to_import(tmp_path):
    about, arrays = checkpoint.load(make_run("ucls/OneState-v0", "sarsa").save(tmp_path / "a.safetensors"))
    path = checkpoint.save(tmp_path / "b.safetensors", {**about, "env": "antigravity:Sky-v0"}, arrays)
    for load in (Agent.load, Run.load):
        with pytest.raises(UserError, match="unknown environment"):
            load(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": "one_hot", "high": [0.5, 1]}, "one_hot features are for integer states"),
        ({"features": "one_hot", "high": [2**52, 2**52]}, "one_hot features are for fewer states"),
        ({"low": "x"}, "low and high cannot be 'x'"),
        ({"low": [None, "a"]}, "low and high cannot be"),
        ({"high": [1j, 1]}, "low and high cannot be"),
        ({"high": 5}, "must have 2 numbers each, not 1"),
        ({"tilings": 1e9}, "setting 'tilings' cannot be 1000000000.0"),
        ({"table_size": 1e12}, "GB of memory"),
        ({"table_size": 10**400}, "setting 'table_size' cannot be"),
        ({"algorithm": "ucbootstrap", "window": 1e9}, "setting 'window' cannot be"),
        ({"algorithm": "ucls", "table_size": 10**6}, "GB of memory"),
        ({"seed": -1}, "seed cannot be -1"),
        ({"seed": "x"}, "seed cannot be 'x'"),
        ({"dtype": 3}, "dtype cannot be 3"),
        ({"discount": "x"}, "discount cannot be 'x'"),
        ({"discount": np.nan}, "discount cannot be nan"),
    ],
)
def test_nonsense_is_refused_before_memory_is_asked_for(options, words):
    with pytest.raises(UserError) as error:
        Agent(Spoilt(False, "", 0, None), **{"algorithm": "sarsa", **options})
    assert words in one_line(error)


def test_a_huge_discrete_space_is_refused():
    env = Spoilt(True, "", 0, None)
    env.observation_space = gymnasium.spaces.Discrete(10**12)
    for agent in ALGORITHMS:
        with pytest.raises(UserError, match=r"GB of memory|needs the state itself|has no default"):
            Agent(env, agent, features="one_hot")


@pytest.mark.parametrize("agent", ALGORITHMS)
def test_an_algorithm_asks_for_no_more_room_than_it_says(agent):
    module = algorithm_module(agent)
    hyper = resolve(module.Settings, {}, {"return_max": 1.0, "reward_max": 1.0})
    for n_actions, n_active, more in ((2, 3, 5), (3, 2, 20)):
        size = n_actions * n_active * (1 if agent == "dgpq" else more)
        arrays = checkpoint.flatten("state", module.init(hyper, size, n_actions, n_active)).values()
        assert sum(array.nbytes for array in arrays) <= 8 * module.allocation(hyper, size, n_actions, n_active) + 400


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("tiles", [0, 0], [1, 1]), ("one_hot", [3], [9]), ("one_hot", [3, 0], [9, 4]), ("scaled", [0], [2])],
)
def test_a_coder_asks_for_no_more_room_than_it_says(name, low, high):
    module = features_module(name)
    coder = module.make(module.Settings(), low, high, 3)
    room = module.allocation(module.Settings(), low, high, 3)
    assert (coder.size, coder.n_active) == (room.size, room.n_active)
    assert sum(array.nbytes for array in checkpoint.flatten("coder", coder).values()) <= 8 * room.numbers + 100


def test_one_hot_features_are_for_whole_states():
    with pytest.raises(UserError, match="states that are integers"):
        make_run("ucls/RiverSwim-v0", "sarsa", features="one_hot")


@pytest.mark.parametrize(
    "change",
    [
        {"plan": None},
        {"plan": []},
        {"plan": {}},
        {"steps": -1},
        {"steps": 1.5},
        {"steps": "3"},
        {"steps": True},
        {"steps": 10**30},
        {"env_settings": 3},
        {"env_settings": {"nothing": 1}},
        {"env": 3},
        {"discount": 7},
        *[
            {"plan": {name: value}}
            for name, value in [
                ("agent", 3),
                ("agent", "nobody"),
                ("features", None),
                ("features", "none"),
                ("settings", []),
                ("settings", {"epsilon": []}),
                ("settings", {"epsilon": {"a": 1}}),
                ("feature_settings", {"tilings": 10**6}),
                ("feature_settings", {"tilings": 4096, "table_size": 2**30}),
                ("low", [0.0, 0.0]),
                ("low", ["a"]),
                ("low", [float("nan")]),
                ("high", None),
                ("high", [-1.0]),
                ("high", [10.0**12]),
                ("n_actions", 0),
                ("n_actions", 10**12),
                ("n_actions", 2.0),
                ("seed", -1),
                ("seed", None),
                ("dtype", "float16"),
                ("dtype", []),
                ("more", 1),
            ]
        ],
    ],
)
def test_a_file_that_lies_about_itself_is_refused(tmp_path, change):
    run = make_run("ucls/OneState-v0", "sarsa")
    about, arrays = run.about(), run.checkpoint()
    plan = change.get("plan")
    inner = {**about["plan"], **plan} if isinstance(plan, dict) and plan else plan
    changed = {**about, **change, **({"plan": inner} if "plan" in change else {})}
    path = checkpoint.save(tmp_path / "a.safetensors", changed, arrays)
    for load in (Agent.load, Run.load):
        with pytest.raises(UserError) as error:
            load(path)
        one_line(error)


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "3", '"x"', "{}", "{", "[" * 100_000, '{"a":' * 100_000, "9" * 5000),
        *(json.dumps({"format": value}) for value in (None, True, "1", 0, -1, 1.0, [], 10**30)),
    ],
)
def test_what_a_file_says_about_itself_must_be_readable(tmp_path, text):
    path = tmp_path / "a.safetensors"
    path.write_bytes(serialize({"x": np.zeros(1)}, {"ucls": text}))
    with pytest.raises(UserError) as error:
        checkpoint.load(path)
    one_line(error)


@jit
def divide_in_the_fourth_step(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    state.w[0] += 1.0
    state.w[1] = r / (state.w[0] - 4.0)


@jit
def divide_at_once(state, hyper, xs, rng):
    return int(1.0 / la.square(la.of_action(xs, 0)))  # features that are all 0


@pytest.mark.parametrize(
    ("change", "steps"), [({"update": divide_in_the_fourth_step}, 3), ({"act": divide_at_once}, 0)]
)
def test_a_division_by_zero_in_a_kernel_is_a_divergence_at_the_step_before(change, steps, tmp_path):
    dividing = ModuleType("dividing")
    vars(dividing).update({**vars(sarsa), "__name__": "dividing", **change})
    agent = Agent("ucls/OneState-v0", dividing, features="scaled")
    with pytest.warns(RuntimeWarning, match=f"diverged at step {steps}"):
        agent.learn(9)
    run = make_run("ucls/OneState-v0", dividing, features="scaled")
    happened = run.advance(9)
    for each, history in ((agent, agent.history), (run, happened)):
        assert (each.steps, each.diverged, history.diverged, len(history.rewards)) == (steps, True, True, steps)
        for use in (lambda run: run.advance(1), lambda run: run.save(tmp_path / "a.safetensors"), type(run).checkpoint):
            with pytest.raises(UserError, match="have diverged"):
                use(each)
    assert np.array_equal(agent.history.rewards, happened.rewards)
    assert not list(tmp_path.iterdir())


def test_features_that_are_all_0_teach_nothing_and_break_nothing():
    agent = Agent("ucls/OneState-v0", "sarsa", features="scaled").learn(5)
    assert not agent.diverged
    np.testing.assert_array_equal(agent.learner.state.w, 0.0)


def test_room_is_asked_of_an_algorithm_of_ones_own():
    class Quiet:
        def __getattr__(self, name):
            if name == "allocation":
                raise AttributeError(name)
            return getattr(my_agent, name)

    about = make_run("ucls/RiverSwim-v0", "my_agent", settings={"table_size": 64}).learner.plan
    many = dataclasses.replace(about, feature_settings={**about.feature_settings, "table_size": 10**6})
    with pytest.raises(UserError, match="whose `allocation` is missing") as error:
        Learner(resolve_plan(many, Quiet()))
    one_line(error)
    assert Learner(resolve_plan(many, my_agent)).coder.size == 2 * 10**6


def test_an_algorithm_that_grows_must_say_what():
    class Growing:
        def __getattr__(self, name):
            return getattr(my_agent, name)

        def full(self, state):
            return False

        def grow(self, state, hyper):
            return state

    plan = make_run("ucls/RiverSwim-v0", "my_agent").learner.plan
    with pytest.raises(UserError, match="no field says that it does"):
        Learner(resolve_plan(plan, Growing()))


def test_an_agent_saved_after_a_failed_step_begins_another_episode(tmp_path):
    agent = Agent("ucls/PuddleWorld-v0", "sarsa", **SMALL).learn(20)
    agent.learner.advance = lambda *args: 1 / 0
    with pytest.raises(ZeroDivisionError):
        agent.learn(1)
    del agent.learner.advance
    again = Agent.load(agent.save(tmp_path / "a.safetensors"))
    assert np.array_equal(agent.learn(30).history.rewards[20:], again.learn(30).history.rewards[20:])


def test_nobody_looks_beyond_the_states_of_a_run():
    run = make_run("ucls/OneState-v0", "sarsa")
    for state in ([1000.0], [-1.0], [np.nan], [0.0, 0.0]):
        with pytest.raises(UserError):
            run.learner.interval(state)
    with pytest.raises(UserError):
        run.learner.survey(np.array([[0.0], [7.0]]))
    with pytest.raises(UserError, match="does not fit"):
        Run(make_run("ucls/PuddleWorld-v0", "sarsa").world, run.learner)
