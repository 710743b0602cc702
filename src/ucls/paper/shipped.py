"""The reproduction that comes with the package, as data: the reference for a quick reproduction.

Claims and tables are in `reference/claims.json`, the figures beside it, small.
"""

import json
from importlib import resources
from typing import Any

from ucls.paper.account import Reproduction
from ucls.paper.claims.check import HELD, Check, Claim, agreed

FOLDER, CLAIMS = "reference", "claims.json"


def load() -> Reproduction:
    """Load the shipped reproduction; its figures are images (`picture`), not plots."""
    return from_data(json.loads(resources.files("ucls.paper").joinpath(FOLDER, CLAIMS).read_text(encoding="utf-8")))


def picture(name: str) -> bytes | None:
    """Return a figure of the shipped reproduction as PNG, if there is one of that name."""
    file = resources.files("ucls.paper").joinpath(FOLDER, f"{name}.png")
    return file.read_bytes() if file.is_file() else None


def from_data(data: dict[str, Any]) -> Reproduction:
    """Return a reproduction from JSON; verdicts follow from the checks."""
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
