"""Several processes sharing one folder or store: one does the work, and the others report that it is in use."""

import os
import random
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from faults.torture import forks, runs
from ucls.train.run_folder import CHECKPOINT
from ucls.train.train import train


def attempt(seed: int) -> str:
    """Start two to four processes within a moment, perhaps kill one: how many worked, were refused, were killed."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        return rng.choice((_runs, _studies))(rng, Path(name))


def _start(rng: random.Random, folder: Path, work: list[Callable[[], object]]) -> list[forks.Ended]:
    """Start processes at random moments and wait for all; sometimes one is killed."""
    delays = [rng.choice((0.0, rng.uniform(0.0, 0.15))) for _ in work]
    logs = [folder / f"log{i}" for i in range(len(work))]

    def late(i: int) -> Callable[[], object]:
        return lambda: (forks.pause(delays[i]), work[i]())

    pids = [forks.start(late(i), logs[i]) for i in range(len(work))]
    if rng.random() < 0.3:
        forks.pause(rng.uniform(0.0, 0.15))
        os.kill(rng.choice(pids), signal.SIGKILL)
    return [forks.wait(pid, log) for pid, log in zip(pids, logs, strict=True)]


def _runs(rng: random.Random, folder: Path) -> str:
    """Runs with seeds of their own and one folder: what is in it is one of them, and whole."""
    out, seeds = folder / "run", range(rng.choice((2, 3, 4)))
    for seed in seeds:
        runs.undisturbed_run(seed)
    if rng.random() < 0.3:
        (folder / "link").symlink_to(folder)
    places = [rng.choice((out, folder / "link" / "run")) if (folder / "link").exists() else out for _ in seeds]
    ended = _start(rng, folder, [lambda s=s: train(runs.order(seed=s), places[s], say=lambda _: None) for s in seeds])
    _refused_in_one_line(ended)
    finished = [seed for seed in seeds if ended[seed].end == "finished"]
    if len(finished) > 1 or (not finished and "killed" not in [each.end for each in ended]):
        raise AssertionError(f"{len(finished)} runs have finished in one folder")
    if finished and runs.trained(out) != runs.undisturbed_run(finished[0]):
        raise AssertionError("the run is not the undisturbed one")
    if not finished and not (out / CHECKPOINT).exists():
        train(runs.order(), out)  # what was killed is in nobody's way
    return "fine"


def _studies(rng: random.Random, folder: Path) -> str:
    """Studies in one store, by several names: every result is there once, and the right one."""
    path, link = folder / "s.sqlite", folder / "link.sqlite"
    link.symlink_to(path)
    (folder / "folder").symlink_to(folder)
    names = [rng.choice((path, link, folder / "folder" / "s.sqlite")) for _ in range(rng.choice((2, 3, 4)))]
    ended = _start(rng, folder, [lambda p=p: runs.conduct_here(p) for p in names])
    _refused_in_one_line(ended)
    if {each.end for each in ended} == {"refused"}:
        raise AssertionError("all were refused")
    if "killed" not in [each.end for each in ended] and runs.stored(path) != runs.undisturbed_study():
        raise AssertionError("the study is not the undisturbed one")
    runs.conduct_here(path)
    if runs.stored(path) != runs.undisturbed_study():
        raise AssertionError("run again, the study is not the undisturbed one")
    return "fine"


def _refused_in_one_line(ended: list[forks.Ended]) -> None:
    for each in ended:
        if each.end == "refused" and not any(w in each.said for w in ("another", "already contains", "is in use")):
            raise AssertionError(f"refused for another reason: {each.said}")
        if each.end == "interrupted":
            raise AssertionError("nobody interrupted it")
