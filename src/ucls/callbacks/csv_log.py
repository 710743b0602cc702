"""The numbers of an agent that learns, as a table."""

import csv
import io
from pathlib import Path

from ucls._files import write_atomic
from ucls.agent.agent import Agent
from ucls.callbacks.keeping import refuse_unwritable
from ucls.callbacks.periodic import Log
from ucls.errors import UserError

STEP = "time/total_timesteps"  # the first column, by which a table is known to be ours


class CsvLog(Log):
    """Write the metrics every so many steps, a row each, to a CSV file; a cell is empty where there is no number.

    A table of before is gone on with, as far as the agent has come; of an agent that begins, it is refused.
    """

    def __init__(self, path: str | Path, every: int = 1000) -> None:
        super().__init__(every)
        self.path = Path(path)
        self._names: list[str] = [STEP]
        self._rows: list[dict[str, str]] = []

    def begin(self, agent: Agent) -> None:
        """Read what is there."""
        super().begin(agent)
        refuse_unwritable(self.path)
        self._names, rows = read(self.path) if self.path.exists() else ([STEP], [])
        self._rows = [row for row in rows if float(row[STEP]) <= agent.steps]
        if rows and not self._rows:
            raise UserError(f"{self.path} has the steps of another run: give another name, or move it away")
        self._write_all()

    def write(self, numbers: dict[str, tuple[float, int]], steps: int) -> None:
        """Write a row; where there is a new kind of number, all of them."""
        row = {name: f"{value!r}" for name, (value, _) in numbers.items()} | {STEP: str(steps)}
        self._rows.append(row)
        more = [name for name in row if name not in self._names]
        if more:
            self._names += more
            self._write_all()
            return
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(self._text([row]))

    def _write_all(self) -> None:
        text = self._text([dict(zip(self._names, self._names, strict=True)), *self._rows])
        write_atomic(self.path, lambda file: file.write_text(text, encoding="utf-8", newline=""))

    def _text(self, rows: list[dict[str, str]]) -> str:
        text = io.StringIO(newline="")
        csv.DictWriter(text, self._names, restval="", lineterminator="\n").writerows(rows)
        return text.getvalue()


def read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and the rows of a table of ours, without a row that was not finished; anything else is refused."""
    try:
        if not path.is_file():  # a pipe would keep us waiting
            raise ValueError
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        table = csv.DictReader(line for line in lines if line.endswith("\n"))
        names = list(table.fieldnames or [])
        rows = [row for row in table if None not in row and None not in row.values() and float(row[STEP]) >= 0]
        if names[:1] != [STEP]:
            raise ValueError
    except (OSError, ValueError, KeyError, csv.Error):
        raise UserError(f"{path} is not a log of ours: give another name") from None
    return names, rows
