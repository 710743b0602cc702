"""Files of the benchmark with made-up runs, for tests."""

import numpy as np

from ucls.benchmark import scores
from ucls.benchmark.entry import ALGORITHM, Entry
from ucls.benchmark.result import BINS, Entered, Run
from ucls.benchmark.tasks import CONTINUING, PUBLIC, chosen, scale_of

NOTHING = np.zeros(0)


def made_up(seed=0, label="mine", tasks=None, seeds=3, refused=(), scale=scale_of, set="public"):
    """An entry whose runs are drawn from a seed: between random and best, and better at the end."""
    rng = np.random.default_rng(seed)
    tasks = chosen(PUBLIC, quick=True) if tasks is None else tasks
    scales = {task.id: scale(task) for task in tasks}
    runs = [_run(rng, task, scales[task.id], n) for task in tasks if task.id not in refused for n in range(seeds)]
    entry = Entry(label, "sarsa", ALGORITHM, {"epsilon": 0.1}, "0123abcd")
    reasons = dict.fromkeys(refused, "not for this")
    found = Entered(entry, set, "1.0", tasks, scales, seeds, reasons, tuple(runs), {})
    return found._replace(scores=scores.stated(found))


def _run(rng, task, scale, seed):
    words = False, "", 1.5, "x86_64 2 cores", "python 3", "2026-01-01T00:00:00+00:00"
    size = scale.best - scale.random
    if task.per == CONTINUING:
        bins = task.steps // BINS * (scale.random + size * np.linspace(0, 1, BINS))
        greedy = np.full(task.episodes, 100), _short(100 * (scale.random + size * rng.random(task.episodes)))
        return Run(task.id, seed, task.steps, *words, NOTHING, NOTHING, _short(bins), *greedy)
    lengths = rng.integers(5, 15, task.steps // 20)
    returns = scale.random + size * np.linspace(0, 1, len(lengths)) ** rng.uniform(0.2, 3)
    greedy = rng.integers(1, 9, task.episodes), _short(scale.random + size * rng.random(task.episodes))
    return Run(task.id, seed, task.steps, *words, lengths, _short(returns), NOTHING, *greedy)


def _short(values):
    return np.asarray(values, np.float32).astype(np.float64)
