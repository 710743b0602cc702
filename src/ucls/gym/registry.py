"""Environments by name: the only place that turns strings into environments.

- `ucls/RiverSwim-v0`: a built-in environment (`ucls envs` lists them);
- `FrozenLake-v1`: any id registered with Gymnasium;
- `my_lakes:Lake-v0`: an id that is registered when the module `my_lakes` is imported;
- `my_lakes:make_lake`: a callable in that module, a function or a class, that returns an environment.

Settings `env.NAME` are its keyword arguments. Making an environment imports the code that its name refers to, so only
names given by the user are ever made, never names read from a file. The exception are Gymnasium's own environments,
which commands that inspect a saved run recreate.
"""

import contextlib
import difflib
import inspect
import json
import operator
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import gymnasium
from gymnasium.envs.registration import load_env_creator

from ucls._util.modules import import_path, is_path
from ucls.core.config import brief
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError, about, unknown
from ucls.settings import divided

PARTS = ("reset", "step", "action_space", "observation_space")
TOLD = 300  # characters of a third-party error message that are shown
# environments made by factories, with their names and arguments
MADE: "WeakKeyDictionary[Any, tuple[str, dict[str, Any]]]" = WeakKeyDictionary()
OF_MAKE = ("max_episode_steps", "disable_env_checker")  # arguments that `gymnasium.make` takes for every environment


def open_env(env: Any, settings: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return an environment, created if given by name, and the settings that are not the environment's."""
    own, given = divided(settings)
    if isinstance(env, str):
        return make_env(env, given), own
    if given:
        word = f"env.{next(iter(given))}"
        raise UserError(f"setting {word!r} applies only to an environment that is given by name: remove it")
    return env, own


def as_env(env: Any) -> Any:
    """Make an environment that is given by its name; return any other as it is."""
    return make_env(env) if isinstance(env, str) else env


@about("env")
def make_env(name: str, settings: Mapping[str, Any] = {}) -> gymnasium.Env[Any, Any]:
    """Make an environment by its name, with keyword arguments; any failure is a one-line `UserError`."""
    try:
        factory = _factory(name)
        if factory is None:
            _refuse_unknown(_creator(name.rpartition(":")[2]), settings, OF_MAKE)
            return gymnasium.make(name, **settings)
        _refuse_unknown(factory, settings)
        return _noted(_checked(factory(**settings), name), name, settings)
    except UserError:
        raise
    except gymnasium.error.UnregisteredEnv:
        near = difflib.get_close_matches(name[:100], list(gymnasium.registry), n=3, cutoff=0.6)
        raise unknown("environment", name, dict.fromkeys([*ENVIRONMENTS, *near])) from None
    except (Exception, SystemExit) as error:  # third-party code may raise anything
        raise UserError(f"{brief_name(name)} cannot be made: {_told(error)}") from error


def made_as(env: Any) -> tuple[str, dict[str, Any]] | None:
    """The name and the keyword arguments of an environment that `make_env` made with a factory."""
    try:
        return MADE.get(env)
    except TypeError:  # it is not hashable
        return None


def is_registered(id: str) -> bool:
    """Whether Gymnasium knows an id."""
    return id in gymnasium.registry


def usual_arguments(id: str) -> dict[str, Any]:
    """The keyword arguments that an id is registered with."""
    spec = gymnasium.registry.get(id)
    return {} if spec is None else dict(spec.kwargs)


def usual_limit(id: str) -> int | None:
    """The time limit that an id is registered with."""
    spec = gymnasium.registry.get(id)
    return None if spec is None else spec.max_episode_steps


def unusual_entry(spec: Any) -> dict[str, str]:
    """The entry point of a specification, unless its id is registered with the same one."""
    registered = gymnasium.registry.get(spec.id)
    usual = registered is not None and registered.entry_point == spec.entry_point
    return {} if usual else {"entry_point": _entry(spec.entry_point)}


def kind_in_words(value: Any) -> str:
    """A description of an argument that is not plain data: a space, the name of a class or function, or the type."""
    if isinstance(value, gymnasium.Space):
        return brief(value, 200)
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__}"
    name = getattr(value, "__qualname__", None) if callable(value) else None
    return f"{type(value).__name__} {name}" if isinstance(name, str) else type(value).__name__


def source_of(function: FunctionType) -> str:
    """The source of a function with normalized whitespace; empty if it is not available."""
    try:
        return " ".join(inspect.getsource(function).split())
    except (OSError, TypeError, SyntaxError):
        return ""


