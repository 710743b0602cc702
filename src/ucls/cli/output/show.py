"""Print results that other packages return as data."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucls.diagnostics import Diagnosis
    from ucls.evaluation.logs.logfile import Evaluated
    from ucls.paper.account import Reproduction

FEATURES = 6  # columns of x in the table of an evaluation
MOMENTS = 6  # of a run at which a table shows it


def show_run(result: dict[str, Any]) -> None:
    """Print the summary of a run."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"[bold]{result['agent']}[/] on [bold]{result['env']}[/], seed {result['seed']}")
    more = f", {result['new_steps']:,} of them new," if result["new_steps"] < result["steps"] else ""
    rows = [("steps", f"{result['steps']:,}{more} at {result['steps_per_second']:,.0f} per second")]
    if result["episodes"]:
        last = "the last 20" if result["episodes"] > 20 else f"all {result['episodes']}"
        rows.append(
            ("episodes", f"{result['episodes']:,}, mean length {result['final_episode_length']:.1f} steps in {last}")
        )
        rows.append(("return", f"mean {result['final_return']:.6g} in {last} episodes"))
    rows.append(("reward", f"{result['total_reward']:,.6g} in total"))
    rows.append(("", f"{result['final_reward_per_step']:.4g} per step in the final 20%"))
    if result["optimal_reward_rate"] is not None:
        rows.append(("", f"{result['optimal_reward_rate']:.4g} per step is optimal"))
    rows.append(("saved", result["out"] or "nothing; use --out DIR to save the agent and its rewards"))
    for name, text in rows:
        console.print(f"  {name:9} {text}", markup=False)
    if result["diverged"]:
        console.print(f"[bold red]diverged[/] after {result['steps']:,} steps; the agent is not saved")


def show_settings(rows: Sequence[dict[str, Any]], key: str) -> None:
    """Print a list of algorithms, features or environments, each with its settings."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    for row in rows:
        console.print(f"[bold]{escape(row[key])}[/]  {escape(row['about'])}")
        table = Table(box=None, show_header=False, padding=(0, 2), pad_edge=True)
        for setting in row["settings"]:
            choices = f" ({setting['takes']})" if setting["takes"].startswith("one of") else ""
            table.add_row(f"[cyan]{setting['name']}[/]", str(setting["default"]), escape(setting["about"] + choices))
        console.print(table)
        console.print()


def show_claims(made: "Reproduction", out: Path) -> None:
    """Print the verdict on every claim, of this and of the shipped reproduction, and the path of the report."""
    from rich.markup import escape

    from ucls.cli.output.tables import console, print_table
    from ucls.paper.findings import opening, verdicts_of
    from ucls.paper.report import Verdict

    colors = {
        Verdict.REPRODUCED: "green",
        Verdict.NOT_REPRODUCED: "red",
        Verdict.UNDECIDED: "yellow",
        Verdict.DEPENDS: "cyan",
    }

    def shown(verdict: Verdict | None) -> str:
        return "-" if verdict is None else f"[{colors[verdict]}]{verdict.value}[/]"

    rows = [[number, escape(title), shown(here), shown(there)] for number, title, here, there in verdicts_of(made)]
    to = console()
    if rows:
        print_table(["#", "claim", "this run", "shipped"], rows, "The paper's claims", to)
        to.print(made.note, highlight=False, markup=False)
    for finding in opening(made).findings:
        to.print(f"- {finding}", highlight=False, markup=False)
    if not made.complete:
        to.print("[red]incomplete[/]: runs are missing (the same command resumes) or failed (`ucls study retry`)")
    to.print(f"report   {out / 'report.html'}\nnumbers  {out / 'claims.json'}", highlight=False, markup=False)


def show_evaluation(evaluated: "Evaluated", title: str) -> None:
    """Print the intervals of the values of a log, and diagnostics of its data."""
    import numpy as np
    from rich.markup import escape

    from ucls.cli.output.tables import console, print_table
    from ucls.evaluation.logs.logfile import in_one_line

    names = ", ".join(evaluated.names[:FEATURES]) + (", ..." if len(evaluated.names) > FEATURES else "")
    rows = []
    for x, visits, value, low, high in zip(evaluated.x, evaluated.visits, *evaluated.interval, strict=True):
        ends = [f"{end:.4g}" if np.isfinite(high) else "unknown" for end in (low, high)]
        rows.append([", ".join(f"{each:g}" for each in x[:FEATURES]), f"{visits:,}", f"{value:.4g}", *ends])
    to, report = console(), evaluated.lstd.report()
    print_table([escape(in_one_line(names)), "visits", "value", "low", "high"], rows, title, to)
    to.print(
        f"{report.transitions:,} transitions; rank {report.rank} of {report.features} features; "
        f"condition number {report.condition:.2g}"
    )
    if evaluated.off_policy:
        to.print(
            f"off-policy: effective sample size {report.effective_sample_size:,.0f} (of the trace weights); "
            f"lambda {evaluated.lstd.lambda_:g}, gamma^2 lambda^2 E[rho^2] = {report.growth:.2g} (must be below 1)",
            markup=False,
        )
    if evaluated.unused:
        names = in_one_line(", ".join(name or "(no name)" for name in evaluated.unused))
        to.print(f"not used: {names}", markup=False)
    if report.breaks:
        where = f"{report.breaks:,} transition{'s' * (report.breaks != 1)}"
        to.print(
            f"in {where}, x differs from the preceding x_next: "
            "mark the first transition of every episode in a column 'start'"
        )


def _show_verdicts(diagnoses: "Sequence[Diagnosis]", columns: "Sequence[str]") -> Any:
    """Print the verdict on every run and its late measurements; return the console."""
    from ucls.cli.output.tables import console, print_table
    from ucls.diagnostics import headline

    to = console()
    to.print(f"[bold]{headline(diagnoses)}[/]")
    for d in diagnoses:
        to.print(f"  seed {d.seed}: {d.verdict.word}: {d.verdict.because}", markup=False)
    rows = [[str(d.seed), *(_or_none(d.verdict.late[name]) for name in columns)] for d in diagnoses]
    print_table(["seed", *(name.replace("_", " ") for name in columns)], rows, to=to)
    return to


def _show_inside(diagnoses: "Sequence[Diagnosis]", to: Any) -> None:
    """Print the algorithm's own measurements at some steps."""
    _show_moments(diagnoses, lambda d: d.internals, "composition of the bound", to)


