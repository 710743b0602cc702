"""The processes of this machine, from /proc."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

PATIENCE = 1200.0


def below(pid: int, mark: str = "") -> list[int]:
    """The processes under another one whose command holds a mark."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(folder.name))
    marked, queue = [], [pid]
    while queue:
        queue += (mine := children.get(queue.pop(), []))
        marked += [child for child in mine if mark in _command(child)]
    return marked


def kill(pids: Iterable[int]) -> None:
    """Kill processes, and wait until they are gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda pid=pid: not _command(pid))


def listened_on(pids: Iterable[int]) -> set[str]:
    """The addresses on which some processes listen."""
    sockets = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(str(link.readlink()))
            except OSError:
                continue
    addresses = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                raw = bytes.fromhex(fields[1].split(":")[0])
                words = b"".join(raw[i : i + 4][::-1] for i in range(0, len(raw), 4))
                addresses.add(socket.inet_ntop(family, words).removeprefix("::ffff:"))
    return addresses


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing happened for {PATIENCE:.0f} seconds")
        time.sleep(0.02)


def _command(pid: int) -> str:
    """The command of a process; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""
