"""The pages of the reproduction, docs/reproduction*.md, and their files, from the data that the package ships.

`write` replaces those data, with what `sections` assembles.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tools import marks
from ucls._util.files import write_atomic
from ucls.paper import shipped
from ucls.paper._markdown import csv_text, markdown_table
from ucls.paper.account import Reproduction
from ucls.paper.claims.check import HELD, Check, Claim
from ucls.paper.claims.plain import because, title_of
from ucls.paper.contents import Table
from ucls.paper.report import Verdict

DPI = 110  # of the figures in the package
MADE = {"date": "on", "commit": "at commit", "numerics": "with results version"}

CORRECTED = (
    "A claim fails if one of its checks fails beyond what their number explains (Holm's correction). The same "
    "correction applies to the interpretations that a verdict is sensitive to."
)
SECTIONS = {
    "Reproduced claims": (Verdict.REPRODUCED,),
    "Claims that are sensitive to a detail": (Verdict.DEPENDS,),
    "Claims that were not reproduced": (Verdict.NOT_REPRODUCED,),
    "Inconclusive claims": (Verdict.UNDECIDED,),
}


def made(docs: Path) -> dict[Path, str]:
    """The text that every page, and every file that one keeps a table in, should have, by path."""
    data = shipped.load()
    known, tables = sections(data), data_files(data)
    pages = sorted(docs.glob("reproduction*.md"))
    return {path: text for page in pages for path, text in marks.made(page, known, tables).items()}


def sections(made: Reproduction) -> dict[str, str]:
    """Return the sections of the pages, by name; that of a table is its title in lower case."""
    tables = {title.lower(): _table(heads, rows) for title, heads, rows in made.tables}
    about = _table(["", ""], [list(fact) for fact in made.facts.items()])
    said = {"found": found(made), "verdicts": verdicts(made), "checks": checks(made)}
    return {**said, **tables, "facts": about}


def found(made: Reproduction) -> str:
    """The results of the claims in plain sentences, by verdict."""
    blocks = [f"{made.note} {made_at(made.facts)}".rstrip()]
    for title, verdicts in SECTIONS.items():
        claims = [claim for claim in made.claims if claim.verdict in verdicts]
        if claims:
            blocks += [f"## {title}", "\n".join(f"- {_item(claim)}" for claim in claims)]
    return "\n\n".join(blocks)


def made_at(facts: Mapping[str, str]) -> str:
    """State when and with which versions something was made, as far as the facts say.

    >>> made_at({"date": "2026-11-18", "commit": "", "numerics": "1"})
    'Made on 2026-11-18, with results version 1.'
    """
    known = [(words, facts[name]) for name, words in MADE.items() if facts.get(name)]
    return f"Made {', '.join(f'{words} {value}' for words, value in known)}." if known else ""


def _item(claim: Claim) -> str:
    title = f"[{title_of(claim)}]({claim.figure}.png)" if claim.figure else title_of(claim)
    return f"**{title}** (claim {claim.number}). {summary(claim)}"


def telling(claim: Claim) -> Check | None:
    """Return the most informative check: one that fails, else one that is inconclusive, else the first."""
    order = (False, None, True)
    return min(claim.checks, key=lambda check: order.index(check.holds), default=None)


def summary(claim: Claim) -> str:
    """The result of a claim in plain sentences, or the check that decides it where there are none."""
    check = (
        telling(claim) if claim.verdict in (Verdict.REPRODUCED, Verdict.NOT_REPRODUCED) and not because(claim) else None
    )
    counted = f"{claim.held} of {len(claim.checks)} checks hold"
    words = f"Sensitive to {claim.depends}." if claim.verdict is Verdict.DEPENDS else ""
    said = f"{counted}." if check is None else f"{counted}; {check.what}: {check.found}."
    return " ".join(filter(None, (words, because(claim), said)))


def verdicts(made: Reproduction) -> str:
    """Every claim with its verdict, as a Markdown table."""
    rows = []
    for claim in made.claims:
        counts = [str(sum(check.holds is holds for check in claim.checks)) for holds in HELD]
        rows.append([str(claim.number), claim.sentence, *counts, f"**{claim.words}**"])
    corrected = any(check.p is not None for claim in made.claims for check in claim.checks)
    note = f"{made.note} {CORRECTED}" if corrected else made.note
    return note + "\n\n" + _table(["", "claim", "hold", "fail", "inconclusive", "verdict"], rows)


def checks(made: Reproduction) -> str:
    """Every check of every claim, as Markdown."""
    parts = []
    for claim in made.claims:
        rows = [[check.what, check.found, str(check.runs), HELD[check.holds]] for check in claim.checks]
        heads = ["check", "result with 95% interval", "runs", "holds"]
        words = " ".join(filter(None, (f"**{claim.number}.** {claim.sentence}", claim.why)))
        parts.append(words + "\n\n" + _table(heads, rows))
    return "\n\n".join(parts)


def data_files(made: Reproduction) -> dict[str, str]:
    """The tables that a page may keep in a file, as CSV, by name."""
    tables = [claims_table(made), checks_table(made), *made.tables]
    return {title.lower(): csv_text(heads, rows) for title, heads, rows in tables}


def claims_table(made: Reproduction) -> Table:
    """Every claim with its verdict, the reason, and notes."""
    rows = []
    for claim in made.claims:
        counts = [str(sum(check.holds is holds for check in claim.checks)) for holds in HELD]
        said = [because(claim), claim.why]
        rows.append([str(claim.number), title_of(claim), claim.sentence, *counts, claim.words, *said])
    heads = ["claim", "title", "statement", "checks that hold", "checks that fail", "inconclusive checks", "verdict"]
    return "Verdicts", [*heads, "reason", "notes"], rows


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
    from ucls.paper.drawing.draw import draw

    names = {name for page in docs.glob("reproduction*.md") for name in marks.shown(page.read_text(encoding="utf-8"))}
    made = made._replace(tables=[table for table in made.tables if table[0].lower() in names])
    for plot in made.plots:
        draw(plot, reference / plot.name, (".png",), dpi=DPI)
        draw(plot, docs / plot.name, (".png",))
    text = json.dumps(as_data(made), indent=1, ensure_ascii=False) + "\n"
    write_atomic(reference / shipped.CLAIMS, lambda target: target.write_text(text, encoding="utf-8"))


def as_data(made: Reproduction) -> dict[str, Any]:
    """Return a reproduction as JSON data, without its figures."""
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


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return markdown_table([heads, ["---"] * len(heads), *rows])
