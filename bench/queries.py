"""Queries of a full store: `python -m bench queries CELLS [--store FILE]` fills one and times them: CPU time and
memory.

Of a thousand cells one failed, one diverged and one waits; the others are done.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import lasted, spread
from bench.tables import Table, plain, within
from ucls.study import Member, Store, make_run_specs
from ucls.study.storage.result import pack
from ucls.study.storage.schema import SEAL_RESULTS

NAME, GROUPS, RARE = "filled", 20, 1000
QUERIES = ("status", "compare")
ABOUT = "5.0, 10000.0, 'a machine', 'some versions', '2026-01-01T00:00:00+00:00'"


def measure(sizes: Sequence[int], times: int) -> dict[str, Any]:
    """Return the seconds that queries of a store with so many runs take: as commands, and inside the process."""
    found: dict[str, Any] = {}
    for cells in sizes:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "store.sqlite"
            fill(path, cells)
            found[str(cells)] = ask(path, times)
    return found


def fill(path: Path, cells: int) -> None:
    """Create a store with so many runs, in groups of different settings, most of them finished."""
    rng = np.random.default_rng(0)
    members = [
        Member(f"ucls p={p:.3f}", cell)
        for p in np.linspace(0.01, 0.5, GROUPS)
        for cell in make_run_specs(
            "ucls/RiverSwim-v0", "ucls", steps=50_000, seeds=range(cells // GROUPS), settings={"p": float(p)}
        )
    ]
    packed = pack({"curve": rng.normal(size=500), "episode_steps": np.zeros(0)})
    with Store(path, write=True) as store:
        db = store._db
        db.rows("PRAGMA synchronous = OFF")  # what is timed is reading
        store.declare(NAME, members, "", members[0].label, "reward")
        with db.transaction():
            numbers = np.array([number for (number,) in db.rows("SELECT number FROM cell ORDER BY number")])
            kind = np.arange(len(numbers)) % RARE
            done = numbers[kind > 1].tolist()
            reward, diverged = rng.normal(size=len(done)).tolist(), (kind[kind > 1] == 2).tolist()
            columns = "(cell, steps, diverged, reward, last_reward, episodes, mean_return)"
            rows = zip(done, diverged, reward, reward, reward, strict=True)
            db.write_many(f"INSERT INTO result {columns} VALUES (?, 50000, ?, ?, ?, 0.0, ?)", rows)
            db.write(f"INSERT INTO circumstance SELECT cell, {ABOUT} FROM result")
            db.write("INSERT INTO payload SELECT cell, ?, NULL FROM result", (packed,))
            db.write(SEAL_RESULTS)
            failed = ((number,) for number in numbers[kind == 1].tolist())
            db.write_many("INSERT INTO failure VALUES (?, 1, 'ValueError: no', 'a traceback')", failed)


def ask(path: Path, times: int) -> dict[str, Any]:
    """Time the queries of a store with so many runs."""
    took: dict[str, Any] = {"rows": spread(np.array([lasted(_group, path) for _ in range(times)]))}
    for query in QUERIES:
        command = [sys.executable, "-m", "ucls", "study", query, NAME, "--store", str(path)]
        took |= dict(_asked(query, command, times))
    return took


def _group(path: Path) -> dict[str, float]:
    with Store(path) as store:
        groups: dict[str, list[float]] = {}
        for row in store.each_row(NAME):
            if row.metrics is not None:
                groups.setdefault(row.label, []).append(row.metrics.reward)
    return {label: float(np.mean(values)) for label, values in groups.items()}


# A process begins with the memory of the one that starts it, so that one has to be small.
STARTER = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
took = time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000
print(json.dumps([done.returncode, (done.stderr.strip().splitlines() or ["nothing"])[-1], took]))
"""


def _asked(query: str, command: list[str], times: int) -> Iterator[tuple[str, Any]]:
    """Return the seconds, CPU seconds and peak megabytes of a command, if it succeeds."""
    samples = []
    for _ in range(times):
        started = [sys.executable, "-S", "-c", STARTER, *command]
        code, said, took = json.loads(subprocess.run(started, stdout=subprocess.PIPE, check=True).stdout)
        if code:
            yield f"{query} failed", said
            return
        samples.append(took)
    for name, column in zip((query, f"{query}, CPU", f"{query}, MB"), np.array(samples).T, strict=True):
        yield name, spread(column)


def table(queries: dict[str, Any]) -> Table:
    """Return the times as a table."""
    kinds = ("rows", *(f"{query}{unit}" for query in QUERIES for unit in ("", ", CPU", ", MB")))
    rows = [[f"{int(n):,}", *(within(took.get(kind)) for kind in kinds)] for n, took in queries.items()]
    note = (
        "`rows`: read and group all rows in one process. The others are whole commands, such as `ucls study status`: "
    )
    note += "seconds, CPU seconds and peak memory."
    failed = sorted({text for took in queries.values() for key, text in took.items() if key.endswith("failed")})
    note += "".join(f" Not measured: {text}" for text in failed)
    return Table("Store queries, seconds", ["runs", *kinds], rows, note)


def main(arguments: list[str]) -> int:
    """Fill a store, unless it exists, and time its queries."""
    parser = argparse.ArgumentParser(prog="python -m bench queries", description=__doc__)
    parser.add_argument("cells", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--store", type=Path, help="make the store here and leave it, or ask one that is here")
    parser.add_argument("--times", type=int, default=1, help="how often to ask")
    given = parser.parse_args(arguments)
    if given.store is None:
        found = measure([given.cells], given.times)
    else:
        if not given.store.exists():
            fill(given.store, given.cells)
        with Store(given.store) as store:
            cells = store.studies()[NAME].cells
        found = {str(cells): ask(given.store, given.times)}
    print(plain(table(found)))
    return 0
