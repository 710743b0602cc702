"""What every algorithm promises, by discovery: each in ALGORITHMS on every environment, as `ucls.testing` checks it."""

import inspect
import warnings

import pytest

from support.params import BASELINES
from support.uncompiled import run_uncompiled
from ucls.algorithms import ALGORITHMS, CONTRACT, Algorithm, Extras, algorithm_module
from ucls.core.run import suits_env
from ucls.envs import ENVIRONMENTS, Environment, module_of
from ucls.errors import UclsWarning
from ucls.features import FEATURES, Features, features_module
from ucls.testing import algorithm as checks
from ucls.testing import small_run
from ucls.testing.algorithm import ALONE, IN_A_WORLD

# Every pair is a loop to compile, and what is asked of an agent outside it as much again. Each algorithm in one
# environment and each environment with one algorithm always run; outside the loop, some algorithms run compiled and the
# others without the compiler.
OFTEN = {"ucls/RiverSwim-v0", "sarsa"}
OUTSIDE = (
    "its state declares its ranges, and it chooses an action",
    "queries change nothing",
    "the compiled loop and Gymnasium give the same run",
)
OFTEN_OUTSIDE = {"ucls-exact", "ucls", "gv-ucb", "sarsa"}
IN_FULL, IN_CALLS = ("ucls/RiverSwim-v0", "ucls/DeepSea-v0"), 260  # steps that suffice for a run in three calls
MASKED = "invalid actions are never taken"  # tests/test_masks.py checks all algorithms without the compiler


def by_words(promise):
    return promise.words.replace(" ", "_")


def is_slow(promise, agent, env):
    if agent in BASELINES:
        return True
    if promise.words == MASKED:
        return (agent, env) != ("ucls-exact", "ucls/RiverSwim-v0")
    return not OFTEN & {agent, env} or (promise.words in OUTSIDE and agent not in OFTEN_OUTSIDE)


PROMISES = [
    pytest.param(
        promise,
        agent,
        env,
        id=f"{by_words(promise)}-{agent}-{env[5:-3]}",
        marks=pytest.mark.slow if is_slow(promise, agent, env) else (),
    )
    for promise in IN_A_WORLD
    for agent in ALGORITHMS
    for env in ENVIRONMENTS
    if suits_env(agent, env)
]


def test_the_promises_outside_the_loop_are_among_those_that_are_made():
    assert {*OUTSIDE, MASKED} <= {promise.words for promise in IN_A_WORLD}


@pytest.mark.parametrize(("promise", "agent", "env"), PROMISES)
def test_in_every_world(promise, agent, env):
    promise.check(algorithm_module(agent), env)


def check_outside(steps):
    """Check the promises outside the loop, in every environment, of the algorithms seldom compiled there; and all other
    promises of the baselines, in two environments."""
    warnings.simplefilter("ignore", UclsWarning)
    for agent in [name for name in ALGORITHMS if name not in OFTEN_OUTSIDE]:
        for env in [env for env in ENVIRONMENTS if suits_env(agent, env)]:
            everything = agent in BASELINES and env in IN_FULL
            checks.STEPS = IN_CALLS if everything else steps
            for promise in IN_A_WORLD:
                if promise.words in OUTSIDE or (everything and promise.words != MASKED):
                    promise.check(algorithm_module(agent), env)


def test_the_promises_outside_the_loop_hold_without_the_compiler():
    run_uncompiled("from test_contract import check_outside\ncheck_outside(60)")


@pytest.mark.parametrize("agent", ALGORITHMS)
@pytest.mark.parametrize("promise", ALONE, ids=by_words)
def test_alone(promise, agent):
    promise.check(algorithm_module(agent))


MODULES = [
    *((Algorithm, algorithm_module(name)) for name in [*ALGORITHMS, "my_agent"]),
    *((Features, features_module(name)) for name in FEATURES),
    *((Environment, module_of(id)) for id in ENVIRONMENTS),
]


def members(protocol):
    """The names that a protocol asks for, with the names of the arguments of functions."""
    names: dict[str, list[str] | None] = dict.fromkeys(inspect.get_annotations(protocol))
    for name, member in vars(protocol).items():
        if isinstance(member, property):
            names[name] = None
        elif inspect.isfunction(member) and not name.startswith("_"):
            names[name] = [*inspect.signature(member).parameters][1:]
    return names


def arguments(function):
    return [*inspect.signature(getattr(function, "py_func", function)).parameters]


@pytest.mark.parametrize(("protocol", "module"), MODULES, ids=lambda part: part.__name__)
def test_every_module_has_the_signatures_of_its_contract(protocol, module):
    for name, asked in members(protocol).items():
        assert hasattr(module, name), name
        assert asked is None or arguments(getattr(module, name)) == asked, name
    if protocol is Algorithm:
        for name, asked in members(Extras).items():
            assert asked is None or not hasattr(module, name) or arguments(getattr(module, name)) == asked, name


def test_the_signatures_are_those_that_a_module_is_refused_without():
    assert {*members(Algorithm)} - {"__name__"} == {*CONTRACT}


def test_a_new_environment_needs_no_line_in_the_tests(monkeypatch):
    for name, module in (("ucls/New-v0", "puddle_world"), ("ucls/Other-v0", "deep_sea")):
        monkeypatch.setitem(ENVIRONMENTS, name, (module, {}))
        assert small_run(name, "sarsa").learner.coder.size < 1000
