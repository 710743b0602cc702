"""The claims of the paper as code: what each says, what is measured, and whether it holds here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.paper.evidence import Evidence, Sample
from ucls.paper.groups import Group
from ucls.stats import Estimate, Summary

FEWEST = 5  # runs that an interval is trusted with: fewer decide nothing
REPRODUCED, NOT, UNDECIDED = "reproduced", "not reproduced", "undecided"


class Check(NamedTuple):
    """One thing that a claim says: what is measured, what was found, and whether it holds (None: undecided).

    What fewer than five runs say does not count for the verdict.
    """

    what: str
    found: str
    holds: bool | None
    runs: int


class Claim(NamedTuple):
    """A claim with its checks; `depends` names what the verdict turns on, if that was found (`turned`)."""

    number: int
    sentence: str
    figure: str | None
    checks: tuple[Check, ...]
    depends: str = ""
    why: str = ""

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        if not self.checks:
            return f"{UNDECIDED}: nothing was run"
        if self.depends:
            return f"depends on {self.depends}"
        fewest = min(check.runs for check in self.checks)
        if any(check.holds is False and check.runs >= FEWEST for check in self.checks):
            return NOT
        if any(check.holds is None for check in self.checks) or fewest < FEWEST:
            return f"{UNDECIDED} with {fewest} runs"
        return REPRODUCED

    def as_data(self) -> dict[str, Any]:
        """The claim as JSON can hold it, and as a report shows it."""
        held = {True: "yes", False: "no", None: "undecided"}
        mark = {True: "\u2713", False: "\u2717", None: "?"}
        checks = [{**check._asdict(), "holds": held[check.holds]} for check in self.checks]
        return {
            "number": self.number,
            "claim": self.sentence,
            "measured": f"{sum(check.holds is True for check in self.checks)} of {len(self.checks)} checks hold",
            "effect": "\n".join(f"{mark[check.holds]} {check.what}: {check.found}" for check in self.checks),
            "verdict": self.verdict,
            "why": self.why,
            "figure": self.figure,
            "checks": checks,
        }


Judge = Callable[[Evidence], Claim]


def turned(claim: Claim, others: Mapping[str, Sequence[Check]]) -> Claim:
    """The claim, with the names of what turns its verdict: checks made with it changed say the opposite, decided."""
    opposite = {REPRODUCED: NOT, NOT: REPRODUCED}.get(claim.verdict)
    names = [name for name, checks in others.items() if claim._replace(checks=tuple(checks)).verdict == opposite]
    return claim._replace(depends=" and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names))


def otherwise(
    evidence: Evidence, groups: Mapping[str, Group], checks: Callable[[Group], tuple[Check, ...]]
) -> dict[str, tuple[Check, ...]]:
    """The checks made with each of some groups, by the name of what is changed, where it was run."""
    return {name: checks(group) for name, group in groups.items() if evidence.results(group)}


def better(evidence: Evidence, mine: Sample, theirs: Sample, what: str) -> list[Check]:
    """Check that one sample is better than another on common seeds; nothing if either was not run."""
    runs = min(len(mine.seeds), len(theirs.seeds))
    if runs == 0:
        return []
    found = evidence.difference(mine, theirs)
    if found is None:
        lost = int(np.isinf(mine.scores).sum()), int(np.isinf(theirs.scores).sum())
        return [Check(what, f"{lost[0]} and {lost[1]} of {runs} diverged", lost[0] < lost[1], runs)]
    low, high = sorted((mine.sign * found.low, mine.sign * found.high))
    holds = True if low > 0 else False if high < 0 else None
    lost = int(np.isinf(mine.scores).sum() + np.isinf(theirs.scores).sum())
    note = f", {lost} diverged" if lost else ""
    return [Check(what, f"{said(found)}{note}", holds, runs)]


def at_least(summary: Summary, level: float, what: str) -> list[Check]:
    """Check that a mean is at least at a level: undecided if its interval holds the level."""
    if summary.centre is None or summary.low is None or summary.high is None:
        lost = summary.diverged
        return [Check(what, f"all {lost} runs diverged", False, lost)] if lost else []
    holds = True if summary.low >= level else False if summary.high < level else None
    note = f", {summary.diverged} diverged" if summary.diverged else ""
    return [Check(what, f"{said(summary)} against {level:.4g}{note}", holds, summary.runs)]


def within(estimate: Estimate | Summary | None, low: float, high: float, what: str, runs: int) -> list[Check]:
    """Check that a number lies between two: undecided if its interval does not lie wholly inside or outside."""
    least, most = (None, None) if estimate is None else estimate[1:3]
    if estimate is None or least is None or most is None:
        return []
    inside, outside = low <= least and most <= high, most < low or least > high
    found = f"{said(estimate)} against {low:.4g} to {high:.4g}"
    return [Check(what, found, True if inside else False if outside else None, runs)]


def part(successes: int, runs: int, what: str, most: float | None = None, least: float | None = None) -> list[Check]:
    """Check that a part of the runs is at most or at least a number, by Wilson's interval."""
    from ucls.stats import proportion

    if (found := proportion(successes, runs)) is None:
        return []
    if most is not None:
        holds = True if found.high <= most else False if found.low > most else None
    else:
        level = least or 0.0
        holds = True if found.low >= level else False if found.high < level else None
    return [Check(what, f"{successes} of {runs} [{found.low:.2f}, {found.high:.2f}]", holds, runs)]


def said(estimate: Sequence[Any]) -> str:
    """A number with its interval."""
    return f"{estimate[0]:.4g} [{estimate[1]:.4g}, {estimate[2]:.4g}]"


def said_mean(mean: Summary) -> str:
    """The mean of some runs with its interval, and how many diverged."""
    if mean.centre is None:
        return f"all {mean.diverged} diverged" if mean.diverged else "-"
    return said(mean) + (f", {mean.diverged} diverged" if mean.diverged else "")


def judge_all(evidence: Evidence) -> list[Claim]:
    """Every claim, judged."""
    from ucls.paper import claims_of_bounds, claims_of_learning, claims_of_settings

    judges: list[Judge] = [
        *claims_of_learning.JUDGES,
        *claims_of_settings.JUDGES,
        *claims_of_bounds.JUDGES,
    ]
    return sorted((judge(evidence) for judge in judges), key=lambda claim: claim.number)
