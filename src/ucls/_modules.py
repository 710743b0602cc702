"""Modules of other people, by their import path."""

import importlib
from collections.abc import Iterable
from types import ModuleType

from ucls.errors import UserError, unknown

LENGTH = 200  # of a part of a path


def imported(kind: str, name: str, path: str, known: Iterable[str]) -> ModuleType:
    """Import what `name` stands for; say in one line that there is no such thing, or what it does when imported."""
    if not all(part.isidentifier() and len(part.encode()) < LENGTH for part in path.split(".")):
        raise unknown(kind, name[:LENGTH], known)
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not (path == error.name or path.startswith(error.name + ".")):
            raise UserError(f"module {name!r} cannot be imported: {error}") from error
        raise unknown(kind, name, known) from None
    except Exception as error:  # whatever a module of the user's does when it is imported
        told = " ".join(f"{type(error).__name__}: {error}".split())
        raise UserError(f"module {name!r} cannot be imported, {told}") from error
