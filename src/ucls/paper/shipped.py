"""The reproduction that comes with the package, as data: the reference for a quick look.

`ucls paper --page docs/reproduction.md` writes it with the pages: claims and tables in `reference/claims.json`, the
figures beside it, small.
"""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from ucls._files import write_atomic
from ucls.paper.account import Reproduction
from ucls.paper.claims.check import HELD, Check, Claim, agreed

FOLDER, CLAIMS, DPI = "reference", "claims.json", 110


def load() -> Reproduction:
    """The shipped reproduction; its figures are pictures (`picture`), not plots."""
    return from_data(json.loads(resources.files("ucls.paper").joinpath(FOLDER, CLAIMS).read_text(encoding="utf-8")))


def picture(name: str) -> bytes | None:
    """A figure of the shipped reproduction as PNG, if it has one of that name."""
    file = resources.files("ucls.paper").joinpath(FOLDER, f"{name}.png")
    return file.read_bytes() if file.is_file() else None


def write(made: Reproduction, path: Path) -> None:
    """Write a reproduction as data, and its figures beside that."""
    from ucls.figures.draw import draw

    for plot in made.plots:
        draw(plot, path.parent / plot.name, (".png",), dpi=DPI)
    text = json.dumps(as_data(made), indent=1, ensure_ascii=False) + "\n"
    write_atomic(path, lambda target: target.write_text(text, encoding="utf-8"))


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


def from_data(data: dict[str, Any]) -> Reproduction:
    """A reproduction from what `as_data` made of it; verdicts follow from the checks again."""
    holds = {word: value for value, word in HELD.items()}
    claims = []
    for one in data["claims"]:
        checks = tuple(
            Check(**{**check, "holds": agreed(holds[check["holds"]], check.get("p"), check["runs"])})
            for check in one["checks"]
        )
        claims.append(
            Claim(one["number"], one["claim"], one["figure"], checks, one["depends"], one["why"], one["short"])
        )
    tables = [(table["title"], table["heads"], table["rows"]) for table in data["tables"]]
    return Reproduction(claims, tables, [], data["complete"], data["facts"], data["note"])
