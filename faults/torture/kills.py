"""SIGKILLs of drivers and workers on every runner, and of a Ray node, with compiled kernels, by `faults.kills`."""

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from faults.kills import Trial, kill_the_driver, kill_workers, lose_a_node, undisturbed

SHARES = {"driver": 0.35, "local": 0.3, "ray": 0.175, "submitit": 0.175}
EARLY = {"submitit": 0.0}  # of the kills meet processes that import and compile; jobs that never begin end a study
LONGER = 100  # times as long as those of plain Python, or a study would be over before it is killed
CELLS = 4  # for each kill, so that a study is not over before the last


def carry_out(count: int, seed: int) -> dict[str, Any]:
    """Kill so many processes in all, and hold every store against the undisturbed one."""
    os.environ |= {"NUMBA_DISABLE_JIT": "0", "UCLS_CAMPAIGN_LONGER": str(LONGER)}
    kills = {name: max(1, round(share * count)) for name, share in SHARES.items()}
    cells, rows = CELLS * max(kills.values()), []
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        folder = Path(name)
        want = undisturbed(folder, cells)
        for name, number in kills.items():
            rows.append(_trial(name, lambda n=name, k=number: _kill(n, folder, cells, k, want, seed)))
            print(rows[-1], file=sys.stderr, flush=True)
        rows.append(_trial("one of two nodes of Ray", lambda: lose_a_node(folder, cells, want)))
    tried = sum(row["kills"] for row in rows)
    spoilt = [row for row in rows if row["fault"]]
    ends = {key: sum(row[key] for row in rows) for key in ("cells", "lost", "repeated", "different")}
    shown = [f"{row['what']}: {row['fault']}" for row in spoilt]
    return {"tried": tried, "ends": ends, "rows": rows, "faults": len(spoilt), "shown": shown}


def _kill(name: str, folder: Path, cells: int, kills: int, want: Any, seed: int) -> Trial:
    early = EARLY.get(name, 0.6)
    if name == "driver":
        return kill_the_driver(folder, cells, kills, want, seed, early)
    return kill_workers(folder, cells, kills, want, name, seed, early)


def _trial(what: str, kill: Callable[[], Trial]) -> dict[str, Any]:
    """What came of it; a runner that gives up is a fault, and does not end the others."""
    try:
        trial = kill()
    except Exception as error:
        nothing = dict.fromkeys(("cells", "kills", "outcomes", "repeated", "lost", "different"), 0)
        return {"what": what, **nothing, "seconds": 0.0, "fault": f"{type(error).__name__}: {error}"[:200]}
    return {**trial._asdict(), "fault": "" if trial.sound else "the store is not the undisturbed one"}
