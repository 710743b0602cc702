"""Records of studies and runs in a store, other than results."""

from typing import NamedTuple

from ucls.core.metrics import Metrics


class Declaration(NamedTuple):
    """The declaration of a study: its text, and the baseline and metric of comparisons."""

    definition: str
    baseline: str | None
    metric: str | None


class Progress(NamedTuple):
    """How many runs a study has, how many are finished, and whether its record is intact."""

    cells: int
    done: int
    sound: bool


class Row(NamedTuple):
    """A run of a study with its outcome: `status` is done, diverged, corrupted, failed or waiting."""

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
    """A failed run, and the reason."""

    id: str
    agent: str
    env: str
    seed: int
    attempts: int
    error: str
    traceback: str
