"""Where things are cached, and how files are written: whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path


def cache_dir(name: str) -> Path:
    """The folder for one kind of cached thing; `UCLS_CACHE_DIR` moves all of them.

    If it cannot be written (a read-only home), a folder under the system's temporary one serves.
    """
    if "UCLS_CACHE_DIR" in os.environ:
        root = Path(os.environ["UCLS_CACHE_DIR"])
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "ucls"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "ucls"
    folder = root / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"ucls-{user}" / name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make a temporary file beside `path`, then put it in place in one move."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
