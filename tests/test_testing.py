"""`ucls.testing` and `ucls check`: what breaks a promise is told which, and how to fix it; the rest passes."""

import json
import sys
from types import ModuleType

import gymnasium
import numpy as np
import pytest

from support.commands import ucls
from support.foreign import Corridor
from support.uncompiled import run_uncompiled
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.errors import UserError
from ucls.features import FEATURES, one_hot, scaled
from ucls.kernels import exact
from ucls.testing import check_environment, check_features

BROKEN = """
from types import ModuleType
from typing import Annotated, Any, NamedTuple
import numpy as np
import my_agent
from ucls.errors import UserError
from ucls.kernels.ranges import COUNT, Grows
from ucls.settings import UNIT
from ucls.testing import algorithm, check_algorithm

algorithm.STEPS = 340


class Bare(NamedTuple):
    alpha: float = 0.1


class Mute(NamedTuple):
    alpha: Annotated[float, UNIT] = 0.1
    kappa: Annotated[float, UNIT] = 1.0


class Wordless(NamedTuple):
    w: Any
    u: Any
    visits: Any


def broken(**changes):
    module = ModuleType("broken")
    vars(module).update({**vars(my_agent), **changes})
    for name in [name for name, value in changes.items() if value is None]:
        delattr(module, name)
    return module


def act_and_count(state, hyper, xs, rng):
    state.visits[0] += 1
    return 0


def act_by_chance(state, hyper, xs, rng):
    return int(np.random.default_rng().integers(2))


def act_too_far(state, hyper, xs, rng):
    return 99


calls = []


def update_by_memory(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    calls.append(1)
    state.w[0] = len(calls)


def blow_up(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    state.w[:] = np.nan


def blow_up_apart(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    state.w[0] += r
    state.u[:] = np.inf


def below_zero(state, hyper, x, rng):
    return 0.0, -1.0


class Piles(NamedTuple):
    w: Any
    u: Any
    visits: Annotated[Any, COUNT]
    x: Annotated[Any, Grows()]
    y: Annotated[Any, Grows()]


class Together(NamedTuple):
    w: Any
    u: Any
    visits: Annotated[Any, COUNT]
    x: Annotated[Any, Grows()]
    y: Annotated[Any, Grows(like="x")]


class Counting(NamedTuple):
    w: Any
    u: Any
    visits: Annotated[Any, COUNT]
    t: Any


def crash(state, hyper, rng):
    raise KeyError("oh")


init = lambda *sizes: Wordless(*my_agent.init(*sizes))
count = lambda *sizes: Counting(*my_agent.init(*sizes), 0)
piles = lambda *sizes: Piles(*my_agent.init(*sizes), np.zeros(4), np.zeros(4))
together = lambda *sizes: Together(*my_agent.init(*sizes), np.zeros(4), np.zeros(4))
for change, words in [
    ({"value": None}, "is not an algorithm: it lacks value"),
    ({"act": lambda state, xs: 0}, "act has other arguments: declare it act(state, hyper, xs, rng)"),
    ({"Settings": Bare}, "setting 'alpha' does not declare its allowed values: declare it as in alpha: Annotated"),
    ({"Settings": Mute}, "setting 'alpha' has no sentence that says what it is"),
    ({"__doc__": ""}, "does not begin with a line for lists"),
    ({"State": Wordless, "init": init}, "'State.visits' holds integers without a declared range: declare it"),
    ({"State": Counting, "init": count}, "'State.t' is of type int, not an array, and would not be saved: use"),
    ({"State": Piles, "init": piles}, "a file in which state.x is longer than state.y is accepted: declare that they"),
    ({"act": act_too_far}, "act gives 99: give an integer from 0 to 1"),
    ({"act": act_and_count}, "changes state.visits: only start and update may"),
    ({"act": act_by_chance}, "two runs with one seed differ: draw from the rng"),
    ({"update": update_by_memory}, "two runs with one seed differ"),
    ({"update": blow_up}, "its values diverged after 1 steps"),
    ({"update": blow_up_apart}, "state.u is not finite"),
    ({"interval": below_zero}, "its radius is -1: a radius is 0 or more"),
    ({"start": crash}, "it cannot be checked: fix what raises KeyError: 'oh'"),
]:
    try:
        check_algorithm(broken(**change), ["ucls/RiverSwim-v0"])
    except UserError as error:
        assert words in str(error), (words, str(error))
        assert chr(10) not in str(error)
    else:
        raise AssertionError(words)
check_algorithm("my_agent", ["ucls/RiverSwim-v0"])
check_algorithm(broken(__doc__="Mine."), ["ucls/RiverSwim-v0"])
check_algorithm(broken(State=Together, init=together), ["ucls/RiverSwim-v0"])
"""


