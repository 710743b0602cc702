"""The page and the picture that measurements leave behind, and the file that keeps them between commands."""

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
from ucls._files import write_atomic

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
MEASURED, WHEN = "measured.json", ("date", "commit")

PICTURE = "![Useful operations a second of every version, under the machine's roof](performance.svg)"
CAPTION = """
*Useful operations a second over the number of features d, in double and in single precision; 10 d² of them are a step.
See the thick blue line, `ucls`: how near it is to the black roof, which no program can pass, and what lies below it.*
""".strip()


def tables(found: dict[str, Any]) -> list[Table]:
    """The tables of every part that was measured."""
    return [
        each
        for part in found
        if part not in ("machine", "when")
        for each in import_module(f"bench.{part}").tables(found[part])
    ]


def keep(found: dict[str, Any], folder: Path) -> None:
    """Keep the numbers measured so far, whatever may come; those of other parts stay if they are of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MEASURED
    before = kept(folder, found["machine"])
    text = json.dumps({**before, **found, "when": {**before.get("when", {}), **found["when"]}})
    write_atomic(path, lambda file: file.write_text(text))


def kept(folder: Path, machine: dict[str, str] | None = None) -> dict[str, Any]:
    """What was measured before, with the same processor and versions if a machine is given."""
    path = folder / MEASURED
    found = json.loads(path.read_text()) if path.exists() else {}
    if machine and any(found.get("machine", {}).get(name) != machine[name] for name in machine if name not in WHEN):
        return {}
    return found


def when(found: dict[str, Any]) -> str:
    """The commits and days that the parts were measured at."""
    by: dict[str, list[str]] = {}
    for part, day in found["when"].items():
        by.setdefault(day, []).append(part)
    if len(by) < 2:
        return "everything on this page was measured in that one run."
    runs = [f"{', '.join(parts)} at {day}" for day, parts in by.items()]
    return f"measured in {len(by)} runs: {'; '.join(runs)}."


def write(found: dict[str, Any], folder: Path, command: str) -> Path:
    """Write performance.md, and performance.svg where steps were measured; return the page's path."""
    folder.mkdir(parents=True, exist_ok=True)
    text = ["# Performance", "", *(f"- {sentence}" for sentence in opening.sentences(found)), ""]
    text += [f"Made by `{command}`; {when(found)} Numbers are medians, with quartiles in brackets.", ""]
    text += ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in found["machine"].items()), ""]
    if "step" in found:
        draw(found["step"], folder / "performance.svg")
        text += [PICTURE, "", CAPTION, ""]
    text += [markdown(table) for table in tables(found)]
    page = folder / "performance.md"
    page.write_text("\n".join(text).rstrip() + "\n")
    return page


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw useful operations (10 d^2 a step) a second against d, a panel for each type, under the roof."""
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
        figure.axes[0].set_ylabel("useful Gflop/s (10 d² a step)")
        lines, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _rates(points: list[tuple[int, Any]]) -> tuple[list[int], list[float], list[float], list[float]]:
    """Sizes, and Gflop/s by the median and both quartiles of the microseconds."""
    rates = [[FLOPS * d * d / us / 1e3 for us in spread] for d, spread in points]
    high, median, low = (list(each) for each in zip(*rates, strict=True))
    return [d for d, _ in points], median, low, high
