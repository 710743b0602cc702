"""The requirements of every algorithm: by itself (`ALONE`), and in a built-in environment (`IN_A_WORLD`)."""

import importlib
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ucls.agent.agent import Agent
from ucls.algorithms import ALGORITHMS, Algorithm, Extras, algorithm_module, is_compiled
from ucls.core.history import join
from ucls.core.learner import Learner
from ucls.core.run import Run, suits_env
from ucls.core.saving import state as states
from ucls.errors import UserError
from ucls.features import is_discrete
from ucls.gym.registry import make_env
from ucls.kernels.ranges import declared
from ucls.settings import Choice, describe
from ucls.testing.masks import takes_no_invalid_action
from ucls.testing.requirement import SMALL, Requirement, Verdict, examine, insist, insist_on_signatures
from ucls.testing.small import small_run, small_settings

STEPS = 600
WORLDS = (
    "ucls/RiverSwim-v0",
    "ucls/PuddleWorld-v0",
    "ucls/DeepSea-v0",
)  # one continues, one has a goal, one is discrete

COMPILED = ("start", "act", "update", "value", "interval", "upper", "radius_terms", "learned", "full", "encode")


def check_algorithm(agent: str | ModuleType, worlds: Sequence[str] = WORLDS) -> None:
    """Raise a `UserError` for the first requirement that an algorithm, by its name, import path or module, violates.

    It is tested in some built-in environments unless others are named by their ids; one that learns a table only in
    those with discrete states.
    """
    for verdict in examine_algorithm(agent, worlds):
        if verdict.broken is not None:
            raise verdict.broken


def examine_algorithm(agent: str | ModuleType, worlds: Sequence[str] = WORLDS) -> Iterator[Verdict]:
    """Check every requirement of an algorithm: first by itself and, if that holds, in environments."""
    module, sound = _imported(agent), True
    for verdict in examine(ALONE, module):
        sound = sound and verdict.broken is None
        yield verdict
    for world in [world for world in worlds if sound and suits_env(module, world)]:
        for words, broken in examine(IN_A_WORLD, module, world):
            yield Verdict(f"{words}, in {world}", broken)


def _imported(agent: str | ModuleType) -> Any:
    """Return the module, even if it lacks required members."""
    if not isinstance(agent, str):
        return agent
    try:
        return importlib.import_module(ALGORITHMS.get(agent, agent))
    except Exception:  # the names of those that there are, or what is wrong with this one
        return algorithm_module(agent)


def has_its_parts(module: ModuleType) -> None:
    algorithm_module(module)


def takes_what_it_is_given(module: ModuleType) -> None:
    asked, kernels = {**vars(Algorithm), **vars(Extras)}, COMPILED if is_compiled(module) else ()
    insist_on_signatures(module, asked, kernels, "put @jit (from ucls.kernels) above it, or say COMPILED = False")
    hooks = [hasattr(module, name) for name in ("to_arrays", "from_arrays")]
    insist(all(hooks) or not any(hooks), "it has one of to_arrays and from_arrays: give both")
    insist(not any(hooks) or not is_compiled(module), "to_arrays needs the plain engine: say COMPILED = False")


def settings_say_what_they_are(module: Any) -> None:
    for setting in describe(module.Settings):
        insist(setting.doc, f"setting {setting.name!r} has no sentence that says what it is: add one to its Annotated")
        for nonsense in ("nan", "nothing", True):
            if not isinstance(setting.check, Choice) or str(nonsense).lower() not in setting.check.names:
                _refuses(module, setting.name, nonsense)


def _refuses(module: ModuleType, name: str, nonsense: Any) -> None:
    try:
        small_run(next(world for world in WORLDS if suits_env(module, world)), module, **{name: nonsense})
    except UserError:
        return
    raise UserError(f"setting {name!r} can be {nonsense!r}: its check must raise ValueError for invalid values")


def says_what_it_is(module: ModuleType) -> None:
    text = (module.__doc__ or "").strip()
    first = text.splitlines()[0] if text else ""
    insist(0 < len(first) < 120, "its docstring does not begin with a line for lists: write one of under 120 letters")


