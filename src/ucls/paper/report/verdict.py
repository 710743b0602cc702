"""What may come of a claim that is held against runs."""

from enum import Enum


class Verdict(Enum):
    """The verdict on a claim: its value is the word for it, and `mark` what stands before that word in a report."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    DEPENDS = "sensitive"
    UNDECIDED = "inconclusive"

    @property
    def mark(self) -> str:
        """A sign for who does not see the color."""
        return MARKS[self]


MARKS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.DEPENDS: "⇄", Verdict.UNDECIDED: "?"}
