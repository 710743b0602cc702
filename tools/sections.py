"""A reproduction in parts: each exported when its runs are finished, and all assembled later.

`python -m tools export PART --runs N --store STORE` writes docs/data/paper/PART.json: its claims, tables and figures as
data, and what they were made with. `python -m tools assemble` puts the parts together, if they belong together: one
scale, one set of numerics, and commits that exist.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ucls
from tools import commits
from tools.reproduction import as_data
from ucls._util.files import write_atomic
from ucls.errors import UserError
from ucls.paper import shipped
from ucls.paper.account import RAN, Reproduction, circumstances_of, sweeps_table, time_words
from ucls.paper.contents import PARTS, Table, parts_of
from ucls.paper.drawing.plot import Line, Panel, Plot
from ucls.paper.reproduce import account_of, study_of
from ucls.paper.runs.groups import Scale
from ucls.study import Store
from ucls.study.declaration.run_spec import RESULTS_VERSION
from ucls.study.run_study import declare

ARRAYS = ("at", "center", "low", "high", "runs")


class Section(NamedTuple):
    """An exported part: its name, its content, and how many seconds its runs took."""

    name: str
    made: Reproduction
    seconds: float


def code() -> Path:
    """The folder of the code that makes runs."""
    return Path(ucls.__file__).parent


def refuse_unnamed() -> None:
    """Refuse to export unless the code is that of a commit: every part names the commit that it was made with."""
    if not commits.commit_at(code()):
        raise UserError("a part names the commit that it was made with: export from a checkout with git")
    if commits.is_changed(code()):
        raise UserError(f"{code()} has changes that no commit has: commit them, then export")


def export(names: Sequence[str], scale: Scale, store: Store, folder: Path) -> None:
    """Write each of these parts, all of whose runs the store has, with the commit that it was made with."""
    refuse_unnamed()
    for part in parts_of(names):
        study = study_of([part], scale)
        declare(store, study)
        made = account_of(store, scale, [part], study)
        if not made.complete:
            raise UserError(f"the store lacks runs of part {part.name}: `ucls paper run --only {part.name}` makes them")
        write(Section(part.name, made, sum(run.seconds for run in circumstances_of(store, study))), folder)


def write(section: Section, folder: Path) -> None:
    """Write a part, with the commit that the code is at."""
    made = section.made._replace(facts={**section.made.facts, "commit": commits.commit_at(code())})
    data = {"part": section.name, "seconds": round(section.seconds), **as_data(made)}
    text = json.dumps({**data, "plots": [_plot_as_data(plot) for plot in made.plots]}, ensure_ascii=False)
    path = folder / f"{section.name}.json"
    write_atomic(path, lambda target: target.write_text(text + "\n", encoding="utf-8"))


def read(path: Path) -> Section:
    """A part from its file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        plots = [_plot_from_data(plot) for plot in data["plots"]]
        section = Section(data["part"], shipped.from_data(data)._replace(plots=plots), float(data["seconds"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{path} is not a part of a reproduction: `python -m tools export` writes them") from error
    if section.name not in {part.name for part in PARTS}:
        raise UserError(f"{path} has an unknown part {section.name!r}: `ucls paper run --help` lists them")
    return section


def assemble(folder: Path) -> Reproduction:
    """The reproduction of the whole paper, from the parts in a folder."""
    sections = {section.name: section for section in map(read, sorted(folder.glob("*.json")))}
    needed = [part.name for part in PARTS if not part.beyond]
    if missing := [name for name in needed if name not in sections]:
        raise UserError(f"{folder} lacks {', '.join(missing)}: `python -m tools export {missing[0]} --runs N`")
    found = [sections[name] for name in needed]
    _refuse_strangers(found, folder)
    return _merged(found)


def _refuse_strangers(sections: Sequence[Section], history: Path) -> None:
    for section in sections:
        facts = section.made.facts
        if not section.made.complete:
            raise UserError(f"part {section.name} lacks runs: rerun it; finished runs are kept")
        if facts.get("numerics") != str(RESULTS_VERSION):
            raise UserError(
                f"part {section.name} has results version {facts.get('numerics')}, the code {RESULTS_VERSION}: rerun it"
            )
        if facts.get("scale") != sections[0].made.facts.get("scale"):
            raise UserError(
                f"part {section.name} is of {facts.get('scale')}, part {sections[0].name} of "
                f"{sections[0].made.facts.get('scale')}: use the same scale for both"
            )
        if not commits.exists(facts.get("commit", ""), history):
            raise UserError(
                f"part {section.name} was made at commit {facts.get('commit')}, which does not exist: rerun it"
            )


def _merged(sections: Sequence[Section]) -> Reproduction:
    all_made = [section.made for section in sections]
    claims = sorted((claim for made in all_made for claim in made.claims), key=lambda claim: claim.number)
    own = [table for made in all_made for table in made.tables if table[0] not in (RAN, sweeps_table()[0])]
    ran = _all_runs([table for made in all_made for table in made.tables if table[0] == RAN])
    facts = {name: _joined([made.facts.get(name, "") for made in all_made]) for name in all_made[0].facts}
    facts["versions"] = _joined([one for made in all_made for one in made.facts.get("versions", "").split("; ")], "; ")
    facts["seeds"] = max((made.facts.get("seeds", "") for made in all_made), key=_last_seed)
    facts["runs"] = f"{sum(int(row[4]) for row in ran[2]):,}"
    spent = time_words(sum(section.seconds for section in sections))
    facts["time"] = f"{spent}; runs shared by several parts are counted in each"
    facts["date"] = max(made.facts.get("date", "") for made in all_made)
    plots = {plot.name: plot for made in all_made for plot in made.plots}
    return Reproduction(claims, [*own, sweeps_table(), ran], [*plots.values()], True, facts, all_made[0].note)


def _all_runs(tables: Sequence[Table]) -> Table:
    """Return the runs of all parts, each once; the speed is that of the first part that has it."""
    rows = {tuple(row[:6]): row for table in reversed(tables) for row in reversed(table[2])}
    return RAN, tables[0][1], list(reversed(rows.values()))


def _last_seed(seeds: str) -> int:
    """Return the last of some seeds in words.

    >>> _last_seed("0 to 29; tuning seeds from 1,000,000,000"), _last_seed("")
    (29, -1)
    """
    return max((int(number) for number in re.findall(r"to (\d+)", seeds)), default=-1)


def _joined(values: Sequence[str], by: str = ", ") -> str:
    return by.join(dict.fromkeys(value for value in values if value))


def _plot_as_data(plot: Plot) -> dict[str, Any]:
    panels = [{**p._asdict(), "lines": [_line_as_data(line) for line in p.lines]} for p in plot.panels]
    return {**plot._asdict(), "panels": panels}


def _line_as_data(line: Line) -> dict[str, Any]:
    arrays = {name: getattr(line, name) for name in ARRAYS}
    kept = {name: None if a is None else [float(f"{x:.6g}") for x in np.asarray(a)] for name, a in arrays.items()}
    return {**line._asdict(), **kept}


def _plot_from_data(data: dict[str, Any]) -> Plot:
    panels = []
    for panel in data["panels"]:
        lines = [Line(**_with_arrays(line)) for line in panel["lines"]]
        panels.append(Panel(**{**panel, "lines": tuple(lines), "limits": tuple(panel["limits"])}))
    return Plot(**{**data, "panels": tuple(panels)})


def _with_arrays(line: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array(value) if name in ARRAYS and value is not None else value for name, value in line.items()}
