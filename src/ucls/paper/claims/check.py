"""The claims of the paper as code: what each says, what is measured, and whether it holds here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.paper.evidence import Evidence, Sample, said
from ucls.stats import Estimate, Summary

FEWEST = 5  # runs that an interval is trusted with: fewer decide nothing
LEVEL = 0.05
OF_ANY_LENGTH = (12, 13)  # the theorems: they speak of no number of steps
HELD = {True: "yes", False: "no", None: "undecided"}
REPRODUCED, NOT, UNDECIDED = "reproduced", "not reproduced", "undecided"


class Check(NamedTuple):
    """One thing that a claim says: what is measured, what was found, and whether it holds (None: undecided).

    What fewer than five runs say does not count for the verdict.
    """

    what: str
    found: str
    holds: bool | None
    runs: int

    @property
    def decided(self) -> bool | None:
        """Whether it holds, with runs enough to say so."""
        return self.holds if self.runs >= FEWEST else None


class Claim(NamedTuple):
    """A claim with its checks; `depends` names what the verdict turns on, if that was found (`turned`).

    `short` claims were judged with fewer steps than they speak of, and are not decided.
    """

    number: int
    sentence: str
    figure: str | None
    checks: tuple[Check, ...]
    depends: str = ""
    why: str = ""
    short: bool = False

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        if not any(check.runs for check in self.checks):
            return f"{UNDECIDED}: nothing was run"
        if self.short:
            return f"{UNDECIDED}: a quick look"
        if self.depends:
            return f"depends on {self.depends}"
        if any(check.decided is False for check in self.checks):
            return NOT
        open_ = [check.runs for check in self.checks if check.decided is None]
        if not open_:
            return REPRODUCED
        fewest = min(open_)
        return f"{UNDECIDED} with {fewest} run{'s' * (fewest != 1)}"

    @property
    def held(self) -> int:
        """How many of the checks hold."""
        return sum(check.holds is True for check in self.checks)

    def as_data(self) -> dict[str, Any]:
        """The claim as JSON can hold it, and as a report shows it: what does not hold comes first."""
        mark = {True: "\u2713", False: "\u2717", None: "?"}
        telling = sorted(self.checks, key=lambda check: (False, None, True).index(check.holds))
        checks = [{**check._asdict(), "holds": HELD[check.holds]} for check in self.checks]
        return {
            "number": self.number,
            "claim": self.sentence,
            "measured": f"{self.held} of {len(self.checks)} checks hold",
            "effect": "\n".join(f"{mark[check.holds]} {check.what}: {check.found}" for check in telling),
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


def not_run(what: str) -> list[Check]:
    """The check of what has no runs yet: never left out, or the others would decide the claim without it."""
    return [Check(what, "not run", None, 0)]


def better(evidence: Evidence, mine: Sample, theirs: Sample, what: str) -> list[Check]:
    """Check that one sample is better than another on common seeds.

    The interval of the mean difference decides. Where runs diverged it cannot count them: signed ranks decide then, in
    which a diverged run loses to every sound one.
    """
    pair = evidence.pair(mine, theirs)
    if pair is None:
        return not_run(what)
    runs = pair.pairs + pair.dropped
    if not pair.dropped and pair.difference is not None:
        low, high = sorted((mine.sign * pair.difference.low, mine.sign * pair.difference.high))
        return [Check(what, said(pair.difference), True if low > 0 else False if high < 0 else None, runs)]
    sound = f"{said(pair.difference)} in {pair.pairs} sound pairs, " if pair.difference is not None else ""
    lost = [f"{int(np.isinf(sample.scores).sum())} of {len(sample.scores)}" for sample in (mine, theirs)]
    clear = pair.p_rank < LEVEL and pair.wins != pair.losses
    return [Check(what, f"{sound}{lost[0]} and {lost[1]} diverged", pair.wins > pair.losses if clear else None, runs)]


def at_least(summary: Summary, level: float, what: str) -> list[Check]:
    """Check that a mean is at least at a level: undecided if its interval holds the level, or if any run diverged."""
    lost = summary.diverged
    if summary.centre is None or summary.low is None or summary.high is None:
        return [Check(what, f"all {lost} runs diverged", False, lost)] if lost else not_run(what)
    holds = False if summary.high < level else True if summary.low >= level and not lost else None
    note = f", {lost} diverged" if lost else ""
    return [Check(what, f"{said(summary)} against {level:.4g}{note}", holds, summary.runs + lost)]


def within(estimate: Estimate | Summary, low: float, high: float, what: str, runs: int) -> list[Check]:
    """Check that a number lies between two: undecided if its interval does not lie wholly inside or outside."""
    least, most = estimate[1:3]
    if least is None or most is None:
        return not_run(what)
    inside, outside = low <= least and most <= high, most < low or least > high
    found = f"{said(estimate)} against {low:.4g} to {high:.4g}"
    return [Check(what, found, True if inside else False if outside else None, runs)]


def apart(
    evidence: Evidence, mine: Sample, theirs: Sample, low: float, high: float, what: str, unit: float = 1.0
) -> list[Check]:
    """Check that the mean difference on common seeds, in a unit, lies between two numbers; all must be sound."""
    pair = evidence.pair(mine, theirs)
    if pair is None:
        return not_run(what)
    if pair.difference is None or pair.dropped:
        return [Check(what, f"{pair.dropped} of {pair.pairs + pair.dropped} pairs diverged", None, pair.pairs)]
    return within(Estimate(*(x / unit for x in pair.difference)), low, high, what, pair.pairs)


def part(successes: int, runs: int, what: str, most: float | None = None, least: float | None = None) -> list[Check]:
    """Check that a part of the runs is at most or at least a number, by Wilson's interval."""
    from ucls.stats import proportion

    if (found := proportion(successes, runs)) is None:
        return not_run(what)
    if most is not None:
        holds = True if found.high <= most else False if found.low > most else None
    else:
        level = least or 0.0
        holds = True if found.low >= level else False if found.high < level else None
    return [Check(what, f"{successes} of {runs} [{found.low:.2f}, {found.high:.2f}]", holds, runs)]
