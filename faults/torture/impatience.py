"""Several signals to one process, at any moment: what it says is saved is saved, and the rest can be run again."""

import functools
import inspect
import random
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults.torture import forks, runs
from ucls.core.saving import checkpoint
from ucls.train.run_folder import CHECKPOINT
from ucls.train.train import train

KINDS = ("run", "study")
WORDS = {"finished": "fine", "interrupted": "failed"}
LAST = 2000  # calls before the end of a run, in which it is saved


def attempt(seed: int) -> str:
    """Send one to four signals to a run or a study, then resume it: "failed" if it was not let to save, or "fine"."""
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    total = calls(kind)
    first = rng.randrange(total) if rng.random() < 0.5 else rng.randrange(max(0, total - LAST), total)
    gaps = [rng.choice((0, 1, 3, 10, 100, 1000)) for _ in range(rng.choice((1, 2, 3, 4)))]
    moments = [first + sum(gaps[:i]) for i in range(len(gaps))]
    signals = [(moment, rng.choice((signal.SIGINT, signal.SIGTERM))) for moment in moments]
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        return (_run if kind == "run" else _study)(Path(name), signals)


def _run(folder: Path, signals: list[tuple[int, int]]) -> str:
    out, log, note = folder / "run", folder / "log", folder / "note"

    def work() -> None:
        result = train(runs.order(), out, say=lambda line: None)
        sys.setprofile(None)
        note.write_text(str(result["steps"]))

    ended = forks.wait(forks.start(lambda: _disturbed(work, signals), log), log)
    kept = (out / CHECKPOINT).exists()
    saved = checkpoint.load(out / CHECKPOINT)[0]["steps"] if kept else 0
    if ended.end == "finished" and note.exists() and int(note.read_text()) != saved:
        raise AssertionError(f"{note.read_text()} steps were said to be saved, and {saved} are")
    if saved < runs.STEPS:
        train(runs.order(runs.STEPS - saved, resumed=kept), out, out if kept else None)
    elif ended.end != "finished":  # all but what repeats it
        train(runs.order(1, resumed=True), folder / "more", out)
        return "failed"
    if runs.trained(out) != runs.undisturbed_run():
        raise AssertionError("the resumed run is not the undisturbed one")
    return WORDS[ended.end]


def _study(folder: Path, signals: list[tuple[int, int]]) -> str:
    path, log = folder / "s.sqlite", folder / "log"
    ended = forks.wait(forks.start(lambda: _disturbed(lambda: runs.conduct_here(path), signals), log), log)
    runs.conduct_here(path)
    if runs.stored(path) != runs.undisturbed_study():
        raise AssertionError("the resumed study is not the undisturbed one")
    return WORDS[ended.end]


def _disturbed(work: Callable[[], Any], signals: list[tuple[int, int]]) -> None:
    """Work, with signals raised at the calls of these numbers."""
    count, waiting = 0, list(reversed(signals))

    def on_call(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += 1
        # A generator that is thrown away is called once more, where Python would handle no signal.
        if event not in ("call", "c_call") or (event == "call" and frame.f_code.co_flags & inspect.CO_GENERATOR):
            return
        while waiting and count >= waiting[-1][0]:
            signal.raise_signal(waiting.pop()[1])

    sys.setprofile(on_call)
    try:
        work()
    finally:
        sys.setprofile(None)


@functools.cache
def calls(kind: str) -> int:
    """How many calls and returns a run, or a study, takes undisturbed."""
    count = 0

    def on_call(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += 1

    runs.undisturbed_run(), runs.undisturbed_study()
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        sys.setprofile(on_call)
        try:
            train(runs.order(), Path(name) / "run") if kind == "run" else runs.conduct_here(Path(name) / "s.sqlite")
        finally:
            sys.setprofile(None)
    return count
