"""The data behind docs/performance.md, its tables and its figure."""

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from bench.ceiling import FLOPS
from bench.steps import OURS
from bench.tables import Table, grid
from ucls._util.files import write_atomic

STYLE: Any = {"font.size": 8, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "ucls"}
# Color-blind safe, after Okabe and Ito.
COLORS = {
    OURS: "#0072B2",
    "C": "#D55E00",
    "NumPy, dense": "#999999",
    "NumPy, tuned": "#56B4E9",
    "JAX, structured": "#CC79A7",
}
ROOF = "#333333"
NAME, WHEN = "performance", ("date", "commit")


def tables(part: str, found: dict[str, Any]) -> list[Table]:
    """The tables of a part that was measured."""
    return import_module(f"bench.{part}").tables(found)


def write(found: dict[str, Any], when: str, machine: dict[str, str], data: Path) -> None:
    """Put the tables of these parts into a file of all parts; others stay if the machine and its versions are the same.

    If steps were measured, their picture is drawn beside the folder of the file.
    """
    before = json.loads(data.read_text(encoding="utf-8")) if data.is_file() else {}
    if any(before.get("machine", {}).get(name) != machine[name] for name in machine if name not in WHEN):
        before = {"when": {}, "parts": {}}
    parts = {part: [each._asdict() for each in tables(part, one)] for part, one in found.items()}
    made = {"machine": machine, "when": {**before["when"], **dict.fromkeys(found, when)}}
    text = json.dumps({**made, "parts": {**before["parts"], **parts}}, ensure_ascii=False, indent=1)
    data.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(data, lambda file: file.write_text(text + "\n", encoding="utf-8"))
    if "step" in found:
        draw(found["step"], data.parents[1] / f"{NAME}.svg")


def first_tables(data: Path) -> dict[str, Table]:
    """The first table of each part in a file."""
    parts = json.loads(data.read_text(encoding="utf-8"))["parts"]
    return {part: Table(**tables[0]) for part, tables in parts.items()}


def sections(data: Path) -> dict[str, str]:
    """What docs/performance.md has between its marks: the first table of each part, by its name, and the provenance."""
    found = json.loads(data.read_text(encoding="utf-8"))
    machine = Table("", ["machine", ""], [[name, value] for name, value in found["machine"].items()])
    sessions: dict[str, list[str]] = {}
    for part, day in found["when"].items():
        sessions.setdefault(day, []).append(part)
    when = "; ".join(f"{', '.join(parts)} at {day}" for day, parts in sessions.items())
    return {
        **{part.replace("_", " "): f"{table.note}\n\n{grid(table)}" for part, table in first_tables(data).items()},
        "provenance": f"Measured by parts: {when}.\n\n{grid(machine)}",
    }


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
