"""Reproduce the paper: make the missing runs, draw, judge, write the report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ucls._util.files import write_atomic
from ucls._util.json import as_json
from ucls.paper.account import (
    Reproduction,
    facts_of,
    note_of,
    runs_table,
    sweeps_table,
)
from ucls.paper.claims import judge_all
from ucls.paper.claims.plain import title_of
from ucls.paper.contents import PARTS, Part, groups_of, parts_of
from ucls.paper.evidence import Evidence
from ucls.paper.findings import opening, reference_of
from ucls.paper.report import Reference
from ucls.paper.runs.groups import Scale, cells_of
from ucls.study import Member, Store, Study, run_study
from ucls.study.forecast import Forecast, forecast
from ucls.study.run_study import declare
from ucls.study.runners.base import Runner


def study_of(chosen: Sequence[Part], scale: Scale) -> Study:
    """The runs behind some parts, as a study."""
    members = [Member(group.label, cell) for group in groups_of(chosen) for cell in cells_of(group, scale)]
    return Study(f"paper, {scale.name}", tuple(members))


def reproduce(
    out: Path, scale: Scale, figures: Sequence[str], store: Store, runner: Runner | None, quiet: bool = False
) -> Reproduction:
    """Make the missing runs (none without a runner), draw the figures, judge the claims, and write the report."""
    from ucls.paper.drawing.draw import draw

    chosen = parts_of(figures)
    study = study_of(chosen, scale)
    if runner is None:
        declare(store, study)
    else:
        run_study(store, study, runner, quiet)
    made = account_of(store, scale, chosen, study)
    for plot in made.plots:
        draw(plot, out / plot.name)
    write(made, out)
    return made


def account_of(store: Store, scale: Scale, chosen: Sequence[Part], study: Study) -> Reproduction:
    """Return the results of some parts in a store; their study, or one that contains it, must be declared."""
    wanted = {member.cell.id for member in study.members}
    status = {row.id: row.status for row in store.rows(study.name)}
    complete = all(status.get(id) in ("done", "diverged") for id in wanted)
    evidence, note = Evidence(store, scale), note_of(scale, complete)
    plots = [plot._replace(note=note) for part in chosen for plot in part.plots(evidence)]
    tables = [table for part in PARTS if part in chosen for table in part.tables(evidence)]
    tables += [sweeps_table(), runs_table(store, study, groups_of(chosen), scale)]
    claims = judge_all(evidence, [number for part in chosen for number in part.claims])
    return Reproduction(claims, tables, plots, complete, facts_of(store, study, scale), note)


def write(made: Reproduction, out: Path) -> None:
    """Write the report and the numbers."""
    from ucls.paper.report import write_report

    reference = reference_of(made)
    data = {"complete": made.complete, "claims": _with_reference(made, reference), "facts": made.facts}
    data["tables"] = [{"title": title, "heads": heads, "rows": rows} for title, heads, rows in made.tables]
    write_atomic(out / "claims.json", lambda path: path.write_text(as_json(data, indent=1) + "\n"))
    title = "Context-dependent upper-confidence bounds for directed exploration, reproduced"
    lead = f"The paper's figures and claims, from runs of this implementation. {made.note}"
    claims = [{**claim.as_data(), "kind": claim.verdict, "title": title_of(claim)} for claim in made.claims]
    write_report(
        out / "report.html", title, lead, claims, made.plots, made.tables, made.facts, opening(made), reference
    )


def _with_reference(made: Reproduction, reference: Reference) -> list[dict[str, Any]]:
    """Return the claims as data, each with the result of the shipped reproduction."""
    said = {number: claim["verdict"] for number, claim in reference.claims.items()}
    return [{**claim.as_data(), "shipped": said.get(claim.number)} for claim in made.claims]


def expected(figures: Sequence[str], scale: Scale, store: Path, jobs: int | None) -> Forecast:
    """Return the runs that a reproduction would make, and their expected time."""
    return forecast(study_of(parts_of(figures), scale), store, jobs)