def test_a_broken_algorithm_is_told_what_is_broken_and_how_to_fix_it():
    run_uncompiled("import sys; sys.path.append('../examples')\n" + BROKEN)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_of_the_package_says_how_it_departs_from_the_paper(name):
    text = (algorithm_module(name).__doc__ or "").strip()
    assert "Deviations" in text.split("\n\n")[-1]


class Restless(Corridor):
    """Forgets the seed."""

    def reset(self, *, seed=None, options=None):
        self.cell, self.steps = int(np.random.default_rng().integers(4)), 0
        return 10 + self.cell, {}


class Escaping(gymnasium.Env):
    """Leaves its box."""

    observation_space = gymnasium.spaces.Box(0.0, 1.0, (1,), np.float64)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(1), {}

    def step(self, action):
        return np.array([2.0]), 0.0, False, False, {}


@pytest.mark.parametrize(
    ("env", "words"),
    [
        (Corridor(actions=gymnasium.spaces.Box(-1, 1)), "only Discrete is supported"),
        (Corridor(reward=np.nan), "rewards must be finite"),
        (Corridor(observation=99), "an observation cannot be 99"),
        (Restless(), "draw from self.np_random only"),
        (Escaping(), "lies outside Box"),
    ],
)
def test_a_broken_environment_is_told_what_is_broken_and_how_to_fix_it(env, words):
    with pytest.raises(UserError) as error:
        check_environment(env)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_sound_environments_keep_every_promise(env_id):
    check_environment(Corridor())
    check_environment(env_id)
    check_environment("CartPole-v1")


@pytest.mark.parametrize("name", FEATURES)
def test_built_in_features_keep_every_promise(name):
    check_features(name)


@exact
def encode_by_action(coder, s, xs):
    scaled.encode(coder, s, xs)
    for a in range(coder.n_actions):
        for i in range(coder.n_active):
            xs.index[a, i] = a * coder.n_active + i


@exact
def encode_from_the_end(coder, s, xs):
    one_hot.encode(coder, s, xs)
    for a in range(len(xs.index)):
        xs.index[a, 0] = coder.size - len(xs.index) - xs.index[a, 0] + 2 * a


@exact
def encode_nothing(coder, s):
    pass


@exact
def look_by_encoding(coder, s, xs):
    one_hot.encode(coder, s, xs)


@pytest.mark.parametrize(
    ("features", "changes", "words"),
    [
        (scaled, {"encode": encode_nothing}, "declare it encode(coder, s, xs)"),
        (scaled, {"allocation": lambda *_: (6, 3, 4)}, "allocation says 6 and 3, make has size 6 and n_active 2"),
        (scaled, {"encode": encode_by_action}, "give state feature * number of actions + action"),
        (one_hot, {"encode": encode_from_the_end}, "number them by first visit"),
        (one_hot, {"lookup": look_by_encoding}, "lookup changes coder.number, coder.count: only encode may"),
    ],
)
def test_broken_features_are_told_what_is_broken_and_how_to_fix_it(features, changes, words, monkeypatch):
    broken = ModuleType("broken_features")
    vars(broken).update({**vars(features), **changes, "__name__": broken.__name__})
    monkeypatch.setitem(sys.modules, broken.__name__, broken)
    with pytest.raises(UserError) as error:
        check_features(broken)
    assert words in str(error.value)


def test_the_command_says_each_promise_in_a_line_and_how_many_broke_by_its_code(tmp_path, monkeypatch):
    kept = ucls("check", "ucls/OneState-v0")
    assert kept.exit_code == 0
    assert {line.split()[0] for line in kept.stdout.splitlines()} == {"passed"}
    (tmp_path / "half_an_agent.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    broken = ucls("check", "half_an_agent")
    assert broken.exit_code == 1
    assert "failed  it has the parts of an algorithm: module 'half_an_agent' is not an algorithm" in broken.stdout
    rows = json.loads(ucls("check", "half_an_agent", "--json").stdout)
    assert rows[0]["passed"] is False
    assert "passed  state features are numbered by first visit" in ucls("check", "one_hot").stdout
    for name in ("nobody", "Nowhere-v0", "ucls/Nowhere-v0"):
        with pytest.raises(UserError, match="unknown"):
            ucls("check", name)
    del sys.modules["half_an_agent"]
