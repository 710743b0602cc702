"""Figures with their captions: a caption is the paragraph in italics below a picture.

>>> page = "![Two bars](bars.png)" + 2 * chr(10) + "*The left bar is taller.*" + chr(10)
>>> [line for line in framed(page).splitlines() if "caption" in line]
['<figcaption markdown="span">The left bar is taller.</figcaption>']
>>> list(complaints("page.md", page)), list(complaints("page.md", page.replace("*", "")))
([], ['page.md, line 1: bars.png has no caption: write a paragraph in *italics* below it'])
"""

import re
from collections.abc import Iterator

PICTURE = re.compile(r"^ *!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)\)", re.M)
CAPTION = re.compile(r"\n\n\*(?!\*)(?P<words>(?:.+\n)*?.+)\*(?=\n\n|\n?\Z)")


def framed(markdown: str) -> str:
    """Turn pictures with captions into figures; a click shows the picture by itself, at full size."""
    parts, end = [], 0
    for picture, caption in _pairs(markdown):
        if caption is not None:
            parts += [markdown[end : picture.start()], _figure(picture, caption["words"])]
            end = caption.end()
    return "".join([*parts, markdown[end:]])


def complaints(name: str, markdown: str) -> Iterator[str]:
    """Yield one line for every picture without alternative text or without a caption."""
    for picture, caption in _pairs(markdown):
        where = f"{name}, line {markdown.count(chr(10), 0, picture.start()) + 1}"
        if not picture["alt"]:
            yield f"{where}: {picture['source']} has no alternative text"
        if caption is None:
            yield f"{where}: {picture['source']} has no caption: write a paragraph in *italics* below it"


def _pairs(markdown: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    for picture in PICTURE.finditer(markdown):
        yield picture, CAPTION.match(markdown, picture.end())


def _figure(picture: re.Match[str], words: str) -> str:
    shown = f"[{picture[0].strip()}]({picture['source']})"
    return f'<figure markdown="1">\n\n{shown}\n\n<figcaption markdown="span">{words}</figcaption>\n\n</figure>'
