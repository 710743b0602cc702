"""Diagnose runs that differ in their seeds: measurements, verdicts, and final policies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.core.history import History
from ucls.core.run import make_run
from ucls.diagnostics.coverage import Coverage, Validity, columns_of, coverage, plans, validity
from ucls.diagnostics.internals import columns
from ucls.diagnostics.policies import Policies, policies
from ucls.diagnostics.probe import DISTRIBUTIONS, POINTS, probe_run
from ucls.diagnostics.verdict import Verdict, verdict
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError
from ucls.train.open_run import closed_after

VISITED = "visited"  # the distribution of a third-party environment
COLUMNS = ("optimism", "covered", "radius", "widest", "value_error", "regret", "bound")


class Diagnosis(NamedTuple):
    """One run: its history, its measurements by name, the verdict, and its final policies unless it diverged.

    `internals` is what was read inside the learner, by the names that its algorithm gives. `coverage` and `validity`
    are of an algorithm that plans for q* (`diagnostics.coverage`): how often its upper bound holds.
    """

    seed: int
    history: History
    readings: dict[str, np.ndarray]
    verdict: Verdict
    policies: Policies | None
    internals: dict[str, np.ndarray]
    coverage: dict[str, np.ndarray]
    validity: Validity | None


class Counts(NamedTuple):
    """The number of measurements of some runs, of those with optimism, and of those of them with regret above f + g."""

    readings: int
    optimistic: int
    above_the_bound: int


def diagnose(
    env: str,
    agent: str,
    steps: int,
    seeds: Iterable[int],
    settings: Mapping[str, Any] = {},
    distribution: str | None = None,
    measurements: int = POINTS,
    **around: Any,
) -> list[Diagnosis]:
    """Run an agent with every seed and measure it along the way.

    In a third-party environment the measurements are those of `visited`; `around` are its low, high and discount.
    """
    if env not in ENVIRONMENTS:
        return _diagnose_visited(env, agent, steps, seeds, settings, distribution, measurements, around)
    if any(value is not None for value in around.values()):
        raise UserError(
            "low, high and discount are for third-party environments: remove them, built-in ones define their own"
        )
    distribution = distribution or default_distribution(env)
    diagnoses = []
    for seed in seeds:
        run = make_run(env, agent, seed=seed, settings=settings)
        into: list[dict[str, float]] = []
        found: list[Coverage] = []
        each = (lambda learner, stick, to=found: to.append(coverage(learner, stick))) if plans(run.learner) else None
        history, readings = probe_run(
            run, steps, measurements=measurements, distribution=distribution, into=into, each=each
        )
        last = None if history.diverged else policies(run, distribution)
        covered = columns_of(found) if found else {}
        valid = validity(readings["step"], covered, run.learner.hyper.noise_scale) if found else None
        judged = verdict(readings, history.diverged)
        diagnoses.append(Diagnosis(seed, history, readings, judged, last, columns(into), covered, valid))
    return diagnoses


def _diagnose_visited(
    env: str,
    agent: str,
    steps: int,
    seeds: Iterable[int],
    settings: Mapping[str, Any],
    distribution: str | None,
    measurements: int,
    around: Mapping[str, Any],
) -> list[Diagnosis]:
    from ucls.agent.agent import Agent
    from ucls.diagnostics.visited import judge, visited

    if distribution not in (None, default_distribution(env)):
        raise UserError(f"the distribution can only be {VISITED!r} in {env}: its other states are unknown")
    diagnoses = []
    for seed in seeds:
        into: list[dict[str, float]] = []
        learner = Agent(env, agent, seed=seed, settings=dict(settings), **around)
        with closed_after(learner):
            history, readings = visited(learner, steps, measurements, into)
        judged = judge(readings, history.diverged)
        diagnoses.append(Diagnosis(seed, history, readings, judged, None, columns(into), {}, None))
    return diagnoses


def default_distribution(env: str) -> str:
    """Return the default distribution of states: start states, or visited states."""
    return DISTRIBUTIONS[0] if env in ENVIRONMENTS else VISITED


def headline(diagnoses: Sequence[Diagnosis]) -> str:
    """Return the verdicts, the most common first.

    >>> headline([])
    ''
    """
    counts = Counter(d.verdict.word for d in diagnoses).most_common()
    if len(diagnoses) == 1:
        return counts[0][0]
    return "; ".join(f"{word} in {count} of {len(diagnoses)} runs" for word, count in counts)


def counts(diagnoses: Sequence[Diagnosis]) -> Counts:
    """Count the measurements, those with expected optimism, and those of them with regret above the bound."""
    optimistic = [d.readings["optimistic"] for d in diagnoses]
    above = [d.readings["optimistic"] & ~d.readings["holds"] for d in diagnoses]
    readings = sum(len(d.readings["step"]) for d in diagnoses)
    return Counts(readings, *(sum(int(np.sum(each)) for each in some) for some in (optimistic, above)))


def as_data(diagnoses: Sequence[Diagnosis]) -> list[dict[str, Any]]:
    """The diagnoses as JSON can hold them."""
    rows = []
    for d in diagnoses:
        late = {name: _number(value) for name, value in d.verdict.late.items()}
        row = {"seed": d.seed, "verdict": d.verdict.word, "because": d.verdict.because, "late": late}
        row |= {
            "total_reward": float(d.history.rewards.sum()),
            "final_reward_per_step": d.history.final_reward_per_step,
        }
        if d.policies is not None:
            row["regret_mean"], row["regret_bound"] = d.policies.regrets()
        if d.validity is not None:
            late = {name: _number(value) for name, value in d.validity.late._asdict().items()}
            judged = {"nominal": d.validity.nominal, "holds": d.validity.holds, "because": d.validity.because}
            row["coverage"] = {**judged, "late": late, "measurements": _lists(d.coverage)}
        rows.append(row | {"readings": _lists(d.readings), "internals": _lists(d.internals)})
    return rows


def _lists(arrays: Mapping[str, np.ndarray]) -> dict[str, list[Any]]:
    return {name: [_number(value) for value in values.tolist()] for name, values in arrays.items()}


def _number(value: Any) -> Any:
    """Return a number that JSON can represent; None if it was not measured."""
    return None if value != value else value
