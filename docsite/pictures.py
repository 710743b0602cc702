"""Pictures with their captions: a caption is the paragraph in italics below a picture, and says what to see.

>>> page = "![Two bars](bars.png)" + 2 * chr(10) + "*See the left bar.*" + chr(10)
>>> [line for line in framed(page).splitlines() if "caption" in line]
['<figcaption markdown="span">See the left bar.</figcaption>']
>>> list(complaints("page.md", page)), list(complaints("page.md", page.replace("See", "It is")))
([], ['page.md, line 1: the caption of bars.png does not say what to see: "See ..."'])
"""

import re
from collections.abc import Iterator

PICTURE = re.compile(r"^ *!\[(?P<alt>[^\]]*)\]\((?P<source>[^)\s]+)\)", re.M)
CAPTION = re.compile(r"\n\n\*(?!\*)(?P<words>(?:.+\n)*?.+)\*(?=\n\n|\n?\Z)")
SAYS = re.compile(r"\bSee\b")


def framed(markdown: str) -> str:
    """A page whose pictures with captions are figures; a click shows a picture by itself, as large as it is."""
    parts, end = [], 0
    for picture, caption in _pairs(markdown):
        if caption is not None:
            parts += [markdown[end : picture.start()], _figure(picture, caption["words"])]
            end = caption.end()
    return "".join([*parts, markdown[end:]])


def complaints(name: str, markdown: str) -> Iterator[str]:
    """One line for every picture without a description or a caption, or whose caption does not say what to see."""
    for picture, caption in _pairs(markdown):
        where = f"{name}, line {markdown.count(chr(10), 0, picture.start()) + 1}"
        if not picture["alt"]:
            yield f"{where}: {picture['source']} has no description for those who do not see it"
        if caption is None:
            yield f"{where}: {picture['source']} has no caption: a paragraph in *italics* below it"
        elif not SAYS.search(caption["words"]):
            yield f'{where}: the caption of {picture["source"]} does not say what to see: "See ..."'


def _pairs(markdown: str) -> Iterator[tuple[re.Match[str], re.Match[str] | None]]:
    for picture in PICTURE.finditer(markdown):
        yield picture, CAPTION.match(markdown, picture.end())


def _figure(picture: re.Match[str], words: str) -> str:
    shown = f"[{picture[0].strip()}]({picture['source']})"
    return f'<figure markdown="1">\n\n{shown}\n\n<figcaption markdown="span">{words}</figcaption>\n\n</figure>'
