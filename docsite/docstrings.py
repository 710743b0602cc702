"""Docstrings as Markdown: examples are code, parameters a list, and a list begins after an empty line."""

import re

EXAMPLE = re.compile(r"(?m)^>>> .*\n?(?:^(?!\s*$).*\n?)*")
LIST = re.compile(r"(?m)^(?!- |  )(.+)\n(?=- )")
STAR = re.compile(r"\b([A-Za-z])\*")  # w*, not *this*
SECTION = re.compile(r"(?m)^(\w+)\n-{3,}\n((?:.+\n?)+)")
ENTRY = re.compile(r"(?m)^(\w[\w, ]*): ")


def shown(docstring: str) -> str:
    """A docstring as Markdown.

    >>> shown("Some w* are:" + chr(10) + "- one *active* feature").splitlines()
    ['Some w\\\\* are:', '', '- one *active* feature']
    """
    text = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", docstring.strip())
    text = SECTION.sub(lambda found: f"**{found[1]}**\n\n" + ENTRY.sub(r"- `\1`: ", found[2]), text)
    lines = LIST.sub(r"\1\n\n", text).splitlines()
    return "\n".join(line if line.startswith(("    ", ">>>")) else STAR.sub(r"\1\\*", line) for line in lines)
