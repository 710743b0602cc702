"""The data of docs/robustness.md, tallies of fault injection and fuzzing, and the sections of the page made from them.

Parts may be run at different times: a new tally replaces the old one of the same part. `python -m tools fill` writes
the page.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.tables import Table, grid
from faults.torture.parts import FAMILIES, parts
from ucls._util.files import write_atomic

CAMPAIGN = "campaign"
SCRIPTS = ("signals", "disk", "memory")
TRIALS = tuple(family for family in FAMILIES if family not in (*SCRIPTS, "kills", "soak"))
Found = dict[str, Any]


def merge(new: Sequence[Found], data: Path) -> None:
    """Put new tallies into the file of the tallies."""
    replaced = {f[key] for f in new for key in ("part", "family")}
    saved = _ordered([*(f for f in load(data) if f["part"] not in replaced), *new])
    data.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(data, lambda file: file.write_text(_as_json(saved)))


def load(data: Path) -> list[Found]:
    """The saved tallies."""
    return json.loads(data.read_text()) if data.exists() else []


def read(folder: Path) -> list[Found]:
    """The tallies in a folder, in the order of the parts."""
    return _ordered(json.loads(file.read_text()) for file in folder.glob("*.json"))


def sections(found: Sequence[Found]) -> dict[str, str]:
    """What the page has between its marks, by name."""
    made = {"verdict": verdict(found), "long runs": long_runs(found), "commits": commits(found)}
    return {
        **{name: textwrap.fill(text, 120, break_on_hyphens=False) for name, text in made.items()},
        "kills": grid(kills(found)),
        "trials": grid(trials(found)),
        "scripts": grid(scripts(found)),
    }


def verdict(found: Sequence[Found]) -> str:
    """What the page says first: what was tried, or what failed."""
    rows = _kill_rows(found)
    different = sum(row["lost"] + row["repeated"] + row["different"] for _, row in rows)
    tried = sum(f["tried"] for f in _of(found, *TRIALS))
    kills = sum(row["kills"] for _, row in rows)
    said = []
    if rows and not different:
        said.append(
            f"Studies that were hit by {kills} SIGKILLs resumed and finished with the results of undisturbed ones, bit "
            "for bit."
        )
    if tried and not any(f["faults"] for f in _of(found, *TRIALS)):
        said.append(f"None of the {tried:,} fuzzing trials ended in a traceback, crash or hang.")
    faults = [f"{f['part']}: {_brief(fault)}" for f in found for fault in f["shown"]]
    return " ".join(said + ([f"These trials failed: {'; '.join(faults)}."] if faults else []))


def kills(found: Sequence[Found]) -> Table:
    """Studies whose processes were killed."""
    rows = [
        [row["what"], kernels, *(f"{row[key]:,}" for key in ("cells", "kills", "lost", "repeated", "different"))]
        for kernels, row in _kill_rows(found)
    ]
    return Table("", ["killed", "kernels", "runs", "kills", "runs lost", "runs repeated", "results that differ"], rows)


def _kill_rows(found: Sequence[Found]) -> list[tuple[str, Found]]:
    return [(_kernels(f), row) for f in _of(found, CAMPAIGN, "kills") for row in f["rows"]]


def trials(found: Sequence[Found]) -> Table:
    """Fuzzing, by part."""
    rows = []
    for family in TRIALS:
        if some := _of(found, family):
            faults = sum(f["faults"] for f in some)
            rows.append([f"`{family}`", FAMILIES[family][1], _kernels(some[0]), _counted(some), f"{faults:,}"])
    return Table("", ["part", "input", "kernels", "trials", "faults"], rows)


def scripts(found: Sequence[Found]) -> Table:
    """Signals, full disks and low memory, by outcome."""
    ends = Counter((f["family"], end) for f in _of(found, *SCRIPTS) for _, end in f["rows"])
    rows = [[f"`{family}`", FAMILIES[family][1], str(count), end] for (family, end), count in ends.items()]
    return Table("", ["part", "fault", "trials", "outcome"], rows)


def long_runs(found: Sequence[Found]) -> str:
    """What came of the long runs."""
    rows = [row for f in _of(found, "soak") for row in f["rows"]]
    kept = [row for row in rows if not row["diverged"]]
    if not kept:
        return ""
    good = sum(row["finite"] and row["same"] for row in kept)
    steps = sorted({f["tried"] for f in _of(found, "soak")})
    grown = max(row["memory"][1] - row["memory"][0] for row in kept) / 2**20
    drift, agent = max((row["drift"], row["agent"]) for row in kept if row["drift"] is not None)
    return (
        f"{good} of {len(rows)} algorithms passed runs of {steps[0]:,} to {steps[-1]:,} steps in River Swim: all "
        "arrays stayed finite, and a checkpoint from the middle of the run continued to an identical final "
        f"checkpoint. Memory grew by at most {grown:.1f} MiB after the first 10% of the steps. The largest numerical "
        f"drift, {drift:.1g}, is that of `{agent}`: the largest entry of A^-1 A - I, or the relative error of the "
        "squared norm of A."
    )


def commits(found: Sequence[Found]) -> str:
    """The commits and dates at which the parts were run."""
    known = list(dict.fromkeys(f["commit"] for f in found if f["commit"]))
    dates = ", ".join(sorted({f["date"] for f in found if f["date"]}))
    several = "Not all parts were run at one commit" if len(known) > 1 else "All parts were run at one commit"
    return f"{several} ({', '.join(known)}; {dates})."


def _brief(fault: Any) -> str:
    return str(fault if isinstance(fault, str) else ", ".join(map(str, fault)))[:300]


def _of(found: Iterable[Found], *families: str) -> list[Found]:
    return [f for f in found if f["family"] in families]


def _kernels(found: Found) -> str:
    return "compiled" if found["compiled"] else "uncompiled"


def _counted(some: Sequence[Found]) -> str:
    tried, wanted = (sum(f[key] for f in some) for key in ("tried", "wanted"))
    return f"{tried:,}" if tried >= wanted else f"{tried:,} of {wanted:,}"


def _ordered(found: Iterable[Found]) -> list[Found]:
    names = [CAMPAIGN, *(part.name for part in parts())]
    return sorted(found, key=lambda f: names.index(f["part"]) if f["part"] in names else len(names))


def _as_json(found: Sequence[Found]) -> str:
    """One tally per line."""
    return "[\n" + ",\n".join(json.dumps(f) for f in found) + "\n]\n"
