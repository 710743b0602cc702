"""The current runs of a study, and those that take far longer than similar ones."""

import time
from typing import NamedTuple

from ucls.study.running import running
from ucls.study.storage.store import Store

FACTOR = 3.0  # times as long as any finished cell of the same algorithm in the same environment needed
LEAST = 30.0  # seconds before a cell is reported as slow


class RunningCell(NamedTuple):
    """A current run: its seconds so far, and how many it would need at the speed of the slowest finished run with the
    same algorithm and environment (None if there is none)."""

    id: str
    agent: str
    env: str
    seed: int
    seconds: float
    expected: float | None
    process: int
    machine: str

    @property
    def slow(self) -> bool:
        """Whether it takes far longer than similar runs."""
        return self.expected is not None and self.seconds > max(LEAST, FACTOR * self.expected)


def running_cells(store: Store, name: str) -> list[RunningCell]:
    """Return the current runs of a study, the longest first."""
    now, alive = time.time(), running(store.partial)
    if not alive:
        return []
    paces, cells = store.slowest(), []
    for row in {row.id: row for row in store.each_row(name) if row.id in alive}.values():
        pace, here = paces.get((row.agent, row.env)), alive[row.id]
        expected = None if pace is None else pace[0] + row.steps * pace[1]
        about = (row.id, row.agent, row.env, row.seed, max(0.0, now - here.since), expected)
        cells.append(RunningCell(*about, here.process, here.machine))
    return sorted(cells, key=lambda cell: -cell.seconds)
