"""Numbers in the text of two pages: each must be in a table, a check or a measurement, possibly rounded.

>>> known = numbers("-59.43 [-66.08, -53.45] of 30, p = 1e-05")
>>> [stale(text, known) for text in ("It ends at -59.4, with p = 1e-5 (claim 7).", "About 60 of 30 runs.", "At 58.")]
[[], [], ['58']]
"""

import json
import re
from collections.abc import Collection, Iterator

from docsite.sentences import sentences
from tools import benchmarks
from tools.reproduction import as_data
from tools.tables import ROOT, tables
from ucls.paper import shipped

NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?%?(?!\w)")
CLAIMS = re.compile(r"\bclaims? \d+(?:(?:, | and | to )\d+)*|\bFigure \d+|\bTheorem 1|\bCorollary 1|\bd\^2")
PAGE, MEASURED = "reproduction-why.md", ("diagnose.md", "coverage.md")


def complaints() -> Iterator[str]:
    """Yield one line for every sentence with a number that is in no table, check or measurement."""
    known = numbers(json.dumps(as_data(shipped.load()), ensure_ascii=False))
    cells = [cell for page in MEASURED for table in tables(page) for row in table.rows for cell in row]
    cells += benchmarks.cells()
    known |= numbers(" ".join(cells)) | numbers((ROOT / "docs" / "data" / "deviations.csv").read_text())
    measured = numbers((ROOT / "docs" / "data" / "performance.json").read_text())
    for page, those in ((PAGE, known), ("performance.md", measured)):
        for sentence in sentences((ROOT / "docs" / page).read_text()):
            for number in stale(sentence, those):
                yield f"docs/{page}: no table or check has {number}: {sentence}"


def numbers(text: str) -> set[float]:
    """Return the absolute values of the numbers in a text: 12% is 0.12 and 12."""
    found = set()
    for word in NUMBER.findall(text):
        value = float(word.rstrip("%").replace(",", ""))
        found |= {value, value / 100} if word.endswith("%") else {value}
    return found


def stale(sentence: str, known: Collection[float]) -> list[str]:
    """Return the numbers of a sentence, except those of claims, that are neither known nor a rounded known number."""
    words = NUMBER.findall(CLAIMS.sub("", sentence))
    return [word for word in words if not any(_rounds_to(word, value) for value in known)]


def _rounds_to(word: str, value: float) -> bool:
    plain = word.rstrip("%").replace(",", "")
    if "e" in plain:
        return f"{value:.3g}" == f"{float(plain):.3g}"
    whole, _, decimals = plain.partition(".")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
    return round(100 * value if word.endswith("%") else value, len(decimals) - zeros) == float(plain)