def makers(name: str) -> tuple[list[str], str]:
    """Return the modules whose code creates an environment, and its registration as text."""
    module, colon, _ = name.partition(":")
    modules = [_imported(module).__name__] if colon else []
    if _factory(name) is not None:
        return modules, ""
    spec = gymnasium.registry.get(name.rpartition(":")[2])
    if spec is None:
        return modules, ""
    wrappers = [(each.name, each.entry_point, each.kwargs) for each in spec.additional_wrappers]
    about = [_entry(spec.entry_point), spec.kwargs, spec.max_episode_steps, wrappers]
    entries = [_entry(spec.entry_point), *(each.entry_point for each in spec.additional_wrappers)]
    modules += [entry.partition(":")[0] for entry in entries if entry]
    return modules, json.dumps(about, sort_keys=True, default=lambda value: type(value).__qualname__)


def _entry(point: Any) -> str:
    """An entry point as `module:name`."""
    named = [getattr(point, name, "") for name in ("__module__", "__qualname__")]
    return point if isinstance(point, str) else ":".join(named)


@about("env")
def versioned(name: str) -> str:
    """The name with its version; an id without one gets the newest version that is registered.

    >>> versioned("FrozenLake"), versioned("FrozenLake-v1")
    ('FrozenLake-v1', 'FrozenLake-v1')
    """
    module, colon, id = name.rpartition(":")
    if id in gymnasium.registry or _factory(name) is not None:
        return name
    newest = _newest(id)
    return name if newest is None else f"{module}{colon}{newest}"


def brief_name(name: str) -> str:
    """A name in one short line."""
    return name if 0 < len(name) <= 100 and name.isprintable() else brief(name)


def _factory(name: str) -> Callable[..., Any] | None:
    """The callable of `module:factory`; None for an id, whose module is then imported."""
    module_name, colon, path = name.partition(":")
    if not colon:
        return None
    module = _imported(module_name)
    try:
        found = operator.attrgetter(path)(module)
    except (AttributeError, TypeError):
        if path in gymnasium.registry or _newest(path) is not None:
            return None
        raise _nothing_of(module, module_name, path) from None
    if not callable(found):
        raise UserError(f"{brief_name(name)} is {brief(found)}, not an environment: name a callable that returns one")
    return found


def _imported(name: str) -> ModuleType:
    if not is_path(name):
        raise UserError(f"module {brief(name)} cannot be imported: write module:id or module:factory")
    return import_path(name)


def _told(error: BaseException) -> str:
    """The message of an error in one line of limited length."""
    kind = "" if isinstance(error, gymnasium.error.Error) else f"{type(error).__name__}: "
    words = " ".join(f"{kind}{error}".split())
    return words if len(words) <= TOLD else f"{words[: TOLD - 3]}..."


def _nothing_of(module: ModuleType, name: str, path: str) -> UserError:
    """Return an error for a module without such an environment, with the nearest name that it has."""
    there = [word for word, value in vars(module).items() if callable(value) and not word.startswith("_")]
    near = difflib.get_close_matches(path[:100], [*there, *gymnasium.registry], n=1, cutoff=0.5)
    hint = f": did you mean '{name}:{near[0]}'?" if near else ""
    return UserError(f"module {name!r} has no callable {path[:100]!r}, and registers no such environment{hint}")


def _newest(id: str) -> str | None:
    """The newest version of an id that is given without one; None if there is no such id."""
    versions = [int(v) for known, _, v in (each.rpartition("-v") for each in gymnasium.registry) if known == id and id]
    return f"{id}-v{max(versions)}" if versions else None


def _creator(id: str) -> Any:
    """The callable that makes the environment of an id, if it is registered."""
    spec = gymnasium.registry.get(id)
    entry = None if spec is None else spec.entry_point
    return load_env_creator(entry) if isinstance(entry, str) else entry


def _refuse_unknown(maker: Any, settings: Mapping[str, Any], more: tuple[str, ...] = ()) -> None:
    """Refuse keyword arguments that a callable does not take, if its signature tells."""
    if maker is None:
        return
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):
        return
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    known = [parameter.name for parameter in parameters if parameter.kind not in by_position] + list(more)
    for name in settings:
        if not known:
            raise UserError(f"unknown setting {f'env.{name}'!r}: this environment takes none", f"env.{name}")
        if name not in known:
            raise unknown("setting", f"env.{name}", [f"env.{word}" for word in known])


def _checked(env: Any, name: str) -> Any:
    missing = [part for part in PARTS if not hasattr(env, part)]
    if missing or isinstance(env, type):
        lacks = f"it lacks {', '.join(missing)}" if missing else "it is a class"
        raise UserError(f"{brief_name(name)} returned {brief(env)}, which is not an environment: {lacks}")
    return env


def _noted(env: Any, name: str, settings: Mapping[str, Any]) -> Any:
    with contextlib.suppress(TypeError):  # one that is not hashable is not recorded
        MADE[env] = name, dict(settings)
    return env
