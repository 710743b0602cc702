"""A checkpoint is data from a stranger: every array in it is what its field declares, or it is refused."""

from collections import namedtuple
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import my_agent
from support.params import SOLO
from ucls.core.config import Plan, resolve_plan
from ucls.core.learner import Learner
from ucls.core.run import Run, suits_env
from ucls.errors import UserError
from ucls.kernels.ranges import COUNT, INFINITE, Count, Grows, Sizes, Within, check, fits, require
from ucls.testing import small_run

SIZES = Sizes(features=24, actions=2)


def learned(agent, **settings):
    env = "ucls/RiverSwim-v0"
    run = small_run(env if suits_env(agent, env) else "ucls/DeepSea-v0", agent, seed=3, **settings)
    run.advance(300)
    return run


def refuses(run, name, change):
    """Whether a changed array is refused, and leaves the learner as it was."""
    arrays = {key: array.copy() for key, array in run.checkpoint().items()}
    arrays[name] = change(arrays[name])
    before = run.checkpoint()
    with pytest.raises(UserError, match="checkpoint") as error:
        run.restore(arrays, 300)
    assert "\n" not in str(error.value)
    after = run.checkpoint()
    return all(np.array_equal(before[key], after[key]) for key in before)


def put(value, at=0):
    def change(array):
        array.ravel()[at] = value
        return array

    return change


@pytest.mark.parametrize("agent", SOLO)
def test_every_whole_number_out_of_range_is_refused(agent):
    run = learned(agent)
    free = ("coder.keys", "state.cells.rows", "state.moves.rows")  # where nothing is yet
    for name, array in run.learner.checkpoint().items():
        if array.dtype.kind in "iu" and array.size and name not in (*free, "rng"):
            far = 2 ** (8 * array.itemsize - 2)
            for value in (-far, -2, far) if array.dtype.kind == "i" else (2,):
                assert refuses(run, name, put(value)), name


@pytest.mark.parametrize("agent", SOLO)
def test_numbers_that_are_not_finite_are_refused(agent):
    run = learned(agent)
    for name, array in run.learner.checkpoint().items():
        if array.dtype.kind == "f" and array.size:
            for value in (np.nan, np.inf):
                assert refuses(run, name, put(value, at=-1)), name


@pytest.mark.parametrize("agent", SOLO)
def test_other_shapes_and_types_are_refused(agent):
    run = learned(agent)
    arrays = run.checkpoint()
    for name, array in arrays.items():
        if array.size and f"{name}@beyond" not in arrays:  # of some, a leading block is saved, of any size
            assert refuses(run, name, lambda a: a[:-1]), name
            assert refuses(run, name, lambda a: a[None]), name
            assert refuses(run, name, lambda a: a.view(np.int8)), name
            assert refuses(run, name, lambda a: np.concatenate([a, a])), name


@pytest.mark.parametrize(
    ("agent", "name", "change"),
    [
        ("sarsa", "state.trace.live", lambda a: np.zeros_like(a)),
        ("sarsa", "state.trace.count", put(1)),
        ("sarsa", "state.trace.member", lambda a: 1 - a),
        ("sarsa", "coder.indices", lambda a: np.zeros_like(a)),
        ("sarsa", "coder.indices", lambda a: np.full_like(a, -1)),
        ("sarsa", "coder.count", put(3)),
        ("sarsa", "coder.keys", lambda a: a[::-1]),
        ("sarsa", "coder.low", put(0.5)),
        ("sarsa", "pending.a", put(2)),
        ("sarsa", "world.clock", put(-1)),
        ("sarsa", "world.s", put(7.0)),
        ("sarsa", "rng", put(2**64 - 1, at=5)),
        ("ucls", "state.system.scale", put(0.0)),
        ("rlsvi", "state.cells.slots", lambda a: np.full_like(a, 0)),
        ("rlsvi", "state.cells.rows", lambda a: np.zeros_like(a)),
        ("rlsvi", "state.cells.rows", put(10**6)),
        ("rlsvi", "state.moves.rows", put(10**6)),
        ("rlsvi", "state.moves.count", put(4000)),
        ("rlsvi", "state.n_actions", put(1)),
        ("rlsvi", "state.stride", put(0)),
        ("rlsvi", "state.L", lambda a: np.zeros_like(a)),
        ("dgpq", "state.gp.L", lambda a: np.zeros_like(a)),
        ("dgpq", "state.gp.n", put(65)),
    ],
)
def test_wholes_that_kernels_could_not_survive_are_refused(agent, name, change):
    assert refuses(learned(agent), name, change)


def test_a_full_state_grows_before_it_is_used():
    run = learned("dgpq")
    arrays = run.checkpoint()
    arrays = {name: array.copy() for name, array in arrays.items()}
    arrays["state.basis.n"][:] = arrays["state.basis.mu"].shape[1]
    run.restore(arrays, 300)
    assert run.learner.state.basis.mu.shape[1] > arrays["state.basis.mu"].shape[1]


def test_numbering_of_one_hot_states_is_checked():
    run = small_run("ucls/OneState-v0", "sarsa")
    run.advance(20)
    for name, value in (("coder.number", 1), ("coder.number", 2**40), ("coder.count", 0), ("coder.count", 5)):
        assert refuses(run, name, put(value))


def test_whole_numbers_of_an_algorithm_of_ones_own_must_say_their_range():
    class State(NamedTuple):
        visits: Any

    with pytest.raises(UserError, match=r"'State\.visits' holds integers without a declared range") as error:
        require("State", State(np.zeros(3, np.int64)))
    assert "\n" not in str(error.value)
    require("State", State(np.zeros(3)))
    assert my_agent.State.__annotations__["visits"].__metadata__ == (COUNT,)


