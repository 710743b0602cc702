"""From a log: is a new policy better than the one that made it, by how much, and which would be safe?

`compare` reads a log, evaluates every policy with several `estimators` (one file each, with its assumptions), tests the
assumptions (`checks`, `support`, `sensitivity`) and gives a verdict (`verdict`).
"""

from ucls.evaluation.comparison.compare import compare
from ucls.evaluation.comparison.result import Candidate, Comparison, Span

__all__ = ["Candidate", "Comparison", "Span", "compare"]
