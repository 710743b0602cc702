"""The account of a reproduction: its claims, tables and provenance."""

from typing import NamedTuple

from ucls.paper.claims.check import Claim
from ucls.paper.contents import Table
from ucls.paper.drawing.plot import Plot
from ucls.paper.runs.domains import DOMAINS, HAS_READING, PRINTED, READING
from ucls.paper.runs.groups import Group, Scale, cells_of, winners
from ucls.settings import listed
from ucls.study import Store, Study
from ucls.study.declaration.run_spec import RESULTS_VERSION
from ucls.study.storage.result import Circumstance

RAN = "What was run"


class Reproduction(NamedTuple):
    """The content of a reproduction: the claims, the tables, the figures, and whether all its runs are complete."""

    claims: list[Claim]
    tables: list[Table]
    plots: list[Plot]
    complete: bool
    facts: dict[str, str]
    note: str


def note_of(scale: Scale, complete: bool) -> str:
    """Return the note under every figure; each panel states its number of runs."""
    if scale.name == "quick":
        return f"Quick look, not the paper's protocol: few runs, {scale.steps:.0%} of the paper's steps."
    return f"Scale: {scale.name}{'' if complete else ', as far as they were run'}."


def facts_of(store: Store, study: Study, scale: Scale) -> dict[str, str]:
    """Return the provenance and how long it took."""
    about = circumstances_of(store, study)
    seeds = sorted({member.cell.seed for member in study.members})
    return {
        "scale": scale.name,
        "runs": f"{len(about):,}",
        "seeds": f"{seeds[0]} to {seeds[-1]}; tuning seeds from 1,000,000,000",
        "machine": ", ".join(sorted({run.machine for run in about})),
        "versions": "; ".join(sorted({run.versions for run in about})),
        "time": time_words(sum(run.seconds for run in about)),
        "date": max((run.finished for run in about), default="")[:10],
        "numerics": str(RESULTS_VERSION),
    }


def circumstances_of(store: Store, study: Study) -> list[Circumstance]:
    """Return the provenance of the runs of a study, or of a part of it."""
    known = store.circumstances(study.name)
    return [known[id] for id in dict.fromkeys(member.cell.id for member in study.members) if id in known]


def time_words(seconds: float) -> str:
    """The time of many runs in words."""
    spent = f"{seconds / 3600:.2f} hours" if seconds >= 3600 else f"{seconds / 60:.0f} minutes"
    return f"{spent} on one core, which ran other work as well"


def sweeps_table() -> Table:
    """The settings found by tuning."""
    rows = []
    for key, winner in winners().items():
        score = f"{winner['trials'][0]['score']:.5g}"
        tried = str(len(winner["trials"]))
        settings = listed(winner["settings"])
        where = DOMAINS[winner["env"]].title + (", collision-free table" if key.endswith(" room") else "")
        rows.append([winner["label"], where, settings, winner["metric"], score, tried])
    return "Tuned settings", ["algorithm", "domain", "settings", "metric", "score", "candidates"], rows


def runs_table(store: Store, study: Study, groups: list[Group], scale: Scale) -> Table:
    """Everything that was run: settings that are not defaults, steps, runs, how many diverged, and the speed."""
    status = {row.id: row.status for row in store.rows(study.name)}
    about = store.circumstances(study.name)
    rows = []
    for group in groups:
        if not (cells := cells_of(group, scale)):
            continue
        done = [status[cell.id] for cell in cells if status[cell.id] in ("done", "diverged")]
        seconds = sum(about[cell.id].seconds for cell in cells if cell.id in about)
        speed = f"{sum(cell.steps for cell in cells if cell.id in about) / seconds:,.0f}" if seconds else "-"
        settings = listed(dict(group.settings)) or "defaults"
        if group.env in HAS_READING and group.reading not in ("", READING):
            settings += "; printed memory" if group.reading == PRINTED else "; own features"
        counts = [f"{cells[0].steps:,}", str(len(done)), str(done.count("diverged")), speed]
        rows.append([group.key, DOMAINS[group.env].title, settings, *counts])
    return RAN, ["what", "domain", "settings", "steps", "runs", "diverged", "steps per second"], rows
