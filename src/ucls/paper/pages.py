"""Pages of a reproduction: the parts between their marks, the figures beside them, and the data behind them.

Pages that continue the name of a page (`reproduction-checks.md` beside `reproduction.md`) are filled with it. Two kinds
of lines name files, relative to the page: `<!-- data PATH -->` the one that stores everything the pages say, and
`<!-- csv TABLE: PATH -->` one with a table that is too long for the page.
"""

import re
import shutil
from collections.abc import Collection, Iterable
from pathlib import Path

from ucls._files import write_atomic
from ucls.errors import UserError
from ucls.paper import shipped
from ucls.paper.account import Reproduction, data_files, parts
from ucls.paper.commits import commit_at

MARK = re.compile(r"(<!-- ([a-z ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
DATA = re.compile(r"^<!-- data (\S+) -->$", re.MULTILINE)
CSV = re.compile(r"^<!-- csv ([a-z ]+): (\S+) -->$", re.MULTILINE)
ALWAYS = ("found", "verdicts", "checks", "figures", "tuned settings", "what was run", "tuning", "facts")


def marked(page: Path, tables: Collection[str]) -> dict[Path, str]:
    """The text of a page, and of those that go with it, which can be filled.

    Their marks are known, here or as titles of tables, and have an end each.
    """
    if not page.is_file():
        raise UserError(f"there is no page {page} to fill")
    more = sorted(page.parent.glob(f"{page.stem}-*{page.suffix}"))
    texts = {path: path.read_text(encoding="utf-8") for path in (page, *more)}
    known = (*ALWAYS, *(title.lower() for title in tables))
    for path, text in texts.items():
        names = re.findall(r"^<!-- ([a-z ]+) -->$", text, re.MULTILINE)
        ends = names[1::2] == ["end"] * (len(names) // 2) and not len(names) % 2 and "end" not in names[::2]
        if not ends or (path == page and not names):
            raise UserError(f"{path} needs lines such as <!-- verdicts -->, each with a line <!-- end --> after it")
        for name in (*names[::2], *csv_files(path.parent, text).values()):
            if name not in known:
                raise UserError(f"{path} has a mark {name!r}, but there are only: {', '.join(known)}")
    return texts


def fill(page: Path, made: Reproduction, out: Path) -> None:
    """Put the parts between their marks on a page, the figures it names beside it, and the data where it says."""
    commit = made.facts.get("commit") or commit_at(page.parent)
    if commit:
        made = made._replace(facts={**made.facts, "commit": commit})
    known = parts(made)
    texts = {path: filled(text, known) for path, text in marked(page, [title for title, _, _ in made.tables]).items()}
    shown = [plot for plot in made.plots if any(f"({plot.name}.png)" in text for text in texts.values())]
    for name in (f"{plot.name}.png" for plot in shown):
        write_atomic(page.parent / name, lambda target, name=name: shutil.copyfile(out / name, target))
    if data := data_of(page):
        tables = [table for table in made.tables if table[0].lower() in shown_on(texts.values())]
        shipped.write(made._replace(tables=tables, plots=shown), data)
    content = data_files(made)
    files = {file: content[name] for text in texts.values() for file, name in csv_files(page.parent, text).items()}
    for path, text in (texts | files).items():
        write_atomic(path, lambda target, text=text: target.write_text(text, encoding="utf-8"))


def csv_files(folder: Path, text: str) -> dict[Path, str]:
    """The files that a page in a folder keeps tables in, each with the name of its table."""
    return {folder / path: name for name, path in CSV.findall(text)}


def shown_on(texts: Iterable[str]) -> set[str]:
    """The names of everything that pages show, between marks or in a file."""
    return {name for text in texts for name in (*(mark[1] for mark in MARK.findall(text)), *dict(CSV.findall(text)))}


def data_of(page: Path) -> Path | None:
    """The file that a page names for its data, if it names one."""
    named = DATA.search(page.read_text(encoding="utf-8"))
    return page.parent / named[1] if named else None


def filled(text: str, known: dict[str, str]) -> str:
    """The text of a page with these parts between its marks."""
    return MARK.sub(lambda match: f"{match[1]}\n{known[match[2]]}\n\n{match[3]}", text)
