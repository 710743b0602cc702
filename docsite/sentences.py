"""The sentences of a page, so that a test can say which are too long to be read at once."""

import re

LEFT_OUT = re.compile(
    r"^---\n.*?^---\n|^```.*?^```|<!--.*?-->|<script.*?</script>|<svg.*?</svg>|<[^>\n]+>", re.S | re.M
)
FORMULA = re.compile(r"\$\$.*?\$\$", re.S)
INLINE = re.compile(r"`[^`]+`|\$[^$\n]+\$|!?\[(?P<words>[^\]]*)\]\([^)]*\)")
NEW = re.compile(r"^ *(?:[-*] |\d+\. |#+ )", re.M)
END = re.compile(r"(?<=[.!?])[*_\")]*\s+|\n{2,}|\s\|\s|^\|", re.M)


def sentences(markdown: str) -> list[str]:
    """The sentences of a page, without code; an item and a cell of a table count by themselves.

    >>> sentences("# A title\\n\\nOne `a b c` two.\\nThree [four](five.md): six.\\n\\n- seven\\n- eight")
    ['A title', 'One # two.', 'Three four: six.', 'seven', 'eight']
    """
    text = FORMULA.sub("\n\n", LEFT_OUT.sub("\n\n", markdown))
    text = NEW.sub("\n\n", INLINE.sub(lambda found: found["words"] or "#", text))
    return [" ".join(part.split()) for part in END.split(text) if part and part.strip(" |-*\n")]


def long(markdown: str, words: int = 30) -> list[str]:
    """The sentences with more words than that.

    >>> long("One two three. Four five.", 2)
    ['One two three.']
    """
    return [sentence for sentence in sentences(markdown) if len(sentence.split()) > words]
