"""Marked sections: the text between `<!-- NAME -->` and `<!-- end -->` on a page is made from data.

A table that is too long for a page is a CSV file: `<!-- csv NAME: PATH -->` names it, relative to the page.
"""

import re
from collections.abc import Mapping
from pathlib import Path

SECTION = re.compile(r"(?P<start>^<!-- (?P<name>[a-z][a-z -]*) -->\n)(?P<body>.*?)(?P<end>^<!-- end -->$)", re.M | re.S)
MARK = re.compile(r"^<!-- ([a-z][a-z -]*) -->$", re.M)
FILE = re.compile(r"^<!-- csv ([a-z ]+): (\S+) -->$", re.M)


def made(page: Path, sections: Mapping[str, str], tables: Mapping[str, str] = {}) -> dict[Path, str]:
    """The text that a page should have with these sections, and that of the files it keeps tables in, by path."""
    text = page.read_text(encoding="utf-8")
    return {
        page: filled(text, sections),
        **{page.parent / path: _of(name, tables) for name, path in FILE.findall(text)},
    }


def filled(text: str, sections: Mapping[str, str]) -> str:
    """The text of a page with these sections between its marks; every mark needs an end.

    >>> filled("<!-- total -->" + chr(10) + "old" + chr(10) + "<!-- end -->", {"total": "new"}).split()[2:4]
    ['-->', 'new']
    """
    names = MARK.findall(text)
    if len(names) % 2 or any((name == "end") != bool(place % 2) for place, name in enumerate(names)):
        raise LookupError(f"these marks do not alternate with <!-- end -->: {', '.join(names)}")
    return SECTION.sub(lambda found: f"{found['start']}\n{_of(found['name'], sections)}\n\n{found['end']}", text)


def shown(text: str) -> set[str]:
    """The names of everything that a page shows, between marks or in a file."""
    return {found["name"] for found in SECTION.finditer(text)} | dict(FILE.findall(text)).keys()


def _of(name: str, made: Mapping[str, str]) -> str:
    if name not in made:
        raise LookupError(f"there is nothing to put at the mark {name!r}, only at: {', '.join(made)}")
    return made[name]
