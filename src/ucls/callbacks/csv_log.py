"""Log the metrics of an agent to a CSV file."""

import csv
import io
from pathlib import Path

from ucls._util.files import write_atomic
from ucls.agent.agent import Agent
from ucls.callbacks.keeping import refuse_unwritable
from ucls.callbacks.periodic import Log
from ucls.errors import UserError

STEP = "time/total_timesteps"  # the first column, which identifies a log of this callback


class CsvLog(Log):
    """Append the agent's metrics to a CSV file every `every` steps; missing values are empty.

    If the file exists, rows up to the agent's current step are kept. A file that contains only later steps raises
    `UserError`.
    """

    def __init__(self, path: str | Path, every: int = 1000) -> None:
        super().__init__(every)
        self.path = Path(path)
        self._names: list[str] = [STEP]
        self._rows: list[dict[str, str]] = []

    def begin(self, agent: Agent) -> None:
        """Read the existing file."""
        super().begin(agent)
        refuse_unwritable(self.path)
        self._names, rows = read(self.path) if self.path.exists() else ([STEP], [])
        self._rows = [row for row in rows if float(row[STEP]) <= agent.steps]
        if rows and not self._rows:
            raise UserError(f"{self.path} contains another run: give another path, or move the file")
        self._write_all()

    def write(self, numbers: dict[str, tuple[float, int]], steps: int) -> None:
        """Append a row; rewrite the file if there is a new column."""
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
    """Read the columns and complete rows of a log; refuse any other file."""
    try:
        if not path.is_file():  # reading a pipe would block
            raise ValueError
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        table = csv.DictReader(line for line in lines if line.endswith("\n"))
        names = list(table.fieldnames or [])
        rows = [row for row in table if None not in row and None not in row.values() and float(row[STEP]) >= 0]
        if names[:1] != [STEP]:
            raise ValueError
    except (OSError, ValueError, KeyError, csv.Error):
        raise UserError(f"{path} is not a log written by CsvLog: give another path") from None
    return names, rows