def _show_coverage(diagnoses: "Sequence[Diagnosis]", to: Any) -> None:
    """Print whether the upper bounds of an algorithm that plans for q* hold, and their coverage at some steps."""
    for d in diagnoses:
        if d.validity is not None:
            to.print(f"  seed {d.seed}: {d.validity.because}", markup=False)
    _show_moments(diagnoses, lambda d: d.coverage, "upper bound and q* on visited pairs", to)


def _show_moments(diagnoses: "Sequence[Diagnosis]", of: Callable[[Any], Any], title: str, to: Any) -> None:
    """Print measurements at some steps, as medians over the runs that reached them."""
    import numpy as np

    from ucls.cli.output.tables import print_table

    longest = max(diagnoses, key=lambda d: len(d.readings["step"]))
    steps, names = longest.readings["step"], list(of(longest))
    if not names:
        return
    rows = []
    for i in np.unique(np.linspace(0, len(steps) - 1, MOMENTS).astype(int)):
        there = [[of(d)[name][i] for name in names] for d in diagnoses if i < len(d.readings["step"])]
        rows.append([f"{steps[i]:,}", *(_or_none(value) for value in np.median(there, axis=0))])
    print_table(["step", *names], rows, title, to)


def show_diagnosis(diagnoses: "Sequence[Diagnosis]", distribution: str, out: Path | None) -> None:
    """Print the verdict on every run, the reason, and its late measurements."""
    from ucls.diagnostics import COLUMNS, counts

    to = _show_verdicts(diagnoses, COLUMNS)
    optimum = diagnoses[0].readings["optimum"][0]
    to.print(f"medians over the final 20% of the steps; distribution: {distribution}; E[Q*] = {optimum:.4g}")
    count = counts(diagnoses)
    to.print(
        f"optimistic in {count.optimistic} of {count.readings} measurements; "
        f"regret above f + g in {count.above_the_bound} of those"
    )
    _show_coverage(diagnoses, to)
    _show_inside(diagnoses, to)
    if out is not None:
        to.print(f"figure   {out / 'diagnosis.png'}\nnumbers  {out / 'diagnosis.json'}")


def show_visited(diagnoses: "Sequence[Diagnosis]", env: str, out: Path | None) -> None:
    """Print what could be measured in a third-party environment, and what could not."""
    from ucls.diagnostics.visited import COLUMNS, LEFT_OUT

    to = _show_verdicts(diagnoses, COLUMNS)
    to.print("medians over the final 20% of the steps, in the visited states")
    to.print(f"{LEFT_OUT} {env}", markup=False)
    _show_inside(diagnoses, to)
    if out is not None:
        to.print(f"figure   {out / 'diagnosis.png'}\nnumbers  {out / 'diagnosis.json'}", markup=False)


def _or_none(number: float) -> str:
    return "-" if number != number else f"{number:.4g}"


@contextmanager
def counting(title: str, total: int, quiet: bool = False) -> Iterator[Callable[[Any], None]]:
    """Show a progress bar on standard error; yield the function that advances it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True, quiet=quiet)) as bar:
        task = bar.add_task("", total=total)
        yield lambda one: bar.advance(task)
