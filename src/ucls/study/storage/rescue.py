"""Copy the intact results of a corrupted store into a new one. The corrupted file is only read."""

import os
from pathlib import Path
from typing import NamedTuple

from ucls.errors import UserError
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.storage.store import Store

NAME = "recovered"
GAP = 1000  # numbers of cells without a cell, after which there are no more: a corrupted page hides a few dozen


class Recovered(NamedTuple):
    """The number of recovered results, and the names of the recovered studies."""

    results: int
    studies: tuple[str, ...]


def recover(corrupted: Path, new: Path) -> Recovered:
    """Copy every intact result and study into a new store.

    The study "recovered" contains all recovered cells; a lost study finds its results there when it is run again.
    """
    if os.path.lexists(new):
        raise UserError(f"{new} already exists: give a new file")
    with Store(corrupted, recover=True) as source:
        cells = _cells(source)
        if not cells:
            raise UserError(f"nothing can be recovered from {corrupted}: none of its runs can be read")
        with Store(new, write=True) as target:
            target.declare(NAME, [(cell.agent, cell) for cell in cells.values()], "", None, None)
            results = sum(_copy(source, target, id) for id in cells)
            return Recovered(results, tuple(name for name in _names(source) if _declare(source, target, name)))


def _cells(source: Store) -> dict[str, RunSpec]:
    """Yield every readable run that matches its id, one by one, including those beyond corrupted pages."""
    cells: dict[str, RunSpec] = {}
    number = missed = 0
    while missed < GAP:
        number += 1
        cell = source.cell_at(number)
        missed = 0 if cell else missed + 1
        if cell is not None:
            cells[cell.id] = cell
    return cells


def _copy(source: Store, target: Store, id: str) -> bool:
    try:
        account = source.account(id)
    except UserError:
        return False
    return account is not None and target.finish(id, *account)


def _names(source: Store) -> list[str]:
    try:
        return [name for name, study in source.studies().items() if study.sound and name != NAME]
    except UserError:
        return []


def _declare(source: Store, target: Store, name: str) -> bool:
    try:
        about, members = source.study(name), source.members(name)
    except UserError:
        return False
    target.declare(name, members, *about)
    return True
