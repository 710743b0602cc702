"""The folder of a run: its checkpoint, model card, history and summary; each file is written atomically.

The checkpoint includes the history, so that the two cannot disagree; `history.npz` is a copy for users.
"""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ucls._util.files import lock, write_atomic
from ucls._util.json import as_json, read_json
from ucls._util.npz import read_heads
from ucls.agent import model_card
from ucls.core.history import History
from ucls.errors import UclsWarning, UserError

CHECKPOINT, HISTORY, RESULT = "agent.safetensors", "history.npz", "result.json"
LOCK, TRIES = ".lock", 100
LARGEST_RESULT = 2**20
CARD = model_card.beside(Path(CHECKPOINT)).name


def checkpoint_of(resume: Path) -> Path:
    """The checkpoint of an earlier run, given its folder or the file itself."""
    return resume / CHECKPOINT if resume.is_dir() else resume


@contextmanager
def lock_folder(out: Path | None) -> Iterator[None]:
    """Lock a folder against other runs, creating it if needed; release it at the end of the block.

    Readers are not affected. A folder that was created and stayed empty is removed.
    """
    if out is None:
        yield
        return
    made: list[Path] = []
    try:
        handle = _lock(out, made)
    except (OSError, ValueError) as error:
        _remove_empty(made)
        raise _cannot(out, error) from None
    try:
        for name in (CHECKPOINT, HISTORY, RESULT, CARD):  # what was half written when a run was killed
            for file in out.glob(f".{name}.????????{Path(name).suffix}"):
                file.unlink(missing_ok=True)
        yield
    finally:
        with suppress(OSError):
            (out / LOCK).unlink()
        _remove_empty(made)
        os.close(handle)


def refuse_unusable(out: Path, source: Path | None) -> None:
    """Refuse, before a run, a folder with files that it must not overwrite; `source` is the resumed checkpoint."""
    try:
        present = [name for name in (CHECKPOINT, HISTORY, RESULT, CARD) if os.path.lexists(out / name)]
        same = source is not None and source.exists() and CHECKPOINT in present and source.samefile(out / CHECKPOINT)
    except OSError as error:
        raise _cannot(out, error) from None
    if same:
        strange = [name for name in present if not _is_ours(out / name)]
        if strange:
            raise UserError(f"{out / strange[0]} was not written by ucls: move it, or give another --out")
    elif CHECKPOINT in present:
        raise UserError(f"{out} already contains a run: give another --out, or resume it with --resume {out}")
    elif present:
        raise UserError(f"{out} already contains {present[0]}: give another --out")


def write_history(out: Path, happened: History) -> None:
    """Write the history."""

    def save(path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, rewards=happened.rewards, ends=happened.ends)

    write_atomic(out / HISTORY, save)


def write_result(out: Path, result: Mapping[str, Any]) -> None:
    """Write the summary."""
    write_atomic(out / RESULT, lambda path: path.write_text(as_json(result, indent=2) + "\n"))


def _is_history(path: Path) -> bool:
    """Whether a file holds the arrays of a history."""
    heads = read_heads(path, ("rewards", "ends"))
    types = [heads[name].dtype for name in ("rewards", "ends") if name in heads]
    shapes = {head.shape for head in heads.values()}
    return types == [np.float64, np.uint8] and len(shapes) == 1 and len(shapes.pop()) == 1


def _is_ours(path: Path) -> bool:
    """Return whether a file has the content that its name says; a checkpoint is read before the run anyway."""
    if path.name == CARD:
        return model_card.is_ours(path)
    try:
        if path.name == HISTORY:
            return _is_history(path)
        if path.name == RESULT:
            found = read_json(path, LARGEST_RESULT)
            return isinstance(found, dict) and {"env", "agent", "steps"} <= found.keys()
    except UserError:
        return False
    return True


def _lock(out: Path, made: list[Path]) -> int:
    """Create a folder, note in `made` which folders are new, and hold its lock file until the handle is closed."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: give a folder as --out")
    for attempt in range(TRIES):
        made += [folder for folder in (out, *out.parents) if folder not in made and not folder.exists()]
        try:
            out.mkdir(parents=True, exist_ok=True)
            handle = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except FileNotFoundError:  # another run has just removed the folder that it had made
            if attempt == TRIES - 1:
                raise
            continue
        try:
            _hold(handle, out)
            if _is_named(handle, out / LOCK):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # the run before has just removed this file: others would lock another one
    raise _busy(out)


def _is_named(handle: int, path: Path) -> bool:
    """Return whether an open file is still the one with that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _hold(handle: int, out: Path) -> None:
    try:
        lock(handle)
    except BlockingIOError:
        raise _busy(out) from None
    except OSError as error:
        why = f"this file system does not support locks ({error.strerror})"
        warnings.warn(f"{why}: do not start a second `ucls train` with --out {out}", UclsWarning, stacklevel=4)


def _busy(out: Path) -> UserError:
    return UserError(f"another `ucls train` is running with --out {out}: wait until it ends, or give another --out")


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, as long as they are empty."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _cannot(out: Path, error: Exception) -> UserError:
    return UserError(f"--out {str(out)[:200]!r} cannot be used: {getattr(error, 'strerror', None) or error}")
