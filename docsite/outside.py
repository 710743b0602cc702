"""Files outside docs/ that pages link to: the site has a page for each, so that no link leads out of it."""

import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PAGES = {"README.md": "index.md", **{name: name.lower() for name in SHOWN}}
LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")
LANGUAGES = {".py": "python", ".toml": "toml", ".json": "json", ".cff": "yaml", ".sh": "sh"}


def page_of(path: str) -> str:
    """The page, within the site, of a file of the repository.

    >>> page_of("docs/concepts.md"), page_of("CONTRIBUTING.md"), page_of("examples/my_agent.py")
    ('concepts.md', 'contributing.md', 'source/examples/my_agent.py.md')
    """
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return PAGES.get(path, f"source/{path}.md")


def mended(markdown: str, origin: str, met: Callable[[str], None] = lambda path: None) -> str:
    """Return the text of a file of the repository with links adapted to the site; `met` is called with each."""
    here = posixpath.dirname(page_of(origin))

    def mend(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), found[1]))
        if "://" in found[1] or not (ROOT / target).is_file():
            return found[0]
        met(target)
        return posixpath.relpath(page_of(target), here or ".") + (found[2] or "")

    return LINK.sub(mend, markdown)


def pages(more: Iterable[str] = ()) -> dict[str, str]:
    """The pages of all files outside docs/ that are linked to from the site, and of some more, by name."""
    found: dict[str, str] = {}
    waiting = [*SHOWN, *more]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        mended(path.read_text(), path.relative_to(ROOT).as_posix(), waiting.append)
    while waiting:
        path = waiting.pop()
        if path.startswith("docs/") or path == "README.md" or page_of(path) in found:
            continue
        found[page_of(path)] = _page(path, waiting.append)
    return found


def _page(path: str, met: Callable[[str], None]) -> str:
    text = (ROOT / path).read_text()
    if path.endswith(".md"):
        return mended(text, path, met)
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f"---\nsearch: {{ exclude: true }}\n---\n# {path}\n\n~~~~{language}\n{text}\n~~~~\n"
