"""Records of studies and cells in a store, other than results."""

from typing import NamedTuple

from ucls.core.metrics import Metrics


class Declaration(NamedTuple):
    """What was declared of a study: the text that it was read from, and what its labels are compared with and by."""

    definition: str
    baseline: str | None
    metric: str | None


class Progress(NamedTuple):
    """How many cells a study has, how many are done, and whether its record is intact."""

    cells: int
    done: int
    sound: bool


class Row(NamedTuple):
    """A cell of a study with its outcome: `status` is done, diverged, corrupted, failed or waiting."""

    label: str
    id: str
    agent: str
    env: str
    steps: int
    seed: int
    status: str
    metrics: Metrics | None
    error: str | None


class Failure(NamedTuple):
    """A cell that cannot be run, and why."""

    id: str
    agent: str
    env: str
    seed: int
    attempts: int
    error: str
    traceback: str
