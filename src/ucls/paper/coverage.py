"""The page on coverage: measurements of Theorem 1 and Corollary 1, in tables, figures and words."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ucls._util.files import write_atomic
from ucls._util.json import as_json
from ucls.evaluation import coverage, one_state
from ucls.evaluation.coverage import Row
from ucls.evaluation.estimators import ESTIMATORS
from ucls.paper._markdown import markdown_table

NAMES = tuple(ESTIMATORS)
LEVER_RUNS = 200
TEXT = Path(__file__).with_name("coverage.md")


def make(runs: int, quick: bool, out: Path, tick: Callable[[coverage.Case], object] = lambda case: None) -> list[Row]:
    """Measure coverage, and write the page, its figures and the numbers; `tick` is called after each case."""
    rows = coverage.study(runs, quick, tick)
    spent = {kind: one_state.spend(kind, LEVER_RUNS // 10 if quick else LEVER_RUNS) for kind in one_state.KINDS}
    write_numbers(rows, out)
    write_page(rows, spent, out / "coverage.md", f"ucls paper coverage --runs {runs}" + (" --quick" if quick else ""))
    return rows


def write_numbers(rows: list[Row], out: Path) -> None:
    """Write every row as CSV and JSON."""
    data = coverage.as_data(rows)

    def table(path: Path) -> None:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, data[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(data)

    write_atomic(out / "coverage.csv", table)
    write_atomic(out / "coverage.json", lambda path: path.write_text(as_json(data) + "\n"))


def write_page(rows: list[Row], spent: dict[str, one_state.Spent], page: Path, command: str) -> None:
    """Draw both figures beside the page, and write it."""
    from ucls.paper.coverage_figures import draw_coverage, draw_spent

    draw_coverage(rows, page.with_suffix(".svg"))
    draw_spent(spent, page.with_name("one-state.svg"))
    runs, sizes = rows[0].runs, sorted({row.n for row in rows})
    lambdas = ", ".join(f"{each:g}" for each in sorted({row.lambda_ for row in rows}))
    text = TEXT.read_text().format(
        command=command,
        runs=f"{runs:,}",
        sizes=", ".join(f"{n:,}" for n in sizes),
        lambdas=lambdas,
        ratios=_table(rows, "chebyshev", 0.1, _ratio),
        normal=_table(rows, "normal", 0.1, _coverage),
        chebyshev=_table(rows, "chebyshev", 0.1, _coverage),
        widths=_factors(rows),
        levers=_levers(spent),
        lever_runs=len(next(iter(spent.values())).best),
    )
    write_atomic(page, lambda path: path.write_text(text))


def _table(rows: list[Row], factor: str, p: float, cell: Callable[[list[Row]], str]) -> str:
    """A row for each estimator, a column for each kind of features and number of transitions."""
    sizes = sorted({row.n for row in rows})
    columns = [(features, n) for features in ("exact", "poor") for n in sizes]
    lines = [["estimator", *(f"{features}, n = {n:,}" for features, n in columns)], ["---", *["---:"] * len(columns)]]
    for name in NAMES:
        chosen = [row for row in rows if (row.estimator, row.factor, row.p) == (name, factor, p)]
        cells = [cell([row for row in chosen if (row.features, row.n) == column]) for column in columns]
        lines.append([f"`{name}`", *cells])
    return markdown_table(lines)


def _coverage(rows: list[Row]) -> str:
    least = min(rows, key=lambda row: row.coverage)
    return f"{100 * np.mean([row.coverage for row in rows]):.0f} ({100 * least.coverage:.0f})"


def _ratio(rows: list[Row]) -> str:
    ratios = [row.ratio for row in rows if np.isfinite(row.ratio)]
    if not ratios:
        return "none"
    most = f"{max(ratios):.2f}" if max(ratios) < 1000 else "over 1000"
    return f"{np.median(ratios):.2f} ({min(ratios):.2f}..{most})"


def _factors(found: list[Row]) -> str:
    """Return the coverage and width of both factors with the sandwich at the largest n, with exact features."""
    n = max(row.n for row in found)
    lines = [
        ["factor", "p", "nominal", "coverage", "lowest case", "worst state", "width"],
        ["---", *["---:"] * 6],
    ]
    for factor in coverage.FACTORS:
        for p in coverage.PS:
            key = ("sandwich", factor, p, "exact", n)
            rows = [r for r in found if (r.estimator, r.factor, r.p, r.features, r.n) == key]
            numbers = [np.mean([r.coverage for r in rows]), min(r.coverage for r in rows), min(r.worst for r in rows)]
            times = coverage.factor_of(p, factor) / coverage.factor_of(p, "normal")
            cells = [f"{100 * (1 - p):g}%", *(f"{100 * each:.1f}%" for each in numbers), f"{times:.2f}"]
            lines.append([factor, f"{p:g}", *cells])
    return markdown_table(lines)


def _levers(spent: dict[str, one_state.Spent]) -> str:
    lines = [
        ["variance", "left actions, median", "10% to 90% of runs", "right in the final 20%"],
        ["---", *["---:"] * 3],
    ]
    for name, one in spent.items():
        low, median, high = np.quantile(one.dull[:, -1], [0.1, 0.5, 0.9])
        lines.append([name, f"{median:,.0f}", f"{low:,.0f} to {high:,.0f}", f"{100 * one.best.mean():.1f}%"])
    return markdown_table(lines)
