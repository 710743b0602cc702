"""Where an environment comes from: the name and the arguments that made it, as words."""

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from ucls.runs import naming

WATCHERS = ("RecordVideo", "RecordEpisodeStatistics", "HumanRendering", "RenderCollection")  # nobody watches a copy
Origin = dict[str, Any]  # {"env": name, "settings": {...}}, and "wrappers" if there are any


def origin_of(env: Any) -> Origin | None:
    """Words for how an environment was made, beyond what its registration says; None if nobody knows.

    They are data, for people: no path of this machine is in them, and no code.
    """
    if env is None:
        return None
    if made := naming.made_as(env):
        return {"env": made[0], "settings": {name: _plain(value) for name, value in made[1].items()}}
    spec = getattr(env, "spec", None)
    if spec is None:
        return None
    usual = naming.usual_arguments(spec.id)
    given = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
    settings = {name: _plain(value) for name, value in given.items()}
    settings = {name: word for name, word in settings.items() if name not in usual or _plain(usual[name]) != word}
    wrappers = [wrapper.name for wrapper in spec.additional_wrappers if wrapper.name not in WATCHERS]
    return {"env": spec.id, "settings": settings} | ({"wrappers": wrappers} if wrappers else {})


def _plain(value: Any) -> Any:
    """A value that is data, and the same on every machine; of a path only the name, of anything else the kind."""
    if isinstance(value, str):
        path = PureWindowsPath(value) if "\\" in value else PurePosixPath(value)
        return path.name if path.is_absolute() or value.startswith("~") else value
    if isinstance(value, np.generic):
        return _plain(value.item())
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(each) for key, each in value.items()}
    return f"a {type(value).__name__}"
