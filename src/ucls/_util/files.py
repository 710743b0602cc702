"""Locations of caches, and atomic file writes."""

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on this system: nobody waits for anybody
    fcntl = None

DAY = 86400.0
SECONDS_BETWEEN_TRIES = 0.05
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_dir(name: str) -> Path | None:
    """The folder for one kind of cached thing, or None; `UCLS_CACHE_DIR` moves all of them.

    What is in it is trusted as this program is, so it must be a folder (not a link to one) of this user's, and others
    lose the right to write there if they have it. If that cannot be had, or it cannot be written (a read-only home),
    a folder under the system's temporary one serves, on the same terms; and if that cannot be had either, there is
    no cache. The folders above are not watched: a file counts only if it is this user's too (`read_owned`).
    """
    for root in (_chosen_root, _temporary_root):
        try:
            above, folder = root(), root() / name
            above.mkdir(parents=True, exist_ok=True, mode=0o700)
            if (root is _chosen_root or _is_private(above)) and _is_private(folder):
                return folder
        except (OSError, RuntimeError):  # no home, no temporary folder, or none that can be written
            pass
    return None


def read_owned(path: Path) -> bytes | None:
    """Read a file if it exists, belongs to this user, and cannot have been written or replaced by anyone else."""
    try:
        if not _is_ours_alone(path.parent.lstat()):
            return None
        with os.fdopen(
            os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb"
        ) as file:
            return file.read() if _is_ours_alone(os.fstat(file.fileno())) else None
    except OSError:
        return None


def write_owned(path: Path, content: bytes) -> None:
    """Write a file atomically, readable for this user only; it may be lost in a power failure."""
    path.parent.mkdir(exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def lock(file: int | IO[Any], shared: bool = False) -> None:
    """Lock an open file until it is closed. Raise BlockingIOError if another process has locked it, and another OSError
    where files cannot be locked."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def hold(path: Path, patience: float) -> int | None:
    """Lock a file against other processes, waiting so many seconds at most; return None if it stays locked.

    `release_file` releases it, and so does the end of this process.
    """
    flags, deadline = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), time.monotonic() + patience
    try:
        handle = os.open(path, flags, 0o600)
    except OSError:
        return None
    while True:
        try:
            lock(handle)
            return handle
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EINTR) or time.monotonic() > deadline:
                os.close(handle)
                return None
        time.sleep(SECONDS_BETWEEN_TRIES)


def release_file(path: Path, handle: int) -> None:
    """Unlock and remove a file that `hold` locked."""
    with contextlib.suppress(OSError):
        path.unlink()
    os.close(handle)


def touch_daily(folder: Path) -> None:
    """Mark a folder as used today."""
    with contextlib.suppress(OSError):
        if time.time() - folder.stat().st_mtime > DAY:
            os.utime(folder)


def prune(root: Path, unused: float = 30 * DAY) -> None:
    """Remove the folders of a cache that have not been used for so many seconds; their content can be recreated."""
    with contextlib.suppress(OSError):
        for folder in list(root.iterdir()):
            status = folder.lstat()
            if stat.S_ISDIR(status.st_mode) and _is_of_this_user(status) and time.time() - status.st_mtime > unused:
                shutil.rmtree(folder, ignore_errors=True)


def _chosen_root() -> Path:
    if named := os.environ.get("UCLS_CACHE_DIR"):
        return Path(named).expanduser().absolute()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir()) / "ucls"
    general = Path(os.environ.get("XDG_CACHE_HOME") or "")  # a relative one is to be ignored, says its specification
    return (general if general.is_absolute() else Path("~/.cache").expanduser()) / "ucls"


def _temporary_root() -> Path:
    return Path(tempfile.gettempdir()) / f"ucls-{os.geteuid() if hasattr(os, 'geteuid') else 'user'}"


def _is_private(folder: Path) -> bool:
    """Create a folder if needed, and return whether it belongs to this user, so that nobody else can write to it."""
    folder.mkdir(exist_ok=True, mode=0o700)
    status = folder.lstat()
    if stat.S_ISDIR(status.st_mode) and not _is_ours_alone(status) and _is_of_this_user(status):
        folder.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS_WRITE)
        status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and _is_ours_alone(status) and os.access(folder, os.W_OK)


def _is_ours_alone(status: os.stat_result) -> bool:
    return _is_of_this_user(status) and (os.name == "nt" or not status.st_mode & OTHERS_WRITE)


def _is_of_this_user(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def write_atomic(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` create a temporary file beside `path`, then move it into place."""
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
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = str(path), None  # people know this name, not the temporary one
        raise
    finally:
        temporary.unlink(missing_ok=True)
