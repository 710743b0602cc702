"""The paper, reproduced: every figure, every claim, one command.

A figure is a module here with `groups()`, the runs it is made of as data, and `plots(evidence)`. `sweeps` tunes the
competitors on seeds of their own, `claims` judges what the paper says, and `reproduce` does it all.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from ucls._files import write_atomic
from ucls.errors import unknown
from ucls.paper import (
    choices,
    classic,
    extras,
    figure_1,
    figure_2,
    figure_3,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
)
from ucls.paper.claims import Claim, judge_all
from ucls.paper.domains import DOMAINS
from ucls.paper.evidence import Evidence
from ucls.paper.groups import Group, Scale, cells_of, winners
from ucls.study import Member, Store, Study, conduct
from ucls.study.conduct import declare
from ucls.study.drive import Runner
from ucls.study.look import forecast

FIGURES: dict[str, ModuleType] = {
    "1": figure_1,
    "2": figure_2,
    "3": figure_3,
    "5": figure_5,
    "6": figure_6,
    "7": figure_7,
    "8": figure_8,
    "9": figure_9,
    "mountain-car": classic,
    "theorem": extras,
    "choices": choices,
}


class Reproduction(NamedTuple):
    """What a reproduction made: the claims, the tables, the figures, and whether every run it wanted is there."""

    claims: list[Claim]
    tables: list[tuple[str, list[str], list[list[str]]]]
    plots: list[Any]
    complete: bool
    facts: dict[str, str]


def groups_of(figures: Sequence[str]) -> list[Group]:
    """The groups of some figures, each once."""
    for name in figures:
        if name not in FIGURES:
            raise unknown("figure", name, FIGURES)
    return list(dict.fromkeys(group for name in figures for group in FIGURES[name].groups()))


def study_of(figures: Sequence[str], scale: Scale) -> Study:
    """The runs behind some figures, as a study."""
    members = [Member(group.label, cell) for group in groups_of(figures) for cell in cells_of(group, scale)]
    return Study(f"paper, {scale.name}", tuple(members))


def reproduce(
    out: Path, scale: Scale, figures: Sequence[str], store: Store, runner: Runner | None, quiet: bool = False
) -> Reproduction:
    """Run what is missing (nothing without a runner), draw the figures, judge the claims, and write the report."""
    from ucls.figures.draw import draw

    figures = list(figures) or list(FIGURES)
    study = study_of(figures, scale)
    if runner is None:
        declare(store, study)
    else:
        conduct(store, study, runner, quiet)
    rows = store.rows(study.name)
    complete = all(row.status in ("done", "diverged") for row in rows)
    evidence = Evidence(store, scale)
    note = _note(scale)
    plots = [
        plot._replace(note=note) for name in figures if name != "choices" for plot in FIGURES[name].plots(evidence)
    ]
    for plot in plots:
        draw(plot, out / plot.name)
    claims = judge_all(evidence)
    if len(figures) < len(FIGURES):
        claims = [claim for claim in claims if claim.figure in {plot.name for plot in plots}]
    tables = [("What the sweeps chose", ["competitor", "domain", "settings", "measure", "score"], _chosen())]
    if "choices" in figures:
        tables.insert(0, ("Open choices", choices.HEADS, choices.rows(evidence)))
    found = Reproduction(claims, tables, plots, complete, _facts(store, study, scale))
    write(found, out, note)
    return found


def write(found: Reproduction, out: Path, note: str) -> None:
    """Write the report and the numbers."""
    from ucls.report import write_report

    data = {"complete": found.complete, "claims": [claim.as_data() for claim in found.claims], "facts": found.facts}
    data["tables"] = [{"title": title, "heads": heads, "rows": rows} for title, heads, rows in found.tables]
    write_atomic(out / "claims.json", lambda path: path.write_text(json.dumps(data, indent=1) + "\n"))
    write_atomic(out / "claims.md", lambda path: path.write_text(markdown(found, note)))
    title = "Context-dependent upper-confidence bounds for directed exploration, reproduced"
    lead = f"Every claim of the paper, held against runs of this implementation. {note}"
    write_report(out / "report.html", title, lead, data["claims"], found.plots, found.tables, found.facts)


def markdown(found: Reproduction, note: str) -> str:
    """The claims, every check of them, and the tables, as Markdown."""
    held = {True: "yes", False: "no", None: "undecided"}
    lines = [note, "", "| | claim | checks that hold | verdict |", "|---|---|---|---|"]
    for claim in found.claims:
        count = f"{sum(check.holds is True for check in claim.checks)} of {len(claim.checks)}"
        lines.append(f"| {claim.number} | {claim.sentence} | {count} | **{claim.verdict}** |")
    for claim in found.claims:
        lines += ["", f"**{claim.number}.** {claim.sentence} {claim.why}".rstrip(), ""]
        lines += ["| what is measured | found, with its 95% interval | runs | holds |", "|---|---|---|---|"]
        lines += [f"| {c.what} | {c.found} | {c.runs} | {held[c.holds]} |" for c in claim.checks]
    for title, heads, rows in found.tables:
        lines += ["", f"### {title}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, ""])


def expected(figures: Sequence[str], scale: Scale, store: Path, jobs: int | None) -> dict[str, Any]:
    """What a reproduction would run, and for how long."""
    return forecast(study_of(list(figures) or list(FIGURES), scale), store, jobs)


def print_claims(found: Reproduction, out: Path) -> None:
    """Print the verdict on every claim."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    colours = {"rep": "green", "not": "red", "und": "yellow", "dep": "cyan"}
    table = Table(title="The paper's claims", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    for heading in ("", "claim", "holds", "verdict"):
        table.add_column(heading)
    for claim in found.claims:
        held = sum(check.holds is True for check in claim.checks)
        colour = colours[claim.verdict[:3]]
        table.add_row(str(claim.number), claim.sentence, f"{held}/{len(claim.checks)}", f"[{colour}]{claim.verdict}[/]")
    console = Console(highlight=False)
    console.print(table)
    if not found.complete:
        console.print("[red]incomplete[/]: some runs are missing or failed; the same command goes on")
    console.print(f"report   {out / 'report.html'}\nnumbers  {out / 'claims.json'}", highlight=False, markup=False)


def _note(scale: Scale) -> str:
    """What stands under every figure; how many runs are behind a line, each panel says itself."""
    if scale.name == "quick":
        return f"Quick look, not the paper's protocol: few runs, {scale.steps:.0%} of the paper's steps."
    return f"Scale: {scale.name}, as far as they were run."


def _chosen() -> list[list[str]]:
    rows = []
    for found in winners().values():
        words = ", ".join(f"{name}={value}" for name, value in found["settings"].items())
        score = f"{found['trials'][0]['score']:.5g}"
        rows.append([found["label"], DOMAINS[found["env"]].title, words, found["measure"], score])
    return rows


def _facts(store: Store, study: Study, scale: Scale) -> dict[str, str]:
    about = list(store.circumstances(study.name).values())
    seeds = sorted({member.cell.seed for member in study.members})
    hours = sum(found.seconds for found in about) / 3600
    return {
        "scale": scale.name,
        "runs": f"{len(about):,}",
        "seeds": f"{seeds[0]} to {seeds[-1]}; tuning seeds from 1,000,000,000",
        "machine": ", ".join(sorted({found.machine for found in about})),
        "versions": "; ".join(sorted({found.versions for found in about})),
        "time": f"{hours:.2f} hours of one core",
    }
