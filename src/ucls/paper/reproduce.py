"""All figures and tables of the paper, and what makes them: run what is missing, draw, judge, write the report."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ucls._files import write_atomic
from ucls.errors import unknown
from ucls.paper import (
    figure_1,
    figure_2,
    figure_3,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    figure_mountain_car,
    figure_theorem,
    table_causes,
    table_open_choices,
)
from ucls.paper.account import Reproduction, Table, facts_of, markdown, note_of, runs_table, sweeps_table
from ucls.paper.beyond import bars, comparison, deep_sea, long, parts
from ucls.paper.beyond import map as settings_map
from ucls.paper.claims import judge_all
from ucls.paper.evidence import Evidence
from ucls.paper.groups import Group, Scale, cells_of
from ucls.study import Member, Store, Study, conduct
from ucls.study.conduct import declare
from ucls.study.forecast import forecast
from ucls.study.runners.base import Runner

FIGURES: dict[str, ModuleType] = {
    "1": figure_1,
    "2": figure_2,
    "3": figure_3,
    "5": figure_5,
    "6": figure_6,
    "7": figure_7,
    "8": figure_8,
    "9": figure_9,
    "mountain-car": figure_mountain_car,
    "theorem": figure_theorem,
    "choices": table_open_choices,
    "causes": table_causes,
    "beyond": comparison,
    "beyond-bars": bars,
    "deep-sea": deep_sea,
    "beyond-parts": parts,
    "beyond-map": settings_map,
    "beyond-long": long,
}
TABLES = {
    "choices": "Open choices",
    "causes": "Experiments behind the why",
    "beyond": "Beyond the paper",
    "beyond-bars": "Bars of our own",
    "deep-sea": "Deep Sea",
    "beyond-parts": "Parts of the bound",
    "beyond-long": "Long runs",
}
BEYOND = ("beyond", "beyond-bars", "deep-sea", "beyond-parts", "beyond-map", "beyond-long")  # no part of the paper
ASKED = BEYOND[2:]  # made only when they are asked for by name
DEFAULT = [name for name in FIGURES if name not in ASKED]


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

    figures = list(figures) or DEFAULT
    study = study_of(figures, scale)
    if runner is None:
        declare(store, study)
    else:
        conduct(store, study, runner, quiet)
    complete = all(row.status in ("done", "diverged") for row in store.rows(study.name))
    evidence, note = Evidence(store, scale), note_of(scale, complete)
    drawn = [name for name in figures if hasattr(FIGURES[name], "plots")]
    plots = [plot._replace(note=note) for name in drawn for plot in FIGURES[name].plots(evidence)]
    for plot in plots:
        draw(plot, out / plot.name)
    claims = judge_all(evidence) if set(figures) - set(BEYOND) else []
    if set(FIGURES) - set(BEYOND) - set(figures):
        claims = [claim for claim in claims if claim.figure in {plot.name for plot in plots}]
    tables: list[Table] = [
        (title, FIGURES[name].HEADS, FIGURES[name].rows(evidence)) for name, title in TABLES.items() if name in figures
    ]
    tables += [sweeps_table(), runs_table(store, study, groups_of(figures), scale)]
    found = Reproduction(claims, tables, plots, complete, facts_of(store, study, scale), note)
    write(found, out)
    return found


def write(found: Reproduction, out: Path) -> None:
    """Write the report and the numbers."""
    from ucls.report import write_report

    data = {"complete": found.complete, "claims": [claim.as_data() for claim in found.claims], "facts": found.facts}
    data["tables"] = [{"title": title, "heads": heads, "rows": rows} for title, heads, rows in found.tables]
    write_atomic(out / "claims.json", lambda path: path.write_text(json.dumps(data, indent=1) + "\n"))
    write_atomic(out / "claims.md", lambda path: path.write_text(markdown(found)))
    title = "Context-dependent upper-confidence bounds for directed exploration, reproduced"
    lead = f"Every claim of the paper, held against runs of this implementation. {found.note}"
    claims = [{**claim.as_data(), "kind": claim.verdict} for claim in found.claims]
    write_report(out / "report.html", title, lead, claims, found.plots, found.tables, found.facts)


def titles(figures: Sequence[str]) -> list[str]:
    """The titles of the tables that come with some figures; with those that nobody has to ask for without any."""
    return [title for name, title in TABLES.items() if name in (figures or DEFAULT)]


def expected(figures: Sequence[str], scale: Scale, store: Path, jobs: int | None) -> dict[str, Any]:
    """What a reproduction would run, and for how long."""
    return forecast(study_of(list(figures) or DEFAULT, scale), store, jobs)
