"""Scores: returns on a scale from a random policy (0) to the best known policy (1).

- The *online* score of a run is of what it collected while it learned: the mean over its steps of the return of the
  episode that the step was in, or the mean reward per step in a continuing task. One minus it is the run's regret, as
  a fraction of a random policy's.
- The *greedy* score is of the mean return of the greedy policy after the run.
- A run that failed, or whose values diverged, scores 0, and so does every run in a task that the entry refuses.
- Over tasks, scores are first limited to 0 and 1. The interquartile mean (IQM) leaves out a quarter of the runs at
  either end; `worst` is the mean over tasks of each one's worst run.
- A run reaches the threshold at the first step at which its last 20 episodes (a tenth of a continuing run) score 0.9.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.benchmark.result import Entered, Run
from ucls.benchmark.tasks import CONTINUING, Scale, Task
from ucls.stats import moving_mean, summarize

WINDOW, THRESHOLD = 20, 0.9
MEASURES = ("online", "greedy")


class Score(NamedTuple):
    """The scores of a run; `threshold` is the step at which it reached it, `cpu` seconds of processor time per step."""

    task: str
    seed: int
    online: float
    greedy: float
    threshold: int | None
    cpu: float | None


def scores_of(entered: Entered, tasks: Iterable[str] | None = None) -> list[Score]:
    """The scores of all runs in some of the tasks (in all by default)."""
    wanted = {task.id: task for task in entered.tasks if tasks is None or task.id in tasks}
    known = {(run.task, run.seed): run for run in entered.runs}
    found = []
    for id, task in wanted.items():
        for seed in range(entered.seeds):
            run = known.get((id, seed))
            found.append(Score(id, seed, 0.0, 0.0, None, None) if run is None else score(run, task, entered.scales[id]))
    return found


def score(run: Run, task: Task, scale: Scale) -> Score:
    """The scores of one run."""
    cpu = run.cpu_seconds / run.steps if run.steps else None
    if not run.sound:
        return Score(run.task, run.seed, 0.0, 0.0, None, cpu)
    online, greedy = (_scaled(value, scale) for value in (collected(run, task), evaluated(run, task)))
    return Score(run.task, run.seed, online, greedy, threshold(run, task, scale), cpu)


def collected(run: Run, task: Task) -> float | None:
    """The return of an episode, as a mean over steps, or the reward per step; None without an episode."""
    if task.per == CONTINUING:
        return float(run.rewards.sum()) / run.steps
    return float(np.average(run.returns, weights=run.lengths)) if len(run.returns) else None


def evaluated(run: Run, task: Task) -> float | None:
    """The mean return of the greedy policy, or its reward per step."""
    if not len(run.greedy_returns):
        return None
    per = run.greedy_lengths.sum() if task.per == CONTINUING else len(run.greedy_returns)
    return float(run.greedy_returns.sum() / per)


def threshold(run: Run, task: Task, scale: Scale) -> int | None:
    """The first step at which the last episodes score `THRESHOLD`; None if there is none."""
    if task.per == CONTINUING:
        size = -(-run.steps // max(1, len(run.rewards)))
        window, values = max(1, len(run.rewards) // 10), run.rewards / size
        ends = np.minimum(np.arange(1, len(values) + 1) * size, run.steps)
    else:
        window, values, ends = WINDOW, run.returns, np.cumsum(run.lengths)
    if len(values) < window:
        return None
    good = np.flatnonzero(_scale(moving_mean(values, window)[window - 1 :], scale) >= THRESHOLD - 1e-9)
    return int(ends[good[0] + window - 1]) if len(good) else None


def _scaled(value: float | None, scale: Scale) -> float:
    return 0.0 if value is None else float(_scale(np.array(value), scale))


def _scale(values: np.ndarray, scale: Scale) -> np.ndarray:
    return (values - scale.random) / (scale.best - scale.random)


def limited(scores: Sequence[Score], measure: str) -> np.ndarray:
    """A measure of all runs, limited to 0 and 1."""
    return np.clip([getattr(score, measure) for score in scores], 0.0, 1.0)


class Overall(NamedTuple):
    """One measure of an entry over all runs: the IQM and the mean, each with its 95% interval, and the worst runs."""

    iqm: tuple[float, float, float]
    mean: tuple[float, float, float]
    worst: float


def overall(scores: Sequence[Score], measure: str) -> Overall:
    """Summarize a measure over tasks and seeds; intervals are bootstrapped within tasks."""
    values, tasks = limited(scores, measure), np.array([score.task for score in scores])
    iqm, mean = (_ends(summarize(values, statistic=name, groups=tasks)) for name in ("iqm", "mean"))
    worst = np.mean([values[tasks == task].min() for task in dict.fromkeys(tasks)])
    return Overall(iqm, mean, float(worst))


def _ends(summary: Any) -> tuple[float, float, float]:
    return float(summary.center), float(summary.low), float(summary.high)


def stated(entered: Entered) -> dict[str, Any]:
    """Return the scores that a file states, which a check computes again."""
    found = scores_of(entered)
    total = {name: _rounded(overall(found, name)) for name in MEASURES}
    by_task = {
        task.id: {
            name: round(float(np.mean([getattr(s, name) for s in found if s.task == task.id])), 6) for name in MEASURES
        }
        for task in entered.tasks
    }
    return {"overall": total, "tasks": by_task}


def _rounded(found: Overall) -> dict[str, float]:
    return {"iqm": round(found.iqm[0], 6), "mean": round(found.mean[0], 6), "worst": round(found.worst, 6)}
