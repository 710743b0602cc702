"""Objects with `learn(total_timesteps)` and `predict(observation, deterministic)`, as in Stable-Baselines3.

A factory is called with an environment and a seed for every run, and decides everything else itself: it is one setting
only if it does not look at which environment it got. Each run is a file in a folder; what has a file is not run again.
"""

import json
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ucls._util.files import write_atomic
from ucls._util.json import read_json
from ucls._util.randomness import evaluation_seeds, spawn
from ucls.benchmark.entry import Entry, factory_of
from ucls.benchmark.places import Recorded
from ucls.benchmark.result import BINS, MOST, Run, run_as_data, run_of
from ucls.benchmark.tasks import CONTINUING, STEPS, Task
from ucls.errors import UserError
from ucls.gym.registry import make_env
from ucls.study.display import LINE_SECONDS
from ucls.study.runners.base import machine, one_thread_each, versions
from ucls.study.runners.cores import cores


def execute(
    entry: Entry, tasks: Sequence[Task], seeds: int, folder: Path, jobs: int | None = None, quiet: bool = True
) -> list[Run]:
    """Make the runs that have no file in the folder yet; return all runs."""
    wanted = {(task.id, seed): _file(folder, entry, task, seed) for task in tasks for seed in range(seeds)}
    by_id = {task.id: task for task in tasks}
    missing = [(by_id[id], seed, file) for (id, seed), file in wanted.items() if not file.exists()]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        _give(entry, missing, min(jobs or cores(), len(missing)), quiet)
    return [read_run(file) for file in wanted.values()]


def _give(entry: Entry, missing: Sequence[tuple[Task, int, Path]], jobs: int, quiet: bool) -> None:
    """Execute runs in a pool of processes; finished runs have their file whatever happens to the others."""
    spoken = time.monotonic()
    spawned = multiprocessing.get_context("spawn")
    with one_thread_each(), ProcessPoolExecutor(jobs, spawned, end_with_parent) as pool:
        try:
            given = [pool.submit(run_to_file, entry.name, *each) for each in missing]
            for number, done in enumerate(as_completed(given), 1):
                done.result()
                if not quiet and (time.monotonic() - spoken > LINE_SECONDS or number == len(given)):
                    spoken = time.monotonic()
                    print(f"{entry.label}: {number} of {len(given)} runs", file=sys.stderr, flush=True)
        except BrokenProcessPool:
            raise UserError("a worker process was killed: repeat the command to make the missing runs") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def end_with_parent() -> None:
    """End this process when the one that started it is gone, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


def read_run(file: Path) -> Run:
    """The run in a file."""
    try:
        return run_of(read_json(file, MOST))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{file} is corrupted ({error}): delete it, and its run starts again") from None


def run_to_file(name: str, task: Task, seed: int, file: Path) -> None:
    """Run an object and write the run to its file."""
    text = json.dumps(run_as_data(run_object(name, task, seed)))
    write_atomic(file, lambda path: path.write_text(text))


def run_object(name: str, task: Task, seed: int) -> Run:
    """One run of an object; its errors are part of the run."""
    env = Recorded(make_env(task.env, task.settings), task.steps, BINS, spawn(seed).world)
    nothing, error, busy = np.zeros(0), "", 0.0
    greedy = nothing, nothing
    try:
        model = factory_of(name)(env, seed)
        began = time.process_time()
        model.learn(task.steps)
        busy = time.process_time() - began
        if env.taken < task.steps:
            raise UserError(f"it took {env.taken:,} of {task.steps:,} steps")
        greedy = _evaluated(model, task, seed)
    except Exception as fault:  # whatever another's code raises
        error = " ".join(f"{type(fault).__name__}: {fault}".split())[:500]
    rewards = env.rewards if task.per == CONTINUING else nothing
    words = error, busy, machine().partition(" ")[2], versions(), datetime.now(UTC).isoformat(timespec="seconds")
    taken = min(env.taken, task.steps)
    return Run(task.id, seed, taken, False, *words, np.array(env.lengths), np.array(env.returns), rewards, *greedy)


def _evaluated(model: Any, task: Task, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The lengths and returns of the episodes of the object's deterministic policy."""
    env, lengths, returns = make_env(task.env, task.settings), [], []
    for episode in range(task.episodes):
        observation, _ = env.reset(seed=evaluation_seeds(seed).world if episode == 0 else None)
        total, length, over = 0.0, 0, False
        while not over and length < STEPS:
            given = model.predict(observation, deterministic=True)
            action = given[0] if isinstance(given, tuple) else given
            observation, reward, terminated, truncated, _ = env.step(int(action))
            total, length, over = total + float(reward), length + 1, terminated or truncated
        lengths.append(length)
        returns.append(total)
    return np.array(lengths), np.array(returns)


def _file(folder: Path, entry: Entry, task: Task, seed: int) -> Path:
    """The file of a run: its name says which code made it."""
    return folder / f"{task.id}-{task.steps}-{seed}-{entry.code}-{entry.name.replace(':', '.')}.json"
