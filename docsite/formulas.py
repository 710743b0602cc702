"""Formulas between dollars, as MathML: browsers render it without a script or a font.

>>> render("Code such as `$HOME` stays, $x$ does not.").count("<math")
1
"""

import re

from latex2mathml.converter import convert

CODE = r"(?P<code>^```.*?^```|`[^`\n]+`)"
BLOCK = r"\$\$(?P<block>.+?)\$\$"
INLINE = r"\$(?P<inline>[^$\n]+?)\$(?P<after>[,.;:)]*)"
FORMULA = re.compile(f"{CODE}|{BLOCK}|{INLINE}", re.S | re.M)


def render(markdown: str) -> str:
    """A page with its formulas as MathML; code is left alone."""
    return FORMULA.sub(_replaced, markdown)


def _replaced(found: re.Match[str]) -> str:
    if found["code"]:
        return found["code"]
    if found["block"]:
        return f'<div class="formula">{convert(found["block"].strip(), display="block")}</div>'
    shown = convert(found["inline"])
    return f'<span class="whole">{shown}{found["after"]}</span>' if found["after"] else shown
