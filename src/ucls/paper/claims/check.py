"""The claims of the paper as code: what each says, what is measured, and whether it holds here."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls.paper.evidence import Evidence, Sample
from ucls.paper.numbers import interval, number, share
from ucls.report import Verdict
from ucls.runs.measures import signed
from ucls.stats import Estimate, Summary, proportion

FEWEST = 5  # runs that an interval is trusted with: fewer decide nothing
LEVEL = 0.05
OF_ANY_LENGTH = (12, 13)  # the theorems: they speak of no number of steps
HELD = {True: "yes", False: "no", None: "undecided"}


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
    def verdict(self) -> Verdict:
        """As weak as the weakest check."""
        if self.short or not self._was_run:
            return Verdict.UNDECIDED
        if self.depends:
            return Verdict.DEPENDS
        decisions = [check.decided for check in self.checks]
        if False in decisions:
            return Verdict.NOT_REPRODUCED
        return Verdict.UNDECIDED if None in decisions else Verdict.REPRODUCED

    @property
    def words(self) -> str:
        """The verdict in words: what it depends on, or why it is undecided, too."""
        if self.verdict is Verdict.DEPENDS:
            return f"depends on {self.depends}"
        if self.verdict is not Verdict.UNDECIDED:
            return self.verdict.value
        if not self._was_run:
            return "undecided: nothing was run"
        if self.short:
            return "undecided: a quick look"
        fewest = min(check.runs for check in self.checks if check.decided is None)
        return f"undecided with {fewest} run{'s' * (fewest != 1)}"

    @property
    def _was_run(self) -> bool:
        return any(check.runs for check in self.checks)

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
            "verdict": self.words,
            "why": self.why,
            "figure": self.figure,
            "checks": checks,
        }


Judge = Callable[[Evidence], Claim]


def turned(claim: Claim, others: Mapping[str, Sequence[Check]]) -> Claim:
    """The claim, with the names of what turns its verdict: checks made with it changed say the opposite, decided."""
    held, failed = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
    opposite = {held: failed, failed: held}.get(claim.verdict)
    names = [name for name, checks in others.items() if claim._replace(checks=tuple(checks)).verdict is opposite]
    return claim._replace(depends=" and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names))


def decided(holds: bool, fails: bool) -> bool | None:
    """Whether something holds, of which an interval says that it surely does, surely does not, or (None) neither."""
    return True if holds else False if fails else None


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
        _, low, high = signed(pair.difference, mine.sign)
        return [Check(what, interval(pair.difference), decided(low > 0, high < 0), runs)]
    sound = f"{interval(pair.difference)} in {pair.pairs} sound pairs, " if pair.difference is not None else ""
    lost = [f"{int(np.isinf(sample.scores).sum())} of {len(sample.scores)}" for sample in (mine, theirs)]
    clear = pair.p_rank < LEVEL and pair.wins != pair.losses
    return [Check(what, f"{sound}{lost[0]} and {lost[1]} diverged", pair.wins > pair.losses if clear else None, runs)]


def at_least(summary: Summary, level: float, what: str) -> list[Check]:
    """Check that a mean is at least at a level: undecided if its interval holds the level, or if any run diverged."""
    lost = summary.diverged
    if summary.centre is None or summary.low is None or summary.high is None:
        return [Check(what, f"all {lost} runs diverged", False, lost)] if lost else not_run(what)
    holds = decided(summary.low >= level and not lost, summary.high < level)
    note = f", {lost} diverged" if lost else ""
    return [Check(what, f"{interval(summary)} against {number(level)}{note}", holds, summary.runs + lost)]


def within(estimate: Estimate | Summary, low: float, high: float, what: str, runs: int) -> list[Check]:
    """Check that a number lies between two: undecided if its interval does not lie wholly inside or outside."""
    least, most = estimate[1:3]
    if least is None or most is None:
        return not_run(what)
    inside, outside = low <= least and most <= high, most < low or least > high
    text = f"{interval(estimate)} against {number(low)} to {number(high)}"
    return [Check(what, text, decided(inside, outside), runs)]


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
    if (estimate := proportion(successes, runs)) is None:
        return not_run(what)
    if most is not None:
        holds = decided(estimate.high <= most, estimate.low > most)
    else:
        level = least or 0.0
        holds = decided(estimate.low >= level, estimate.high < level)
    return [Check(what, share(successes, runs, estimate), holds, runs)]
