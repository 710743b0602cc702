"""The section of docs/robustness.md that is made from the tallies of the torture."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.tables import Table, markdown
from bench.torture.parts import FAMILIES, Part, parts
from ucls._files import write_atomic

MARK, END = "## What nobody should hand in", "<!-- end of what the torture made -->"
GOOD, BAD = ("fine", "refused", "theirs", "failed"), ("traceback", "signal", "hang")
TRIALS = (
    "checkpoints",
    "studies",
    "stores",
    "programs",
    "concurrent",
    "impatience",
    "logs",
    "folders",
    "environments",
    "wrapped",
    "commands",
)
SCRIPTS = ("signals", "disk", "memory")
Found = dict[str, Any]


def write(folder: Path, file: Path) -> None:
    """Put the section made from the tallies in a folder in place of the one before, or at the end of a page."""
    before, _, rest = (file.read_text() if file.exists() else "# Robustness").partition(MARK)
    after = rest.partition(END)[2].lstrip("\n")
    text = f"{before.rstrip()}\n\n{section(read(folder)).rstrip()}\n\n{END}\n\n{after}".rstrip() + "\n"
    write_atomic(file, lambda draft: draft.write_text(text))


def read(folder: Path) -> list[Found]:
    """The tallies in a folder, in the order of the parts."""
    names = [part.name for part in parts()]
    found = [json.loads(file.read_text()) for file in folder.glob("*.json")]
    return sorted(found, key=lambda f: names.index(f["part"]) if f["part"] in names else len(names))


def section(found: list[Found]) -> str:
    """The section: tables of what there is, and every fault."""
    tables = [_trials(found), _kills(found), _scripts(found), _soak(found)]
    filled = [table._replace(note=_filled(table.note)) for table in tables if table.rows]
    texts = [markdown(table).replace("## ", "### ", 1) for table in filled]
    faults = [f"- {f['part']}: {_brief(fault)}" for f in found for fault in f["shown"]]
    verdict = "Nothing ended in a way that nobody meant." if not faults else "These did not end as they should:"
    commits = ", ".join(dict.fromkeys(f["commit"] for f in found))
    dates = ", ".join(sorted({f["date"] for f in found}))
    made = (
        f"Made by `python -m bench torture --page docs/robustness.md` (commits {commits}; {dates}), which takes more "
        "than an hour on one core; `--minutes N` takes less of everything, `--only NAME` one part, and a seed always "
        "makes the same mutant. A small share of it runs in `make test`."
    )
    return "\n".join(
        [
            MARK,
            "",
            _filled(made),
            "",
            verdict,
            *(["", *faults] if faults else []),
            "",
            *texts,
        ]
    )


def _filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _brief(fault: Any) -> str:
    return str(fault if isinstance(fault, str) else ", ".join(map(str, fault)))[:300]


def _of(found: list[Found], family: str) -> list[Found]:
    return [f for f in found if f["family"] == family]


def _counted(some: Iterable[Found], wanted: int) -> str:
    tried = sum(f["tried"] for f in some)
    return f"{tried:,}" if tried >= wanted else f"{tried:,} of {wanted:,}"


def _wanted(family: str) -> int:
    return sum(part.count for part in parts() if part.family == family)


def _trials(found: list[Found]) -> Table:
    rows = []
    for family in TRIALS:
        some = _of(found, family)
        if not some:
            continue
        ends: Counter[str] = Counter()
        for f in some:
            ends.update(f["ends"])
        numbers = [f"{ends[end]:,}" for end in (*GOOD, *BAD)]
        seconds = f"{sum(f['seconds'] for f in some):,.0f}"
        rows.append([f"`{family}`: {FAMILIES[family][1]}", _counted(some, _wanted(family)), *numbers, seconds])
    agents = [f["part"].partition("-")[2] for f in _of(found, "checkpoints")]
    note = (
        "Each trial runs in a forked worker whose death would be seen, within 8 GiB of memory. It ends well if it is "
        "refused in one line that says why, if an environment's own exception comes through as it is (theirs), if a "
        "command fails in one line, or if nothing was wrong (fine): what was accepted is then used, and results must "
        f"be those of the undamaged file. Checkpoints are those of {', '.join(agents)}, on tiles, one-hot and scaled "
        "features, with compiled kernels."
    )
    return Table("Mutants", ["part", "tried", *GOOD, *BAD, "seconds"], rows, note)


def _kills(found: list[Found]) -> Table:
    heads = ["killed", "cells", "kills", "outcomes", "cells lost", "run again", "results that differ", "seconds"]
    keys = ("cells", "kills", "outcomes", "lost", "repeated", "different")
    some = _of(found, "kills")
    rows = [
        [row["what"], *(f"{row[key]:,}" for key in keys), f"{row['seconds']:.0f}"] for f in some for row in f["rows"]
    ]
    note = (
        f"As above, but with compiled kernels: {_counted(some, _wanted('kills'))} SIGKILLs (`--only kills`; fewer than "
        "wanted where time ran out). Many meet processes that still compile."
    )
    return Table("Kills with compiled kernels", heads, rows, note)


def _scripts(found: list[Found]) -> Table:
    rows = []
    for family in SCRIPTS:
        for f in _of(found, family):
            ways = Counter((what, end) for what, end in f["rows"])
            rows += [[f"`{family}`: {what}", str(count), end] for (what, end), count in ways.items()]
    note = (
        "Each through `ucls study run`, with kernels uncompiled. A stop must end within 20 seconds with exit code 130 "
        "and unfinished cells kept; trouble must be told in one line; and the study, run again undisturbed, must end "
        "with the results it would have had, to the last bit. What `memory` gives is room beyond what a process takes "
        "to start."
    )
    return Table("Signals, full disks, little memory", ["part", "times", "what came of it"], rows, note)


def _soak(found: list[Found]) -> Table:
    rows = []
    for f in _of(found, "soak"):
        for row in f["rows"]:
            steps = _counted([f], Part(f["part"], f["wanted"], 0.0).count)
            if row["diverged"]:
                rows.append([row["agent"], steps, *["diverged"] + ["-"] * 6])
                continue
            first, last, _ = (f"{size / 2**20:.1f}" for size in row["memory"])
            grown = f"{(row['data'][1] - row['data'][0]) / 2**20:.1f}"
            drift = "-" if row["drift"] is None else f"{row['drift']:.1g}"
            speed = " / ".join(f"{micro:.1f}" for micro in row["microseconds"])
            yes = ["yes" if row[key] else "NO" for key in ("finite", "same")]
            rows.append([row["agent"], steps, *yes, first, last, grown, drift, speed])
    note = (
        "River Swim with few tiles (DGPQ on the state itself). Every hundredth of a run all arrays are looked at: "
        "finite, and in their ranges. A checkpoint of the middle, loaded and run to the end, must give the same "
        "checkpoint, byte for byte. Resident memory may rise by 8 MiB and twice what the learner's data grow by. "
        "Drift is how far what is carried along is from what it would be if made anew: the squared norm of A "
        "(relative), or for lstd-sm the largest entry of A^-1 A - I. Microseconds a step are those of the first and "
        "last tenth."
    )
    heads = [
        "agent",
        "steps",
        "finite",
        "goes on bit for bit",
        "MiB after a tenth",
        "MiB at the end",
        "data grown, MiB",
    ]
    return Table("Long runs", [*heads, "drift", "microseconds a step"], rows, note)
