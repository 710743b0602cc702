"""The claims of the paper, each compared with runs.

To add one, decorate its judge with `declared.claim` in one of these modules; `check` has the kinds of check.
"""

from collections.abc import Iterable

from ucls.paper.claims import bounds, learning, sarsa, settings, variants
from ucls.paper.claims.check import Claim
from ucls.paper.claims.declared import CLAIMS
from ucls.paper.evidence import Evidence

__all__ = ["CLAIMS", "bounds", "judge_all", "learning", "sarsa", "settings", "variants"]


def judge_all(evidence: Evidence, numbers: Iterable[int] = tuple(CLAIMS)) -> list[Claim]:
    """Every claim, or those of some numbers, judged."""
    short = evidence.scale.steps < 1
    return [
        CLAIMS[number].judge(evidence)._replace(short=short and not CLAIMS[number].any_length)
        for number in sorted(numbers)
    ]
