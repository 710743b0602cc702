"""The account of a reproduction: its claims, tables and facts as data and on a page."""

import re
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ucls._files import write_atomic
from ucls.errors import UserError
from ucls.figures.plot import Plot
from ucls.paper._markdown import markdown_table
from ucls.paper.claims.check import HELD, Claim
from ucls.paper.contents import Table
from ucls.paper.domains import DOMAINS, PRINTED
from ucls.paper.groups import Group, Scale, cells_of, winners
from ucls.settings import listed
from ucls.study import Store, Study


class Reproduction(NamedTuple):
    """What a reproduction made: the claims, the tables, the figures, and whether every run it wanted is there."""

    claims: list[Claim]
    tables: list[Table]
    plots: list[Plot]
    complete: bool
    facts: dict[str, str]
    note: str


def note_of(scale: Scale, complete: bool) -> str:
    """What stands under every figure; how many runs are behind a line, each panel says itself."""
    if scale.name == "quick":
        return f"Quick look, not the paper's protocol: few runs, {scale.steps:.0%} of the paper's steps."
    return f"Scale: {scale.name}{'' if complete else ', as far as they were run'}."


def facts_of(store: Store, study: Study, scale: Scale) -> dict[str, str]:
    """What it was made with, and how long it took."""
    about = list(store.circumstances(study.name).values())
    seeds = sorted({member.cell.seed for member in study.members})
    hours = sum(run.seconds for run in about) / 3600
    return {
        "scale": scale.name,
        "runs": f"{len(about):,}",
        "seeds": f"{seeds[0]} to {seeds[-1]}; tuning seeds from 1,000,000,000",
        "machine": ", ".join(sorted({run.machine for run in about})),
        "versions": "; ".join(sorted({run.versions for run in about})),
        "time": f"{hours:.2f} hours of one core, with what else it was doing",
    }


def sweeps_table() -> Table:
    """The settings that the sweeps chose."""
    rows = []
    for winner in winners().values():
        score = f"{winner['trials'][0]['score']:.5g}"
        tried = str(len(winner["trials"]))
        settings = listed(winner["settings"])
        rows.append([winner["label"], DOMAINS[winner["env"]].title, settings, winner["measure"], score, tried])
    return "What the sweeps chose", ["competitor", "domain", "settings", "measure", "score", "of"], rows


def runs_table(store: Store, study: Study, groups: list[Group], scale: Scale) -> Table:
    """Everything that was run: settings that are not defaults, steps, runs, how many diverged, and the speed."""
    status = {row.id: row.status for row in store.rows(study.name)}
    about = store.circumstances(study.name)
    rows = []
    for group in groups:
        cells = cells_of(group, scale)
        done = [status[cell.id] for cell in cells if status[cell.id] in ("done", "diverged")]
        seconds = sum(about[cell.id].seconds for cell in cells if cell.id in about)
        speed = f"{sum(cell.steps for cell in cells if cell.id in about) / seconds:,.0f}" if seconds else "-"
        settings = listed(dict(group.settings)) or "defaults"
        settings += "" if group.printed or group.env not in PRINTED else "; own features"
        counts = [f"{cells[0].steps:,}", str(len(done)), str(done.count("diverged")), speed]
        rows.append([group.key, DOMAINS[group.env].title, settings, *counts])
    return "What was run", ["what", "domain", "settings", "steps", "runs", "diverged", "steps a second"], rows


def verdicts(made: Reproduction) -> str:
    """Every claim with its verdict, as a Markdown table."""
    rows = []
    for claim in made.claims:
        count = f"{claim.held} of {len(claim.checks)}"
        rows.append([str(claim.number), claim.sentence, count, f"**{claim.words}**"])
    return made.note + "\n\n" + _table(["", "claim", "checks that hold", "verdict"], rows)


def checks(made: Reproduction) -> str:
    """Every check of every claim, as Markdown."""
    parts = []
    for claim in made.claims:
        rows = [[check.what, check.found, str(check.runs), HELD[check.holds]] for check in claim.checks]
        heads = ["what is measured", "found, with its 95% interval", "runs", "holds"]
        parts.append(f"**{claim.number}.** {claim.sentence} {claim.why}".rstrip() + "\n\n" + _table(heads, rows))
    return "\n\n".join(parts)


def parts(made: Reproduction) -> dict[str, str]:
    """What a page may hold, by the name of its mark; a table's is its title in small letters."""
    tables = {title.lower(): _table(heads, rows) for title, heads, rows in made.tables}
    about = _table(["", ""], [list(fact) for fact in made.facts.items()])
    return {"verdicts": verdicts(made), "checks": checks(made), **tables, "facts": about}


def markdown(made: Reproduction) -> str:
    """All of it as one page."""
    return "\n\n".join(f"## {name.capitalize()}\n\n{text}" for name, text in parts(made).items()) + "\n"


MARK = re.compile(r"(<!-- ([a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
ALWAYS = ("verdicts", "checks", "what the sweeps chose", "what was run", "facts")


def marked(page: Path, tables: Collection[str]) -> str:
    """The text of a page that can be filled: its marks are known, here or as titles of tables, and have an end each."""
    if not page.is_file():
        raise UserError(f"there is no page {page} to fill")
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"^<!-- ([a-z ]+) -->$", text, re.MULTILINE)
    if not names or names[1::2] != ["end"] * (len(names) // 2) or len(names) % 2 or "end" in names[::2]:
        raise UserError(f"{page} needs lines such as <!-- verdicts -->, each with a line <!-- end --> after it")
    for name in names[::2]:
        if name not in (known := (*ALWAYS, *(title.lower() for title in tables))):
            raise UserError(f"{page} has a mark {name!r}, but there are only: {', '.join(known)}")
    return text


def fill(page: Path, made: Reproduction, out: Path) -> None:
    """Put the parts between their marks on a page, and the figures it names beside it."""
    known = parts(made)
    text = marked(page, [title for title, _, _ in made.tables])
    text = MARK.sub(lambda match: f"{match[1]}\n{known[match[2]]}\n\n{match[3]}", text)
    for name in (f"{plot.name}.png" for plot in made.plots):
        if f"({name})" in text:
            write_atomic(page.parent / name, lambda target, name=name: shutil.copyfile(out / name, target))
    write_atomic(page, lambda target: target.write_text(text, encoding="utf-8"))


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return markdown_table([heads, ["---"] * len(heads), *rows])
