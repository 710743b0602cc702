"""The outcome of each run of a runner, and the tally of all."""

from typing import NamedTuple

from ucls.study.declaration.run_spec import RunSpec
from ucls.study.storage.result import Circumstance, Result


class Outcome(NamedTuple):
    """The outcome of a run in a worker: a result, an error, or (neither) a stop before its end.

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
    """The progress of a study, and whether it was stopped."""

    cells: int
    done: int = 0
    diverged: int = 0
    failed: int = 0
    steps: int = 0
    stopped: bool = False

    def after(self, cell: RunSpec, outcome: Outcome) -> "Tally":
        """Return the tally with one more outcome, that of a run."""
        if outcome.result is not None:
            diverged = self.diverged + outcome.result.diverged
            return self._replace(done=self.done + 1, diverged=diverged, steps=self.steps + cell.steps)
        return self._replace(failed=self.failed + bool(outcome.error))
