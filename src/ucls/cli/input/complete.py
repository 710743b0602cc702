"""Shell completion (`ucls --install-completion`): names, found without slow imports.

A shell asks at every keystroke, so what is slow to import is left out: Gymnasium's ids and the settings. Nothing here
reports an error: the user is still typing.
"""

from collections.abc import Iterable
from pathlib import Path

import typer

SECONDS = 0.2  # to wait for a store that another process writes


def algorithms(incomplete: str) -> list[str]:
    """Complete built-in algorithms."""
    from ucls.algorithms import ALGORITHMS

    return _beginning(ALGORITHMS, incomplete)


def envs(incomplete: str) -> list[str]:
    """Complete built-in environments."""
    from ucls.envs import ENVIRONMENTS

    return _beginning(ENVIRONMENTS, incomplete)


def algorithms_and_envs(incomplete: str) -> list[str]:
    """Complete algorithms and environments, for `ucls check`."""
    return algorithms(incomplete) + envs(incomplete)


def features(incomplete: str) -> list[str]:
    """Complete built-in features."""
    from ucls.features import FEATURES

    return _beginning(FEATURES, incomplete)


def studies(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the studies in the store of the command, and files that may declare one."""
    return _beginning(_kept(context.params.get("store")), incomplete) + _files(incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _kept(store: object) -> list[str]:
    """Return the names in a store, without checking it; none if it cannot be read."""
    import sqlite3
    from contextlib import closing

    try:
        path = Path(str(store)).absolute()
        if not path.is_file():
            return []
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=SECONDS)) as db:
            names = [str(name) for [name] in db.execute("SELECT name FROM study ORDER BY name")]
    except (OSError, ValueError, sqlite3.Error):
        return []
    return [name for name in names if name.isprintable()]


def _files(incomplete: str) -> list[str]:
    """The TOML files and the folders that start with this text."""
    folder, _, start = incomplete.rpartition("/")
    above = f"{folder}/" if folder or incomplete.startswith("/") else ""
    try:
        found = [path for path in Path(above or ".").iterdir() if path.name.startswith(start)]
        shown = [path for path in found if start or not path.name.startswith(".")]
        names = [f"{above}{path.name}/" if path.is_dir() else f"{above}{path.name}" for path in shown]
    except (OSError, ValueError):
        return []
    return sorted(name for name in names if name.endswith((".toml", "/")))
