"""The possible verdicts on a claim."""

from enum import Enum


class Verdict(Enum):
    """The verdict on a claim: its value is its name, and `mark` the sign before it in a report."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    DEPENDS = "sensitive"
    UNDECIDED = "inconclusive"

    @property
    def mark(self) -> str:
        """A sign for readers who cannot see the color."""
        return MARKS[self]


MARKS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.DEPENDS: "⇄", Verdict.UNDECIDED: "?"}
