"""docs/robustness.md and its data: tallies of fault injection and fuzzing, merged by part, and the page made from them.

The data have every count; the page has a summary. Parts may be run at different times: a new tally replaces the old one
of the same part.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.tables import Table, markdown
from faults.torture.parts import FAMILIES, parts
from ucls._util.files import write_atomic

CAMPAIGN = "campaign"
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


def write(new: Sequence[Found], page: Path) -> None:
    """Merge new tallies into the data of a page, and write both."""
    data = data_of(page)
    replaced = {f[key] for f in new for key in ("part", "family")}
    saved = _ordered([*(f for f in load(data) if f["part"] not in replaced), *new])
    data.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(data, lambda file: file.write_text(_as_json(saved)))
    write_atomic(page, lambda file: file.write_text(text(saved)))


def data_of(page: Path) -> Path:
    """The file with the tallies that a page shows."""
    return page.parent / "data" / f"{page.stem}.json"


def load(data: Path) -> list[Found]:
    """The saved tallies."""
    return json.loads(data.read_text()) if data.exists() else []


def read(folder: Path) -> list[Found]:
    """The tallies in a folder, in the order of the parts."""
    return _ordered(json.loads(file.read_text()) for file in folder.glob("*.json"))


def text(found: Sequence[Found]) -> str:
    """The page."""
    sections = [*_kills(found), *_trials(found), *_scripts(found), *_soak(found), *_provenance(found)]
    return "\n\n".join(["# Robustness", _filled(verdict(found)), *_faults(found), *sections]).rstrip() + "\n"


def verdict(found: Sequence[Found]) -> str:
    """What the page says first."""
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
    return " ".join(said or ["Some trials failed."])


def _kills(found: Sequence[Found]) -> Iterator[str]:
    rows = [
        [row["what"], kernels, *(f"{row[key]:,}" for key in ("cells", "kills", "lost", "repeated", "different"))]
        for kernels, row in _kill_rows(found)
    ]
    heads = ["killed", "kernels", "runs", "kills", "runs lost", "runs repeated", "results that differ"]
    note = (
        "A study of short runs of Sarsa and UCLS in River Swim with two workers is killed at random moments and "
        "started again until it is finished. Some runs are long enough to resume from a checkpoint. The store is then "
        "compared with that of an undisturbed study: every metric, every array and every saved learner, bit for bit. "
        "A run whose worker dies is queued again. After three deaths it runs without others beside it, and after three "
        "more it counts as failed until `ucls study retry`."
    )
    if rows:
        yield _section(Table("Fault injection: killed processes", heads, rows, note))


def _kill_rows(found: Sequence[Found]) -> list[tuple[str, Found]]:
    return [(_kernels(f), row) for f in _of(found, CAMPAIGN, "kills") for row in f["rows"]]


def _trials(found: Sequence[Found]) -> Iterator[str]:
    rows = []
    for family in TRIALS:
        if some := _of(found, family):
            trials, faults = _counted(some), sum(f["faults"] for f in some)
            rows.append([f"`{family}`", FAMILIES[family][1], _kernels(some[0]), trials, f"{faults:,}"])
    note = (
        "Each trial mutates a valid input and uses it in a forked worker within 8 GiB of memory. It is a fault if it "
        "ends in a traceback, a crash or a hang, or if an accepted input gives other results than the original. "
        "Everything else passes: a one-line error, an exception raised by the environment itself, or unchanged results."
    )
    if rows:
        yield _section(Table("Fuzzing: corrupted input", ["part", "input", "kernels", "trials", "faults"], rows, note))


def _scripts(found: Sequence[Found]) -> Iterator[str]:
    ends = Counter((f["family"], end) for f in _of(found, *SCRIPTS) for _, end in f["rows"])
    rows = [[f"`{family}`", FAMILIES[family][1], str(count), end] for (family, end), count in ends.items()]
    note = (
        "Each trial uses `ucls study run` with uncompiled kernels. After a signal, the study must stop within 20 "
        "seconds with exit code 130 and unfinished runs saved. A full disk must be reported as a one-line error. "
        "Rerun without the fault, the study must give the same results, bit for bit."
    )
    if rows:
        heads = ["part", "fault", "trials", "outcome"]
        yield _section(Table("Signals, full disks and low memory", heads, rows, note))


def _soak(found: Sequence[Found]) -> Iterator[str]:
    rows = [row for f in _of(found, "soak") for row in f["rows"]]
    kept = [row for row in rows if not row["diverged"]]
    if not kept:
        return
    good = sum(row["finite"] and row["same"] for row in kept)
    steps = sorted({f["tried"] for f in _of(found, "soak")})
    grown = max(row["memory"][1] - row["memory"][0] for row in kept) / 2**20
    drifts = [(row["drift"], row["agent"]) for row in kept if row["drift"] is not None]
    said = (
        f"{good} of {len(rows)} algorithms passed runs of {steps[0]:,} to {steps[-1]:,} steps in River Swim: all "
        "arrays stayed finite, and a checkpoint from the middle of the run continued to an identical final "
        f"checkpoint. Memory grew by at most {grown:.1f} MiB after the first 10% of the steps."
    )
    for drift, agent in sorted(drifts)[-1:]:
        said += (
            f" The largest numerical drift, {drift:.1g}, is that of `{agent}`: the largest entry of A^-1 A - I, or the "
            "relative error of the squared norm of A."
        )
    yield f"## Long runs\n\n{_filled(said)}"


def _provenance(found: Sequence[Found]) -> Iterator[str]:
    commits = list(dict.fromkeys(f["commit"] for f in found if f["commit"]))
    several = "Not all parts were run at one commit" if len(commits) > 1 else "All parts were run at one commit"
    dates = ", ".join(sorted({f["date"] for f in found if f["date"]}))
    notes = "".join(f"\n\n{_filled(f['note'])}" for f in found if "note" in f)
    said = (
        "The first rows of the fault injection are made by `python -m bench campaign`, everything else by `python -m "
        "bench torture --page docs/robustness.md`, which takes more than an hour on one core. `--only NAME` runs one "
        "part, `--minutes N` limits the time, and a seed always makes the same mutants. A small fraction runs in `make "
        f"test`. {several} ({', '.join(commits)}; {dates}). Those marked as uncompiled ran with kernels in plain "
        "Python. [robustness.json](data/robustness.json) has all counts."
    )
    yield f"## Provenance\n\n{_filled(said)}{notes}"


def _faults(found: Iterable[Found]) -> Iterator[str]:
    faults = [f"- {f['part']}: {_brief(fault)}" for f in found for fault in f["shown"]]
    if faults:
        yield "\n".join(["These trials failed:", "", *faults])


def _section(table: Table) -> str:
    return markdown(table._replace(note=_filled(table.note))).rstrip()


def _filled(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


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