def chooses_an_action(module: ModuleType, env: str) -> None:
    run = small_run(env, module)
    low, high = (np.array(bound) for bound in run.world.bounds())
    for share in (0.0, 0.5, 1.0):
        s = low + share * (high - low)
        run.learner.begin(np.floor(s) if is_discrete(run.learner.features) else s)
        a, n = run.learner.action, run.plan.n_actions
        insist(0 <= a < n, f"act gives {a}: give an integer from 0 to {n - 1}")


def is_exactly_its_budget_and_finite(module: ModuleType, env: str) -> None:
    run = small_run(env, module)
    happened = run.advance(STEPS)
    insist(not happened.diverged, f"its values diverged after {run.steps} steps: let its defaults be smaller steps")
    sizes = len(happened.rewards), len(happened.ends), run.steps
    insist(sizes == (STEPS, STEPS, STEPS), f"a run of {STEPS} steps took {sizes[0]}: kernels must not stop it")
    for name, array in run.learner.checkpoint().items():
        insist(np.isfinite(array).all(), f"{name} is not finite after {STEPS} steps: keep every array of State finite")
    mean, radius = run.learner.interval(run.s)
    insist(np.isfinite([mean, radius]).all(), "its mean or its radius is not finite: give numbers")
    insist((radius >= 0).all(), f"its radius is {radius.min():g}: a radius is 0 or more")


def says_what_memory_it_takes(module: ModuleType, env: str) -> None:
    run = small_run(env, module)
    me, said = run.learner, dict[int, tuple[str, int]]()
    sizes = me.coder.size, me.plan.n_actions, me.coder.n_active
    if hasattr(module, "allocation_at"):
        said = {steps: ("allocation_at", module.allocation_at(me.hyper, *sizes, steps)) for steps in (0, STEPS)}
    if hasattr(module, "allocation"):
        said[0] = "allocation", module.allocation(me.hyper, *sizes)
    for steps, (name, numbers) in sorted(said.items()):
        run.advance(steps - run.steps)
        held = sum(array.nbytes for array in states.to_arrays(module, me.state).values()) // 8
        words = f"its state has {held:,} numbers of 8 bytes after {steps} steps, more than the {numbers:,} of {name}"
        insist(held <= numbers + SMALL, f"{words}: count every array")


def looking_changes_nothing(module: ModuleType, env: str) -> None:
    run = small_run(env, module, seed=3)
    run.advance(60)
    before = {name: array.copy() for name, array in run.learner.checkpoint().items()}
    for _ in range(5):
        run.learner.choose(run.s)
        run.learner.interval(run.s)
        run.learner.survey(run.s[None])
    changed = _difference(before, run.learner.checkpoint())
    insist(changed is None, f"act, value, interval or upper changes {changed}: only start and update may")


def repeats_under_its_seed_alone(module: ModuleType, env: str) -> None:
    runs = [small_run(env, module, seed=seed) for seed in (5, 5, 6)]
    rewards = [run.advance(STEPS).rewards for run in runs]
    one, same, other = (run.learner.checkpoint() for run in runs)
    repeats = np.array_equal(rewards[0], rewards[1]) and _difference(one, same) is None
    insist(repeats, "two runs with one seed differ: draw from the rng that kernels are given, and from nothing else")
    differs = any(not np.array_equal(one[name], other[name]) for name in one if name != "rng")
    insist(differs, "runs with two seeds are the same: learn from what happens, and break ties by the rng")


