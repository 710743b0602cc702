"""The runs that wait for a worker, and how often each was lost with one."""

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome

TRIES = 3  # of a cell among others, and as many again with no other beside it


def kind(cell: RunSpec) -> tuple[str, str, str, str]:
    """Return the key that runs with the same compiled kernels share."""
    return cell.agent, cell.env, cell.features, cell.dtype


class Losses:
    """How often each run was lost together with its process.

    It is unknown whether a cell killed its process or something else did. So a cell that was lost three times is put
    aside until no other runs beside it, and only one that is lost three times more, alone, has failed. A worker that
    says why, too little memory, need say so only once when it is alone.
    """

    def __init__(self) -> None:
        self._times: dict[str, int] = {}

    def count(
        self, cell: RunSpec, hint: str = "it may have run out of memory", last: Outcome | None = None
    ) -> Outcome | None:
        """Count a loss; return a failure if there were too many, with the last words of the worker if there are any."""
        self._times[cell.id] = times = self._times.get(cell.id, 0) + 1
        if times < (2 * TRIES if last is None else TRIES + 1):
            return None
        if last is not None:
            return last._replace(error=f"{last.error} ({times} times)", attempts=times, lost=False)
        return Outcome(cell.id, error=f"its process was killed {times} times: {hint}", attempts=times)

    def suspect(self, cell: RunSpec) -> bool:
        """Return whether a run was lost so often that it should run alone."""
        return self._times.get(cell.id, 0) >= TRIES


class Queue:
    """The waiting runs, and how often each was lost."""

    def __init__(self, cells: Sequence[RunSpec]) -> None:
        self._kinds: dict[Any, deque[RunSpec]] = {}
        self._taken: Counter[Any] = Counter()
        self._aside: deque[RunSpec] = deque()
        self._losses = Losses()
        for cell in cells:
            self._kinds.setdefault(kind(cell), deque()).append(cell)

    def __len__(self) -> int:
        return len(self._aside) + sum(len(cells) for cells in self._kinds.values())

    def ready(self, alone: bool) -> int:
        """Return how many runs could start now."""
        return len(self) - len(self._aside) or int(alone and bool(self._aside))

    def take(self, last: RunSpec | None, alone: bool) -> RunSpec | None:
        """Return the next run: one that needs the kernels the worker has compiled, else one that no other worker
        compiles for.

        What was put aside comes last, and only to a worker that is `alone`, with no other at a cell.
        """
        mine = kind(last) if last else None
        if mine not in self._kinds:
            self._taken[mine] -= 1
            mine = min(self._kinds, key=lambda k: self._taken[k], default=None)
            self._taken[mine] += 1
        if mine is None:
            return self._aside.popleft() if alone and self._aside else None
        cell = self._kinds[mine].popleft()
        if not self._kinds[mine]:
            del self._kinds[mine]
        return cell

    def put_back(self, cell: RunSpec, last: Outcome | None = None) -> Outcome | None:
        """Queue a lost run again, or return its failure after too many losses."""
        outcome = self._losses.count(cell, last=last)
        if outcome is None:
            # To the end of the line: what killed it, short memory or a bad moment, may have passed by then.
            suspect = self._losses.suspect(cell)
            (self._aside if suspect else self._kinds.setdefault(kind(cell), deque())).append(cell)
        return outcome