def test_a_learner_without_ranges_is_refused_when_it_is_made():
    class State(NamedTuple):
        w: Any
        visits: Any

    def init(*args):
        return State(np.zeros(args[1]), np.zeros(args[1], np.int64))

    parts = {name: getattr(my_agent, name) for name in ("Settings", "start", "act", "update", "value")}
    run = learned("sarsa")
    plan = run.learner.plan
    stranger = Plan(**{**vars(plan), "agent": "stranger", "settings": {}})
    with pytest.raises(UserError, match="without a declared range"):
        Learner(resolve_plan(stranger, SimpleNamespace(State=State, init=init, **parts)))


def test_a_field_of_a_state_that_is_not_an_array_is_refused_when_the_learner_is_made():
    class State(NamedTuple):
        w: Any
        count: Any

    for field in (0, 1.5, "x", None, [1.0], (1.0, 2.0), {}):
        with pytest.raises(
            UserError, match=r"'State\.count' is of type \w+, not an array, and would not be saved"
        ) as error:
            require("State", State(np.zeros(3), field))
        assert "\n" not in str(error.value)

    def init(*args):
        return State(np.zeros(args[1]), 0)

    parts = {name: getattr(my_agent, name) for name in ("Settings", "start", "act", "update", "value")}
    plan = Plan(**{**vars(learned("sarsa").learner.plan), "agent": "stranger", "settings": {}})
    with pytest.raises(UserError, match="would not be saved"):
        Learner(resolve_plan(plan, SimpleNamespace(State=State, init=init, **parts)))


def test_arrays_that_grow_together_are_declared_and_checked_together():
    class Rows(NamedTuple):
        rows: Annotated[Any, Grows()]

    class State(NamedTuple):
        x: Annotated[Any, Grows()]
        y: Annotated[Any, Grows(1, like="x")]
        z: Annotated[Any, Grows(like="table.rows")]
        table: Rows

    def state(x, y, z, rows):
        return State(np.zeros(x), np.zeros((2, y)), np.zeros(z), Rows(np.zeros(rows)))

    made = state(4, 4, 3, 3)
    require("State", made)
    check("state", state(6, 6, 5, 5), made, SIZES)
    for sizes, names in (((6, 4, 3, 3), "state.y and state.x"), ((4, 4, 3, 8), "state.z and state.table.rows")):
        with pytest.raises(UserError, match=f"{names} differ in length"):
            check("state", state(*sizes), made, SIZES)
        with pytest.raises(UserError, match="entries, as many as"):
            require("State", state(*sizes))


def test_a_growing_array_names_an_axis_and_a_companion_that_exist():
    class Far(NamedTuple):
        x: Annotated[Any, Grows(2)]

    class Alone(NamedTuple):
        x: Annotated[Any, Grows(like="y")]

    with pytest.raises(UserError, match="has no axis 2 to grow along: it has 1"):
        require("State", Far(np.zeros(3)))
    with pytest.raises(UserError, match="there is no such array that grows"):
        require("State", Alone(np.zeros(3)))


def test_ranges_say_what_they_mean():
    class Pile(NamedTuple):
        items: Annotated[Any, Within(0, 9), Grows()]
        count: Annotated[Any, Count("items")]
        far: Annotated[Any, INFINITE]

        def fault(self):
            return "" if self.count[0] != 3 else "three is one too many"

    def pile(items, count, far=np.inf):
        return Pile(np.array(items), np.array([count]), np.array([far]))

    made = pile([0, 0], 0)
    check("pile", pile([1, 9, 2, 3], 4), made, SIZES)
    for bad, words in (
        (pile([1, 10], 1), "'pile.items' must be numbers from 0 to 9"),
        (pile([1, 2], 3), "'pile.count' must be counts from 0 to 2"),
        (pile([1, 2, 3], 3), "in 'pile', three is one too many"),
        (pile([1, 2], 1, np.nan), "'pile.far' must be numbers"),
    ):
        with pytest.raises(UserError) as error:
            check("pile", bad, made, SIZES)
        assert words in str(error.value)
    assert fits((2, 9), (2, 4), grows=1)
    assert not fits((3, 9), (2, 4), grows=1)
    assert not fits((2, 3), (2, 4), grows=1)
    assert not fits((2, 9), (2, 4), grows=None)


def test_a_good_checkpoint_of_an_algorithm_of_ones_own_is_taken(tmp_path):
    run = small_run("ucls/RiverSwim-v0", "my_agent", seed=1)
    run.advance(100)
    again = Run.load(run.save(tmp_path / "a.safetensors"), my_agent)
    assert np.array_equal(run.advance(50).rewards, again.advance(50).rewards)


def test_a_state_without_annotations_is_of_numbers_with_a_point():
    Plain = namedtuple("Plain", ["w"])
    require("State", Plain(np.zeros(3)))
    check("state", Plain(np.ones(3)), Plain(np.zeros(3)), SIZES)
    with pytest.raises(UserError, match="without a declared range"):
        require("State", Plain(np.zeros(3, np.int64)))


def test_what_would_not_be_taken_back_is_not_saved(tmp_path):
    run = learned("ucls")
    run.learner.state.C[-1, -1] = np.inf
    with pytest.raises(UserError, match="not finite"):
        run.save(tmp_path / "a.safetensors")
    assert not list(tmp_path.iterdir())
