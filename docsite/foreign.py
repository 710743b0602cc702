"""The check that a built page fetches nothing from other sites."""

import re
from html.parser import HTMLParser
from pathlib import Path

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "use": "href"}
NAMES_ONLY = {"canonical", "next", "prev", "alternate"}
ADDRESS = re.compile(r"(?:@import|url\()\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        address = given.get(FETCHED.get(tag, ""), "")
        if re.match(r"(https?:)?//", address) and given.get("rel") not in NAMES_ONLY:
            self.found.append(address)
        self.found += ADDRESS.findall(given.get("style", ""))


def fetched(path: Path) -> list[str]:
    """The addresses that a page or a style sheet fetches from elsewhere.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "page.html")
    ...     _ = page.write_text('<a href="https://a"><img src="//b/c.png"><style>p {background: url(http://d)}</style>')
    ...     fetched(page)
    ['//b/c.png', 'http://d']
    """
    text = path.read_text(errors="replace")
    if path.suffix == ".css":
        return ADDRESS.findall(text)
    reader = _Reader()
    reader.feed(text)
    inside = re.findall(r"<style.*?</style>", text, re.S)
    return reader.found + [address for style in inside for address in ADDRESS.findall(style)]


def check(site: Path) -> list[str]:
    """Return one line for everything that some page of a built site would fetch from elsewhere."""
    files = [path for path in sorted(site.rglob("*")) if path.suffix in (".html", ".css", ".svg")]
    return [f"{path.relative_to(site)} fetches {address}" for path in files for address in fetched(path)]
