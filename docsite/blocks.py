"""The code of pages, block by block, for tests and for the figures of a page.

A comment just before a block says what to do with it: `<!-- not run: why -->` leaves it alone, and
`<!-- run with: 20_000 -> 500, 30 -> 2 -->` lets a test run it with smaller numbers. `<!-- file: NAME -->` says which
file the reader saves it as: a test does too, and runs it.

    python -m docsite.blocks docs/tutorial.md FOLDER

runs the Python of a page as it is printed, in a folder.
"""

import contextlib
import re
import sys
from pathlib import Path
from typing import NamedTuple

ORDER = r"^ *<!-- (?P<order>not run|run with|file): (?P<words>[^\n]*?) -->\n"
PAIRS = re.compile(r",(?=[^,]* -> )")  # the commas between pairs; those in code stay
FENCE = re.compile(rf"(?:{ORDER})?^```(?P<language>\w+)\n(?P<code>.*?)^```", re.S | re.M)


class Block(NamedTuple):
    """A block of code: its language, its lines, why it is not run, its smaller numbers, and its file."""

    language: str
    code: str
    line: int
    excuse: str = ""
    smaller: tuple[tuple[str, str], ...] = ()
    file: str = ""

    @property
    def quick(self) -> str:
        """The code with the smaller numbers."""
        code = self.code
        for large, small in self.smaller:
            if large not in code:
                raise ValueError(f"line {self.line}: there is no {large!r} to make smaller")
            code = code.replace(large, small)
        return code


def blocks(text: str) -> list[Block]:
    """The blocks of a page that name a language.

    >>> lines = ["<!-- run with: 900 -> 9, f(x) -> f(x, y) -->", "```python", "a(900); f(x)", "```"]
    >>> [block.quick for block in blocks(chr(10).join(lines))]
    ['a(9); f(x, y)\\n']
    """
    found = []
    for one in FENCE.finditer(text):
        order, words = one["order"], one["words"] or ""
        pairs = [tuple(pair.strip().split(" -> ")) for pair in PAIRS.split(words)] if order == "run with" else []
        excuse = words if order == "not run" else ""
        file = words if order == "file" else ""
        line = text.count("\n", 0, one.start("code"))
        found.append(Block(one["language"], one["code"], line, excuse, tuple(pairs), file))  # pyright: ignore[reportArgumentType]
    return found


def main(page: str, folder: str) -> None:
    """Run the Python of a page at full size."""
    code = [block.code for block in blocks(Path(page).read_text()) if block.language == "python" and not block.excuse]
    with contextlib.chdir(folder):
        exec("\n".join(code), {})


if __name__ == "__main__":
    main(*sys.argv[1:])
