"""The performance page, its figure and its data, and the file that saves measurements between commands."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from bench import opening
from bench.ceiling import FLOPS
from bench.steps import OURS
from bench.tables import Table, markdown
from ucls._util.files import write_atomic

STYLE: Any = {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "ucls"}
# Color-blind safe, after Okabe and Ito.
COLORS = {
    OURS: "#0072B2",
    "C": "#D55E00",
    "NumPy, dense": "#999999",
    "NumPy, tuned": "#56B4E9",
    "NumPy, our algebra": "#009E73",
    "JAX, plain": "#E69F00",
    "JAX, structured": "#CC79A7",
}
ROOF = "#333333"
MEASURED, DATA, WHEN = "measured.json", "data/performance.json", ("date", "commit")

# The parts whose first table is on the page.
SHOWN = ("first", "step", "runs", "baselines", "algorithms", "one_hot", "agents")

PICTURE = "![Useful operations per second of every version by number of features, below the roofline](performance.svg)"
CAPTION = """
*The compiled step of `ucls` (thick blue) is at least as fast as C, and faster than NumPy and JAX, at every size; the
hardware limit is black. Useful operations per second by number of features d, in double and single precision; a step
takes 10 d² of them.*
""".strip()


def tables(found: dict[str, Any]) -> list[Table]:
    """The tables of every part that was measured."""
    return [
        each
        for part in found
        if part not in ("machine", "when")
        for each in import_module(f"bench.{part}").tables(found[part])
    ]


def _shown(found: dict[str, Any]) -> list[Table]:
    """The tables on the page: the first of some parts."""
    return [import_module(f"bench.{part}").tables(found[part])[0] for part in found if part in SHOWN]


def as_data(found: dict[str, Any]) -> dict[str, Any]:
    """The machine and every table, as plain data."""
    return {"machine": found["machine"], "when": found["when"], "tables": [each._asdict() for each in tables(found)]}


def keep(found: dict[str, Any], folder: Path) -> None:
    """Save the measurements so far; those of other parts stay if they were made on the same machine."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MEASURED
    before = kept(folder, found["machine"])
    text = json.dumps({**before, **found, "when": {**before.get("when", {}), **found["when"]}})
    write_atomic(path, lambda file: file.write_text(text))


def kept(folder: Path, machine: dict[str, str] | None = None) -> dict[str, Any]:
    """The saved measurements, with the same processor and versions if a machine is given."""
    path = folder / MEASURED
    found = json.loads(path.read_text()) if path.exists() else {}
    if machine and any(found.get("machine", {}).get(name) != machine[name] for name in machine if name not in WHEN):
        return {}
    return found


def when(found: dict[str, Any]) -> str:
    """The commits and dates at which the parts were measured."""
    by: dict[str, list[str]] = {}
    for part, day in found["when"].items():
        by.setdefault(day, []).append(part)
    if len(by) < 2:
        return "All measurements are from one session."
    runs = [f"{', '.join(parts)} at {day}" for day, parts in by.items()]
    return f"Measured in {len(by)} sessions: {'; '.join(runs)}."


def write(found: dict[str, Any], folder: Path, command: str) -> Path:
    """Write performance.md, data/performance.json and, if steps were measured, performance.svg; return the page."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    if "step" in found:
        draw(found["step"], folder / "performance.svg")
    data = json.dumps(as_data(found), ensure_ascii=False, indent=1)
    write_atomic(folder / DATA, lambda file: file.write_text(data + "\n", encoding="utf-8"))
    page = folder / "performance.md"
    page.write_text(text(found, command), encoding="utf-8")
    return page


def text(found: dict[str, Any], command: str) -> str:
    """The page."""
    return layout(opening.sentences(found), _shown(found), found, command)


def layout(sentences: list[str], shown: list[Table], found: dict[str, Any], command: str) -> str:
    """The page with these sentences and tables; `found` has the machine, the dates and the names of parts."""
    lines = ["# Performance", "", *(f"- {sentence}" for sentence in sentences), ""]
    if "step" in found:
        lines += [PICTURE, "", CAPTION, ""]
    lines += [markdown(table) for table in shown]
    lines += ["## Data and provenance", ""]
    lines += [
        f"[performance.json]({DATA}) has every table, including the overhead of Gymnasium, "
        " studies, store queries and policy evaluation.",
        "",
    ]
    lines += [f"Made by `{command}`. {when(found)} Numbers are medians, with quartiles in parentheses.", ""]
    lines += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in found["machine"].items()), ""]
    return "\n".join(lines).rstrip() + "\n"


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw useful operations per second (10 d^2 per step) against d, a panel for each type, and the roofline."""
    dtypes = list(dict.fromkeys(case["dtype"] for case in found["cases"]))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.4 * len(dtypes), 3.6), layout="constrained")
        for axes, dtype in zip(figure.subplots(1, len(dtypes), squeeze=False)[0], dtypes, strict=True):
            cases = [case for case in found["cases"] if case["dtype"] == dtype]
            if all(case["ceiling"] for case in cases):
                roof = [(case["d"], case["ceiling"]["us"]) for case in cases]
                axes.plot(*_rates(roof)[:2], color=ROOF, linewidth=2.4, label="ceiling")
            for name, color in COLORS.items():
                if name in cases[0]["us"]:
                    x, y, low, high = _rates([(case["d"], case["us"][name]) for case in cases])
                    width = 2.2 if name == OURS else 1.2
                    axes.plot(x, y, "o-", color=color, linewidth=width, markersize=3, label=name)
                    axes.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks([case["d"] for case in cases], [str(case["d"]) for case in cases])
            axes.set_xlabel("features d, all seen")
            axes.set_title(dtype)
            axes.grid(alpha=0.25, linewidth=0.5)
        figure.axes[0].set_ylabel("useful Gflop/s (10 d² per step)")
        lines, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _rates(points: list[tuple[int, Any]]) -> tuple[list[int], list[float], list[float], list[float]]:
    """Sizes, and Gflop/s by the median and both quartiles of the microseconds."""
    rates = [[FLOPS * d * d / us / 1e3 for us in spread] for d, spread in points]
    high, median, low = (list(each) for each in zip(*rates, strict=True))
    return [d for d, _ in points], median, low, high
