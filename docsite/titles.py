"""Titles of pages: where a text names a file of docs/, the site says what its list calls that page.

>>> titled("See [studies.md](studies.md#exit-codes).", {"studies.md": "Studies"})
'See [Studies](studies.md#exit-codes).'
"""

import re
from typing import Any

NAMED = re.compile(r"\[(?:docs/)?([\w/-]+\.md)\](?=\()")


def titles(nav: list[Any]) -> dict[str, str]:
    """The titles that the list of pages gives them, by file.

    >>> titles([{"Start": "index.md"}, {"Do": ["more.md", {"Studies": "studies.md"}]}])
    {'index.md': 'Start', 'studies.md': 'Studies'}
    """
    found: dict[str, str] = {}
    for entry in nav:
        for title, what in entry.items() if isinstance(entry, dict) else ():
            found |= titles(what) if isinstance(what, list) else {what: title}
    return found


def titled(markdown: str, known: dict[str, str]) -> str:
    """A text whose links that show the name of a page's file show its title."""
    return NAMED.sub(lambda found: f"[{known.get(found[1], found[1])}]", markdown)
