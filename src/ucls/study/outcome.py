"""What comes of giving cells to a runner: an outcome for each, and the tally of them all."""

from typing import NamedTuple

from ucls.study.declaration.run_spec import RunSpec
from ucls.study.storage.result import Circumstance, Result


class Outcome(NamedTuple):
    """What came of giving a cell to a worker: a result, an error, or (neither) a stop before its end.

    An error that is the worker's fault, too little memory, has `lost` the cell: another worker may do better. `note` is
    what a person should know of a result.
    """

    id: str
    result: Result | None = None
    about: Circumstance | None = None
    error: str = ""
    traceback: str = ""
    attempts: int = 1
    lost: bool = False
    note: str = ""


class Tally(NamedTuple):
    """How far a study is, and whether it was stopped."""

    cells: int
    done: int = 0
    diverged: int = 0
    failed: int = 0
    steps: int = 0
    stopped: bool = False

    def after(self, cell: RunSpec, outcome: Outcome) -> "Tally":
        """The tally with one more outcome, that of a cell."""
        if outcome.result is not None:
            diverged = self.diverged + outcome.result.diverged
            return self._replace(done=self.done + 1, diverged=diverged, steps=self.steps + cell.steps)
        return self._replace(failed=self.failed + bool(outcome.error))