def does_not_depend_on_the_number_of_calls(module: ModuleType, env: str) -> None:
    whole, parts = small_run(env, module, seed=2), small_run(env, module, seed=2)
    expected = whole.advance(STEPS)
    happened = join([parts.advance(n) for n in (1, STEPS // 2, STEPS - 1 - STEPS // 2)])
    same = np.array_equal(expected.rewards, happened.rewards) and _difference_of(whole.learner, parts.learner) is None
    insist(same, "a run in three calls differs from one call: keep all that it knows in State, and in no global")


def goes_on_from_a_file_bit_for_bit(module: ModuleType, env: str) -> None:
    run = small_run(env, module, seed=9)
    run.advance(STEPS // 2)
    with tempfile.TemporaryDirectory() as folder:
        again = Run.load(run.save(Path(folder) / "run.safetensors"), module)
    rest, resumed = run.advance(STEPS), again.advance(STEPS)
    same = again.steps == run.steps and np.array_equal(rest.rewards, resumed.rewards)
    same = same and np.array_equal(rest.ends, resumed.ends) and _difference_of(run.learner, again.learner) is None
    insist(same, "a run from its file continues differently: keep all that it knows in arrays of State")


def refuses_files_whose_arrays_disagree(module: ModuleType, env: str) -> None:
    run = small_run(env, module, seed=9)
    run.advance(60)
    saved = run.checkpoint()
    for together in _growing("state", run.learner.state):
        for name, axis in together.items() if len(together) > 1 else ():
            longer = np.concatenate([saved[name], np.take(saved[name], [-1], axis)], axis)
            try:
                run.restore({**saved, name: longer}, run.steps)
            except UserError:
                continue
            others = ", ".join(other for other in together if other != name)
            raise UserError(
                f"a file in which {name} is longer than {others} is accepted: declare that they grow together, "
                'Grows(like="..."), or put arrays that grow apart into NamedTuples of their own'
            )


def _growing(prefix: str, parts: Any) -> Iterator[dict[str, int]]:
    """Return the arrays of each NamedTuple that may grow, by name, and along which axis."""
    if not hasattr(parts, "_fields"):  # a state with hooks of its own
        return
    yield {f"{prefix}.{name}": field.grows for name, field in declared(type(parts)).items() if field.grows is not None}
    for name, part in parts._asdict().items():
        if hasattr(part, "_fields"):
            yield from _growing(f"{prefix}.{name}", part)


def is_the_same_in_gymnasium(module: ModuleType, env: str) -> None:
    run = small_run(env, module, seed=11)
    happened = run.advance(STEPS)
    world = {name: value for name, value in small_settings(env).items() if name in run.world.settings}
    settings = {**run.plan.settings, **run.plan.feature_settings}
    shell = Agent(make_env(env, world), module, seed=11, settings=settings).learn(STEPS)
    same = np.array_equal(happened.rewards, shell.history.rewards)
    same = same and np.array_equal(happened.ends, shell.history.ends)
    changed = _difference_of(run.learner, shell.learner)
    insist(same and changed is None, "the loop and Gymnasium differ: let kernels read their arguments and nothing else")


def _difference_of(one: Learner, other: Learner) -> str | None:
    return _difference(one.checkpoint(), other.checkpoint())


def _difference(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> str | None:
    """The first array that is not the same in both."""
    names = [*one, *(name for name in other if name not in one)]
    return next((name for name in names if not np.array_equal(one.get(name, ()), other.get(name, ()))), None)


ALONE = (
    Requirement("it has the parts of an algorithm", has_its_parts),
    Requirement("its functions have the right signatures, and kernels are compiled", takes_what_it_is_given),
    Requirement("settings declare their values and refuse others", settings_say_what_they_are),
    Requirement("its docstring begins with a line that says what it is", says_what_it_is),
)
IN_A_WORLD = (
    Requirement("its state declares its ranges, and it chooses an action", chooses_an_action),
    Requirement("a run takes the steps that it is given, and stays finite", is_exactly_its_budget_and_finite),
    Requirement("its state fits the declared allocation", says_what_memory_it_takes),
    Requirement("queries change nothing", looking_changes_nothing),
    Requirement("a run repeats with its seed, and differs with another", repeats_under_its_seed_alone),
    Requirement("a run in several calls is the same run", does_not_depend_on_the_number_of_calls),
    Requirement("a saved run resumes bit for bit", goes_on_from_a_file_bit_for_bit),
    Requirement("files whose arrays disagree in length are refused", refuses_files_whose_arrays_disagree),
    Requirement("the compiled loop and Gymnasium give the same run", is_the_same_in_gymnasium),
    Requirement("invalid actions are never taken", takes_no_invalid_action),
)
