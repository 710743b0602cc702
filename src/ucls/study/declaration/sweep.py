"""Sweeps: find the best settings of an algorithm in an environment on separate tuning seeds.

Tuning seeds start at `TUNING`, above every seed of a study, so the two never overlap.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.core.metrics import Metrics, sign_of
from ucls.errors import UserError
from ucls.settings import Whole
from ucls.study.declaration.run_spec import RunSpec, make_run_specs

TUNING = 1_000_000_000
CELLS = 1_000_000  # maximum number of runs: more is a typing error and would fill memory


class Range(NamedTuple):
    """Values between two numbers, evenly spread or evenly in their logarithm; `whole` for integers."""

    low: float
    high: float
    log: bool = True
    whole: bool = False

    def at(self, part: float) -> float:
        """Return the value at a fraction of the range, 0 to 1."""
        if self.log:
            value = math.exp(math.log(self.low) + part * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + part * (self.high - self.low)
        return Whole().read(round(value)) if self.whole else float(f"{value:.3g}")


Space = Mapping[str, Range | Sequence[Any]]


class Sweep(NamedTuple):
    """What to tune: the settings that are fixed, and the space of the others.

    `size` candidates are tried (all of a grid if it is 0), each on `runs` tuning seeds; they are drawn at once
    (`sampler` "random") or one after another by Optuna ("optuna").
    """

    label: str
    agent: str
    env: str
    space: Space
    fixed: Mapping[str, Any] = {}
    steps: int = 50_000
    size: int = 0
    runs: int = 3
    metric: str = "reward"
    dtype: str = "float64"
    features: str | None = None
    sampler: str = "random"
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None
    discount: float | None = None

    def cells(self, settings: Mapping[str, Any], seeds: Iterable[int]) -> tuple[RunSpec, ...]:
        """The runs of some settings on some seeds."""
        names = ("steps", "dtype", "features", "low", "high", "discount")
        around = {name: getattr(self, name) for name in names}
        return make_run_specs(self.env, self.agent, seeds=seeds, settings={**self.fixed, **settings}, **around)


class Trial(NamedTuple):
    """A candidate, its mean score over successful runs, and how many runs diverged or failed."""

    settings: dict[str, Any]
    score: float | None
    scores: list[float]
    diverged: int


class Winner(NamedTuple):
    """The best settings of a sweep, and the scores of all candidates, the best first."""

    label: str
    agent: str
    env: str
    metric: str
    steps: int
    runs: int
    settings: dict[str, Any]
    trials: list[Trial]

    def as_data(self) -> dict[str, Any]:
        """Return the winner in a form that JSON can represent."""
        return {**self._asdict(), "trials": [trial._asdict() for trial in self.trials]}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Winner":
        """Read the output of `as_data`."""
        if data.keys() != set(cls._fields):
            raise UserError("the result of a sweep was saved by another version of ucls: run it again in a new store")
        return cls(**{**data, "trials": [Trial(**trial) for trial in data["trials"]]})


def effort_in_words(winners: Sequence[Winner]) -> list[str]:
    """Say how many candidates and runs were tried to find each of the tuned settings."""
    return [
        f"{w.label} in {w.env} was tuned: {len(w.trials):,} candidates on {w.runs} tuning seeds each, "
        f"{len(w.trials) * w.runs:,} runs of {w.steps:,} steps; the tuning seeds are not among those reported"
        for w in winners
    ]


def tuning_seeds(runs: int) -> range:
    """The seeds of a sweep."""
    return range(TUNING, TUNING + runs)


def candidates(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings that a sweep tries: a grid, or a random sample that depends only on the space and the size.

    A space of one range is spread evenly rather than at random.

    >>> candidates(Sweep("a", "ucls", "ucls/RiverSwim-v0", {"p": Range(0.01, 1)}, size=3))
    [{'p': 0.01}, {'p': 0.1}, {'p': 1.0}]
    """
    space, size = sweep.space, sweep.size
    if count(space, size) > CELLS:
        raise UserError(
            f"the sweep of {sweep.label} has {count(space, size):,} candidates, and at most {CELLS:,} are allowed",
            "size",
        )
    ranges = {name: values for name, values in space.items() if isinstance(values, Range)}
    if not ranges:
        lists = {name: values for name, values in space.items() if not isinstance(values, Range)}
        points = math.prod(len(values) for values in lists.values())
        if not size or size >= points:
            return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
        chosen = np.random.default_rng(0).choice(_countable(points), size, replace=False)
        return [_point(lists, int(i)) for i in sorted(chosen)]
    if not size:
        raise UserError(f"the sweep of {sweep.label} has a range: set `size`, the number of candidates", "size")
    if len(space) == 1:
        (name, values) = next(iter(ranges.items()))
        return [{name: values.at(i / max(1, size - 1))} for i in range(size)]
    rng = np.random.default_rng(0)
    return [{name: _draw(values, rng) for name, values in space.items()} for _ in range(size)]


def count(space: Space, size: int) -> int:
    """How many candidates a sweep tries: so many, or all of a grid."""
    if any(isinstance(values, Range) for values in space.values()):
        return size
    points = math.prod(len(values) for values in space.values())
    return min(points, size) if size else points


def _countable(points: int) -> int:
    if points >= 2**63:
        raise UserError(f"a grid of {float(points):.3g} points is too large to sample: list fewer values")
    return points


def _point(lists: Mapping[str, Sequence[Any]], i: int) -> dict[str, Any]:
    """Return the i-th point of a grid, whose last list varies fastest."""
    point = {}
    for name in reversed(list(lists)):
        i, place = divmod(i, len(lists[name]))
        point[name] = lists[name][place]
    return {name: point[name] for name in lists}


def _draw(values: Range | Sequence[Any], rng: np.random.Generator) -> Any:
    part = rng.random()
    return values.at(part) if isinstance(values, Range) else values[int(part * len(values))]


def sweep_cells(sweep: Sweep, settings: Mapping[str, Any]) -> tuple[RunSpec, ...]:
    """Return the runs that evaluate one candidate."""
    return sweep.cells(settings, tuning_seeds(sweep.runs))


def judge(
    sweep: Sweep,
    find: Callable[[RunSpec], tuple[Metrics, bool] | None],
    tried: Sequence[Mapping[str, Any]] | None = None,
) -> list[Trial]:
    """Rank the candidates, the best first; candidates with a diverged or failed run rank last."""
    trials = []
    for settings in candidates(sweep) if tried is None else tried:
        outcomes = [find(cell) for cell in sweep_cells(sweep, settings)]
        values = [getattr(o[0], sweep.metric) for o in outcomes if o is not None and not o[1]]
        sound = [float(value) for value in values if value is not None]
        score = float(np.mean(sound)) if sound else None
        trials.append(Trial(dict(settings), score, sound, len(outcomes) - len(sound)))
    sign = sign_of(sweep.metric)
    return sorted(trials, key=lambda t: (t.diverged, t.score is None, -sign * (t.score or 0.0)))
