"""User-supplied modules, by their import path."""

import importlib
from collections.abc import Iterable
from types import ModuleType

from ucls.errors import UserError, unknown

LENGTH = 200  # of a part of a path, and of what an error may say


def is_path(path: str) -> bool:
    """Whether a text can be the import path of a module."""
    return all(part.isidentifier() and len(part.encode()) < LENGTH for part in path.split("."))


def import_path(path: str) -> ModuleType:
    """Import a module, which may execute anything; any failure becomes a one-line error."""
    try:
        return importlib.import_module(path)
    except (Exception, SystemExit) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(f"module {path!r} cannot be imported, {told[:LENGTH]}") from error


def imported(kind: str, name: str, path: str, known: Iterable[str]) -> ModuleType:
    """Import the module of a known name, or the one that `name` is the import path of; refuse any other name."""
    if not is_path(path):
        raise unknown(kind, name[:LENGTH], known)
    try:
        return import_path(path)
    except UserError as error:
        missing = error.__cause__.name if isinstance(error.__cause__, ModuleNotFoundError) else None
        if missing is not None and (path == missing or path.startswith(missing + ".")):
            raise unknown(kind, name, known) from None
        raise
