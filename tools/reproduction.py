"""The pages of the reproduction, docs/reproduction*.md, and their files, from the data that the package ships.

`write` replaces those data, with what `sections` assembles.
"""

import json
from pathlib import Path
from typing import Any

from tools import marks
from tools.captions import pictures
from ucls._files import write_atomic
from ucls.paper import account, shipped
from ucls.paper._markdown import csv_text
from ucls.paper.account import Reproduction
from ucls.paper.claims.check import HELD, Claim
from ucls.paper.claims.plain import because, title_of, was
from ucls.paper.contents import Table

DPI = 110  # of the figures in the package


def made(docs: Path) -> dict[Path, str]:
    """The text that every page, and every file that one keeps a table in, should have, by path."""
    data = shipped.load()
    known, tables = sections(data), data_files(data)
    pages = sorted(docs.glob("reproduction*.md"))
    return {path: text for page in pages for path, text in marks.made(page, known, tables).items()}


def sections(made: Reproduction) -> dict[str, str]:
    """What a page may have between marks, by the name of the mark."""
    return {**account.parts(made), "figures": pictures()}


def data_files(made: Reproduction) -> dict[str, str]:
    """The tables that a page may keep in a file, as CSV, by name."""
    tables = [claims_table(made), checks_table(made), *made.tables]
    return {title.lower(): csv_text(heads, rows) for title, heads, rows in tables}


def claims_table(made: Reproduction) -> Table:
    """Every claim with its verdict, the reason, notes, and what changed since an earlier verdict."""
    rows = []
    for claim in made.claims:
        counts = [str(sum(check.holds is holds for check in claim.checks)) for holds in HELD]
        said = [because(claim), claim.why, was(claim)]
        rows.append([str(claim.number), title_of(claim), claim.sentence, *counts, claim.words, *said])
    heads = ["claim", "title", "statement", "checks that hold", "checks that fail", "inconclusive checks", "verdict"]
    return "Verdicts", [*heads, "reason", "notes", "earlier verdict"], rows


def checks_table(made: Reproduction) -> Table:
    """Every check of every claim."""
    rows = []
    for claim in made.claims:
        for check in claim.checks:
            p = "" if check.p is None else f"{check.p:g}"
            rows.append([str(claim.number), check.what, check.found, str(check.runs), HELD[check.holds], p])
    return "Checks", ["claim", "check", "result with 95% interval", "runs", "holds", "p-value"], rows


def write(made: Reproduction, reference: Path, docs: Path) -> None:
    """Write what the pages show of a reproduction as the data that the package ships, and its figures for both."""
    from ucls.figures.draw import draw

    names = {name for page in docs.glob("reproduction*.md") for name in marks.shown(page.read_text(encoding="utf-8"))}
    made = made._replace(tables=[table for table in made.tables if table[0].lower() in names])
    for plot in made.plots:
        draw(plot, reference / plot.name, (".png",), dpi=DPI)
        draw(plot, docs / plot.name, (".png",))
    text = json.dumps(as_data(made), indent=1, ensure_ascii=False) + "\n"
    write_atomic(reference / shipped.CLAIMS, lambda target: target.write_text(text, encoding="utf-8"))


def as_data(made: Reproduction) -> dict[str, Any]:
    """A reproduction as JSON can hold it, but for its figures."""
    return {
        "note": made.note,
        "complete": made.complete,
        "facts": made.facts,
        "claims": [_claim_as_data(claim) for claim in made.claims],
        "tables": [{"title": title, "heads": heads, "rows": rows} for title, heads, rows in made.tables],
    }


def _claim_as_data(claim: Claim) -> dict[str, Any]:
    data = {**claim.as_data(), "depends": claim.depends, "short": claim.short}
    names = ("number", "claim", "verdict", "depends", "short", "why", "figure", "checks")
    return {name: data[name] for name in names}
