"""Print the data of a study: its groups, progress, tuned settings and comparisons."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ucls.errors import printable

if TYPE_CHECKING:
    from ucls.study.compare import Group
    from ucls.study.declaration.sweep import Winner
    from ucls.study.forecast import Forecast, RunGroup
    from ucls.study.slow import RunningCell
    from ucls.study.storage.records import Failure, Progress
    from ucls.study.verdicts import Verdict

STATES = ("done", "diverged", "corrupted", "failed", "waiting")


def show_studies(studies: "Mapping[str, Progress]") -> None:
    """Print the studies of a store."""
    names = [name + ("" if study.sound else " (corrupted)") for name, study in studies.items()]
    numbers = [[f"{study.cells:,}", f"{study.done:,}"] for study in studies.values()]
    _table(["study", "runs", "done"], [[name, *row] for name, row in zip(names, numbers, strict=True)])


def show_groups(name: str, groups: "Sequence[RunGroup]") -> None:
    """Print the groups of runs of a study."""
    print(f"{printable(name)}: {sum(group.runs for group in groups):,} runs")
    heads = ["label", "environment", "runs", "steps", "settings"]
    _table(heads, [[g.label, g.env, str(g.runs), f"{g.steps:,}", g.settings] for g in groups])


def show_forecast(forecast: "Forecast") -> None:
    """Print what would run and how long it would take."""
    heads = ["label", "environment", "to run", "done", "steps/s", "minutes", "MB"]
    rows = [
        [
            *(g.label, g.env, f"{g.missing:,}", f"{g.done:,}", f"{g.speed:,.0f}", f"{g.seconds / 60:,.1f}"),
            f"{g.memory / 1e6:,.1f}" if g.memory else "-",
        ]
        for g in forecast.groups
    ]
    _table(heads, rows)
    processes = f"{forecast.jobs} process{'es' if forecast.jobs > 1 else ''}"
    start = f"of which {forecast.start_seconds:.0f} s to start"
    time = f"about {forecast.minutes:,.1f} minutes with {processes}, {start}"
    print(f"{forecast.missing:,} runs, {time} ({forecast.basis})")


def show_counts(name: str, store: object, counts: Mapping[str, int], stopped: bool = False) -> None:
    """Print how many runs of a study are in each state."""
    parts = [f"{counts[state]:,} {state}" for state in STATES if counts[state]]
    print(printable(f"{name}: {counts['runs']:,} runs: {', '.join(parts) or 'none'} ({store})"))
    if counts["corrupted"]:
        print("corrupted results are not used: `ucls study run` runs them again")
    if stopped:
        print("stopped: the same command resumes")


def show_running(cells: "Sequence[RunningCell]") -> None:
    """Print how many runs are in progress, and which of them take much longer than similar runs."""
    if cells:
        print(f"{len(cells):,} running, the longest for {_duration(cells[0].seconds)}")
    for cell in cells:
        if cell.slow and cell.expected is not None:
            about = f"slow: {cell.agent} on {cell.env}, seed {cell.seed}: running for {_duration(cell.seconds)}"
            others = f"at the speed of the slowest finished run it would take {_duration(cell.expected)}"
            print(printable(f"{about}, {others} (process {cell.process} on {cell.machine})"))


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def show_failures(failures: "Sequence[Failure]", tracebacks: bool) -> None:
    """Print the failed runs and their errors."""
    for failure in failures:
        print(printable(f"failed: {failure.agent} on {failure.env}, seed {failure.seed}: {failure.error}"))
        if tracebacks:
            print(*map(printable, str(failure.traceback).split("\n")), sep="\n")


def show_winners(winners: "Sequence[Winner]") -> None:
    """Print the settings found by tuning."""
    from ucls.settings import listed

    rows = [[w.label, w.env, listed(w.settings), f"{w.trials[0].score:.5g}"] for w in winners]
    _table(["label", "environment", "best settings", winners[0].metric if winners else "score"], rows)


def show_comparison(groups: "Sequence[Group]", to: Any = None) -> None:
    """Print a table for each environment."""
    from rich.markup import escape

    from ucls.cli.output.tables import console, fits, print_table

    to = to or console()
    for env in dict.fromkeys(group.env for group in groups):
        mine = [group for group in groups if group.env == env]
        title, heads = f"{env}: {mine[0].metric}", ["label", "runs", "mean", "95%", "median", "IQM"]
        against = next((group.baseline for group in mine if group.baseline), None)
        rows = [_compared(group, against is not None, escape(group.label)) for group in mine]
        more = [f"minus {against}", "95%", "p", "better"] if against is not None else []
        if fits([*heads, *more], rows, to):
            print_table([*heads, *more], rows, title, to)
            continue
        print_table(heads, [row[: len(heads)] for row in rows], title, to)
        if more:
            compared = [[row[0], *row[len(heads) :]] for row in rows if any(row[len(heads) :])]
            print_table([heads[0], *more], compared, f"{title}, minus {against}", to)
    if any(group.baseline for group in groups):
        better = "better: probability of beating the baseline"
        note = f"differences on common seeds; p: permutation test with Holm correction; {better}"
        to.print(f"[dim]{note}[/]")


def show_verdicts(verdicts: "Sequence[Verdict]", to: Any = None) -> None:
    """Print which label is better in each pair, and how many more seeds would decide inconclusive pairs."""
    from rich.markup import escape

    from ucls.cli.output.tables import console, print_table
    from ucls.study.verdicts import answer_of

    to = to or console()
    heads = ["pair", "difference", "95%", "p", "sequential p", "better", "verdict"]
    for env in dict.fromkeys(verdict.env for verdict in verdicts):
        rows = []
        for v in (verdict for verdict in verdicts if verdict.env == env):
            d, pair = v.difference or (None, None, None), escape(f"{v.first} - {v.second}")
            cells = [pair, _number(d[0]), _interval(d), f"{v.p:.2g}", f"{v.p_sequential:.2g}", f"{v.better:.2f}"]
            rows.append([*cells, escape(answer_of(v))])
        print_table(heads, rows, f"{env}: who is better", to)
    if verdicts:
        note = (
            "p: sign-flip test for a planned number of seeds; sequential p: holds however often seeds are added; both"
        )
        to.print(f"[dim]{note} with Holm correction[/]")


def _compared(group: "Group", against: bool, label: str) -> list[str]:
    trouble = [f"{n} {word}" for word in ("diverged", "failed", "waiting", "corrupted") if (n := getattr(group, word))]
    if trouble:
        label += f" [red]({', '.join(trouble)})[/]"
    cells = [label, str(group.runs), _number(group.mean[0]), _interval(group.mean), _number(group.median[0])]
    cells.append(_number(group.iqm[0]))
    if against and not group.baseline:
        cells += [""] * 4
    if against and group.baseline:
        d, b = group.difference, group.better
        cells += [_number(d[0]) if d else "-", _interval(d) if d else "-"]
        cells += ["-" if group.p is None else f"{group.p:.2g}", f"{b[0]:.2f}" if b else "-"]
    return cells


def _number(x: float | None) -> str:
    from ucls.paper.numbers import grouped

    return "-" if x is None else grouped(x)


def _interval(values: Sequence[float | None]) -> str:
    return "-" if values[1] is None else f"{_number(values[1])}..{_number(values[2])}"


def _table(heads: list[str], rows: list[list[str]]) -> None:
    from rich.markup import escape

    from ucls.cli.output.tables import print_table

    print_table(heads, [list(map(escape, row)) for row in rows])
