"""Kill studies at random moments and see whether anything is lost: `python -m bench campaign`."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.harness import Effort
from bench.machine import describe, revision
from bench.tables import Table, markdown, plain
from bench.torture.page import MARK
from faults.kills import WORKER, Trial, kill_the_driver, kill_workers, lose_a_node, undisturbed


def measure(effort: Effort) -> Iterator[Trial]:
    """The whole campaign, or a small one."""
    cells, kills, fewer = effort.of((200, 20, 10), (24, 3, 2))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        want = undisturbed(folder, cells)
        assert len(want) == cells
        yield kill_the_driver(folder, cells, kills, want)
        for runner in WORKER:
            yield kill_workers(folder, cells, fewer, want, runner)
        yield lose_a_node(folder, cells, want)


def run(quick: bool, compiled: bool, page: Path) -> int:
    """Carry the campaign out, print it, and write the page; the exit code says whether everything was sound."""
    if compiled:
        os.environ["NUMBA_DISABLE_JIT"] = "0"
    trials = []
    for trial in measure(Effort(quick)):
        print(f"{'sound' if trial.sound else 'NOT SOUND'}: {trial}", flush=True)
        trials.append(trial)
    print(plain(table(trials)))
    command = " ".join(["python -m bench campaign", *["--quick"] * quick, *["--compiled"] * compiled])
    page.parent.mkdir(parents=True, exist_ok=True)
    after = page.read_text().partition(MARK)[1:] if page.exists() else ()
    page.write_text("\n".join([text(trials, command, compiled), "".join(after)]).rstrip() + "\n")
    print(f"wrote {page}", file=sys.stderr)
    return 0 if all(trial.sound for trial in trials) else 1


def table(trials: list[Trial]) -> Table:
    """The trials, a row each."""
    heads = ["killed", "cells", "kills", "outcomes", "cells lost", "run again", "results that differ", "seconds"]
    rows = [
        [t.what, *(str(n) for n in (t.cells, t.kills, t.outcomes, t.lost, t.repeated, t.different)), f"{t.seconds:.0f}"]
        for t in trials
    ]
    return Table("What was killed, and what came of it", heads, rows)


def text(trials: list[Trial], command: str, compiled: bool) -> str:
    """The page."""
    about = {**describe(), "commit": revision()}
    facts = ", ".join(f"{name} {about[name]}" for name in ("cores", "system", "python", "ucls", "date", "commit"))
    kernels = (
        "" if compiled else " Kernels ran uncompiled, so that starting again is quick (`--compiled` compiles them)."
    )
    sound = all(trial.sound for trial in trials)
    verdict = "Every store equals the undisturbed one." if sound else "NOT every store equals the undisturbed one."
    return f"""# Robustness

A study may be killed at any instant: started again it goes on, and ends with the results it would have had. {verdict}

Made by `{command}` ({facts}).

The study has {trials[0].cells} short runs of Sarsa and UCLS in River Swim, with two workers; some runs are long enough
to be killed in their middle and go on from a checkpoint, and the learners of those are kept and compared too.{kernels}
First the study is run undisturbed. Then, from an empty store each time, it is run while being killed, and its store is
compared with the undisturbed one: every measure, every array and every kept learner, to the last bit.

{markdown(table(trials))}
"Outcomes" are what the driver got from its workers in all: more than there are cells where it was killed between an
outcome's arrival and its being written down. "Run again" counts outcomes of cells whose result was in the store before.

A cell whose worker died goes to the end of the line. After three deaths it waits until no other cell runs beside it,
and after three more, alone, it counts as failed until `ucls study retry`: nothing tells whether the cell killed its
process or somebody else did.
"""
