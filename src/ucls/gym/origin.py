"""Describe an environment by what identifies it: how it was created, with which arguments, and in which wrappers."""

import hashlib
import json
import warnings
from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from types import FunctionType
from typing import Any

import numpy as np

from ucls.envs import ENVIRONMENTS, make_builtin
from ucls.envs.gym import BuiltinGymEnv
from ucls.errors import UclsWarning, UserError
from ucls.gym import registry, wrapping
from ucls.gym.identity import LIMIT, Origin, described_in, equal, in_words, innermost, is_same

ARRAY = 1000  # numbers of an array that are written out


def origin_of(env: Any) -> Origin | None:
    """Describe an environment by everything that is known to change it; None if nothing is known.

    The description is data for people and for comparisons: it has no path of this machine, and no code.
    """
    around = list(wrapping.layers(env))
    for depth, layer in enumerate(around):
        if made := registry.made_as(layer):
            settings = {name: _plain(value) for name, value in made[1].items()}
            outside = [each for each in wrapping.wrappers_of(env) if any(each is layer for layer in around[:depth])]
            return {"env": made[0], "settings": settings, "returns": _inside(layer)} | _wrappers(outside)
    return _inside(env)


def saved_origin(about: Mapping[str, Any]) -> Any:
    """The description in a checkpoint, which may be anything; None if it has none."""
    env, settings = about.get("env"), about.get("env_settings", {})
    if not isinstance(env, str) or env not in ENVIRONMENTS:
        return described_in(about)
    try:
        return {"env": env, "settings": _changed(env, make_builtin(env, settings).settings)}
    except UserError:
        return {"env": env, "settings": settings}


def tell_difference(about: Mapping[str, Any], env: Any) -> None:
    """Warn if an environment is not the one of a checkpoint, or if its wrappers have state that was not saved."""
    if env is None:
        return
    bare = wrapping.own_builtin(env) is not None
    saved, now = saved_origin(about), _inside(env) if bare else origin_of(env)
    if not is_same(saved, now):
        text = f"the agent learned in {in_words(saved)}; it continues in {in_words(now)}, with a new episode"
        warnings.warn(text, UclsWarning, stacklevel=4)
    elif isinstance(saved, Mapping) and innermost(saved) in ENVIRONMENTS and not bare:
        text = f"{in_words(saved)} continues with a new episode: the state of wrappers is not saved"
        warnings.warn(text, UclsWarning, stacklevel=4)
    if names := [type(each).__name__ for each in wrapping.normalizers_of(env)]:
        text = f"the statistics of {', '.join(names)} are not saved with an agent: those of this environment are used"
        warnings.warn(text, UclsWarning, stacklevel=4)


def _inside(env: Any) -> Origin | None:
    """Describe what no factory made: by its id and its arguments, if it is registered or built in."""
    wrappers, base, limit = wrapping.wrappers_of(env), list(wrapping.layers(env))[-1], wrapping.made_limit(env)
    spec = getattr(base, "spec", None)
    if type(base) is BuiltinGymEnv:
        origin = {"env": base.world.id, "settings": _changed(base.world.id, base.world.settings)}
    elif spec is not None:
        usual = {name: _plain(value) for name, value in registry.usual_arguments(spec.id).items()}
        given = {name: _plain(value) for name, value in spec.kwargs.items() if name != "render_mode"}
        settings = {name: word for name, word in given.items() if name not in usual or not equal(usual[name], word)}
        origin = {"env": spec.id, "settings": settings, **registry.unusual_entry(spec)}
    else:
        return {"env": None, "settings": {}, **_wrappers(wrappers)} if wrappers else None
    steps, registered = limit and limit._max_episode_steps, registry.usual_limit(str(origin["env"]))
    if steps != registered and (limit is not None or not any(map(wrapping.is_limit, wrappers))):
        origin["settings"] = {**origin["settings"], LIMIT: -1 if steps is None else _plain(steps)}
    return origin | _wrappers([each for each in wrappers if each is not limit])


def _changed(id: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a built-in environment that are not its defaults."""
    usual = make_builtin(id).settings
    return {name: _plain(value) for name, value in settings.items() if value != usual[name]}


def _wrappers(around: list[Any]) -> dict[str, list[dict[str, Any]]]:
    return {"wrappers": [_wrapper(each) for each in around]} if around else {}


def _wrapper(wrapper: Any) -> dict[str, Any]:
    kind, arguments = type(wrapper), wrapping.arguments_of(wrapper)
    settings = None if arguments is None else {name: _plain(value) for name, value in arguments.items()}
    return {"name": kind.__name__, "module": kind.__module__, "settings": settings}


def _plain(value: Any) -> Any:
    """Return a value as data that are the same on every machine; of a path only the name, of anything else the kind."""
    if isinstance(value, str):
        path = PureWindowsPath(value) if "\\" in value else PurePosixPath(value)
        return path.name if path.is_absolute() or value.startswith("~") else str(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return _plain(value.item())
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        digest = hashlib.sha256(value.tobytes()).hexdigest()[:16]
        return value.tolist() if value.size <= ARRAY else f"<array of shape {value.shape}, {digest}>"
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(each) for key, each in value.items()}
    more = f", {_digest(value)}" if isinstance(value, FunctionType) else ""
    return f"<{registry.kind_in_words(value)}{more}>"


def _digest(function: FunctionType) -> str:
    """Return a digest of the source of a function and of the values it closes over, as far as these are data."""
    cells = [_content(cell) for cell in function.__closure__ or ()]
    outside = [_plain(value) for value in [*cells, *(function.__defaults__ or ())] if not callable(value)]
    text = json.dumps([registry.source_of(function), outside], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None
