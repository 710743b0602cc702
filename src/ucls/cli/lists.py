"""`ucls envs`, `ucls algorithms` and `ucls features`: list them with their settings."""

from typing import Any

from ucls.cli.input.options import Json
from ucls.cli.output import show
from ucls.cli.output.streams import print_json


def envs(as_json: Json = False) -> None:
    """List the built-in environments with their settings and defaults."""
    from ucls.envs import ENVIRONMENTS, make_builtin, module_of
    from ucls.settings import describe

    rows = []
    for id in ENVIRONMENTS:
        module: Any = module_of(id)
        defaults = make_builtin(id).settings
        settings = [{**_about(s), "default": defaults[s.name]} for s in describe(module.Settings)]
        features = {"name": module.FEATURES[0], **module.FEATURES[1]}
        rows.append(
            {
                "id": id,
                "about": _headline(module),
                "actions": module.ACTIONS,
                "features": features,
                "settings": settings,
            }
        )
    _listing(rows, "id", as_json)


def algorithms(as_json: Json = False) -> None:
    """List the algorithms with their settings and defaults."""
    from ucls.algorithms import ALGORITHMS, algorithm_module
    from ucls.settings import describe

    rows = []
    for name in ALGORITHMS:
        module: Any = algorithm_module(name)
        bounds = hasattr(module, "interval")
        settings = [_about(s) for s in describe(module.Settings)]
        rows.append({"name": name, "about": _headline(module), "bounds": bounds, "settings": settings})
    _listing(rows, "name", as_json)


def features(as_json: Json = False) -> None:
    """List the features with their settings and defaults."""
    from ucls.features import FEATURES, features_module
    from ucls.settings import describe

    rows = []
    for name in FEATURES:
        module: Any = features_module(name)
        settings = [_about(s) for s in describe(module.Settings)]
        rows.append({"name": name, "about": _headline(module), "settings": settings})
    _listing(rows, "name", as_json)


def _headline(module: Any) -> str:
    return (module.__doc__ or "").strip().splitlines()[0]


def _about(setting: Any) -> dict[str, Any]:
    return {"name": setting.name, "default": setting.default, "takes": str(setting.check), "about": setting.doc}


def _listing(rows: list[dict[str, Any]], key: str, as_json: bool) -> None:
    if as_json:
        print_json(rows)
    else:
        show.show_settings(rows, key)
