"""The claims of the paper as code: what each says, what is measured, and whether it holds here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from ucls.core.metrics import signed
from ucls.paper.evidence import Evidence, Sample
from ucls.paper.numbers import interval, number, share
from ucls.paper.report import Verdict
from ucls.paper.runs.alternatives import Change, Interpretation
from ucls.stats import Estimate, Summary, holm, proportion

WIDTH = NormalDist().inv_cdf(0.975)  # standard errors that half a 95% interval is wide
MOST = 0.8  # of the runs: where each ends at the optimum or far from it, to succeed is what that many do, else it fails
FEWEST = 5  # runs that an interval is trusted with: fewer decide nothing
LEVEL = 0.05
TESTED = 6  # runs with which a test of their signs may fall below it: 2 / 2^6 does
HELD = {True: "yes", False: "no", None: "inconclusive"}


class Check(NamedTuple):
    """One thing that a claim says: what is measured, what was found, and whether it holds (None: inconclusive).

    What fewer than five runs say does not count for the verdict. `p` is how likely a finding so clear would be, to
    either side, if the truth lay on the line between holding and failing; None where it was not computed.
    """

    what: str
    found: str
    holds: bool | None
    runs: int
    p: float | None = None

    @property
    def decided(self) -> bool | None:
        """Whether it holds, with runs enough to say so."""
        return self.holds if self.runs >= FEWEST else None


class Claim(NamedTuple):
    """A claim with its checks; `depends` names what the verdict turns on, if that was found (`turned`).

    `short` claims were judged with fewer steps than they speak of, and are not decided. One failing check decides, so
    that many checks make a false failure likely: Holm's correction for their number takes that back. For all to hold
    by chance is not made likelier by their number.
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
        if min(self._failures(), default=1.0) < LEVEL:
            return Verdict.NOT_REPRODUCED
        return Verdict.REPRODUCED if all(check.decided for check in self.checks) else Verdict.UNDECIDED

    def _failures(self) -> list[float]:
        """The p-values of the checks that fail, corrected for the number of all; 0 where none was computed."""
        failing = [check.decided is False for check in self.checks]
        corrected = holm([_known(c.p) if fails else 1.0 for c, fails in zip(self.checks, failing, strict=True)])
        return [float(p) for p, fails in zip(corrected, failing, strict=True) if fails]

    @property
    def chance(self) -> float:
        """How likely a verdict this clear would be by chance: all must hold, or any may fail. 1 if it is open."""
        if self.verdict is Verdict.NOT_REPRODUCED:
            return min(self._failures())
        return max(_known(check.p) for check in self.checks) if self.verdict is Verdict.REPRODUCED else 1.0

    @property
    def words(self) -> str:
        """The verdict in words, with what it is sensitive to, or why it is inconclusive."""
        if self.verdict is Verdict.DEPENDS:
            return f"sensitive to {self.depends}"
        if self.verdict is not Verdict.UNDECIDED:
            return self.verdict.value
        if not self._was_run:
            return "inconclusive: nothing was run"
        if self.short:
            return "inconclusive: a quick look"
        fewest = min(check.runs for check in self.checks if not check.decided)
        return f"inconclusive with {fewest} run{'s' * (fewest != 1)}"

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
        checks = [{name: value for name, value in check.items() if value is not None} for check in checks]
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


def turned(claim: Claim, others: Mapping[str, Sequence[Check]]) -> Claim:
    """The claim, with the names of what turns its verdict: checks made with it changed say the opposite, decided.

    An open verdict turns on what decides it, if some of that decides one way and some the other. The more is changed,
    the likelier one of the changes decides by chance: Holm's correction is for their number. Where a claim fails and
    nothing turns that, its words name what would leave no check failing.
    """
    held, failed = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED
    judged = {name: claim._replace(checks=tuple(checks), depends="") for name, checks in others.items()}
    chances = dict(zip(judged, holm([other.chance for other in judged.values()]), strict=True))
    sure = {name: other.verdict for name, other in judged.items() if chances[name] < LEVEL}
    opposite = {held: {failed}, failed: {held}}.get(claim.verdict, {held, failed} & set(sure.values()))
    if claim.verdict is Verdict.UNDECIDED and len(opposite) < 2:
        return claim
    if found := [name for name, verdict in sure.items() if verdict in opposite]:
        return claim._replace(depends=_named(found))
    spared = [name for name, other in judged.items() if all(c.runs and c.holds is not False for c in other.checks)]
    if claim.verdict is not failed or not spared:
        return claim
    said = f"With another interpretation of {_named(spared)}, no check fails, but some are inconclusive."
    return claim._replace(why=f"{claim.why} {said}".lstrip())


def _named(found: Sequence[str]) -> str:
    """Names in words, without those that are another with something more: that alone does it.

    >>> _named(["a", "b", "c", "a with c", "c with d", "d with e"])
    'a, b, c and d with e'
    """
    names = [name for name in found if not any(other in name.split(" with ") for other in found if other != name)]
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def read_otherwise(
    claim: Claim, checks: Callable[[Change], Sequence[Check]], *readings: Iterable[Interpretation]
) -> Claim:
    """The claim with what its verdict turns on, of the ways in which its runs may be read."""
    return turned(claim, {reading.name: checks(reading.change) for some in readings for reading in some})


def _known(p: float | None) -> float:
    return 0.0 if p is None else p


def by_chance(estimate: Sequence[Any], *levels: float) -> float:
    """The p-value of the nearest of some levels, from an interval, as if it were normal toward that level.

    >>> by_chance((1.0, 0.0, 3.0), 0.0), by_chance((1.0, 1.0, 1.0), 0.0), by_chance((1.0, 0.0, 2.0), 1.0, 9.0)
    (0.05, 0.0, 1.0)
    """
    center, low, high = estimate[:3]
    if np.isnan(low):  # a single run: everything can be chance
        return 1.0
    chances = []
    for level in levels:
        reach, away = (center - low if level < center else high - center), abs(center - level)
        z = WIDTH * away / reach if reach else np.inf if away else 0.0
        chances.append(rounded(2 * NormalDist().cdf(-z)) if np.isfinite(z) else 0.0)
    return max(chances)


def rounded(p: float) -> float:
    """A p-value with two digits, which is what is kept of it."""
    return float(f"{p:.2g}")


def decided(holds: bool, fails: bool) -> bool | None:
    """Whether something holds, of which an interval says that it surely does, surely does not, or (None) neither."""
    return True if holds else False if fails else None


def agreed(holds: bool | None, p: float | None, runs: int) -> bool | None:
    """What an interval says, if a test with runs enough does not call it chance: else nothing is decided.

    >>> agreed(True, 0.01, 30), agreed(True, 0.06, 30), agreed(True, 0.06, 5), agreed(False, None, 30)
    (True, None, True, False)
    """
    return holds if p is None or p < LEVEL or runs < TESTED else None


def not_run(what: str) -> list[Check]:
    """The check of what has no runs yet: never left out, or the others would decide the claim without it."""
    return [Check(what, "not run", None, 0)]


def better(evidence: Evidence, mine: Sample, theirs: Sample, what: str) -> list[Check]:
    """Check that one sample is better than another on common seeds.

    The interval of the mean difference decides, if the test agrees. Where runs diverged it cannot count them: signed
    ranks decide then, in which a diverged run loses to every sound one.
    """
    pair = evidence.pair(mine, theirs)
    if pair is None:
        return not_run(what)
    runs = pair.pairs + pair.dropped
    if not pair.dropped and pair.difference is not None:
        _, low, high = signed(pair.difference, mine.sign)
        holds = agreed(decided(low > 0, high < 0), pair.p, runs)
        return [Check(what, interval(pair.difference), holds, runs, rounded(pair.p))]
    sound = f"{interval(pair.difference)} in {pair.pairs} sound pairs, " if pair.difference is not None else ""
    lost = [f"{int(np.isinf(sample.scores).sum())} of {len(sample.scores)}" for sample in (mine, theirs)]
    clear = pair.p_rank < LEVEL and pair.wins != pair.losses
    holds = pair.wins > pair.losses if clear else None
    return [Check(what, f"{sound}{lost[0]} and {lost[1]} diverged", holds, runs, rounded(pair.p_rank))]


def at_least(summary: Summary, level: float, what: str) -> list[Check]:
    """Check that a mean is at least at a level: inconclusive if its interval has the level, or if any run diverged."""
    lost = summary.diverged
    if summary.center is None or summary.low is None or summary.high is None:
        return [Check(what, f"all {lost} runs diverged", False, lost)] if lost else not_run(what)
    holds = decided(summary.low >= level and not lost, summary.high < level)
    note = f", {lost} diverged" if lost else ""
    p = by_chance(summary, level)
    return [Check(what, f"{interval(summary)} against {number(level)}{note}", holds, summary.runs + lost, p)]


def most_reach(sample: Sample, level: float, what: str) -> list[Check]:
    """Check that most runs are at a level or better, by Wilson's interval; one that diverged is not.

    This is for runs that end near the optimum or far from it: the mean of those says how many did, and its interval is
    not to be trusted.
    """
    reached = int((sample.scores >= sample.sign * level).sum())
    side = "at least" if sample.sign > 0 else "at most"
    return part(reached, len(sample.scores), f"{what}, {side} {number(level)}: runs", least=MOST)


def within(estimate: Estimate | Summary, low: float, high: float, what: str, runs: int) -> list[Check]:
    """Check that a number lies between two: inconclusive if its interval does not lie wholly inside or outside."""
    lost = estimate.diverged if isinstance(estimate, Summary) else 0
    least, most = estimate[1:3]
    if least is None or most is None:
        return [Check(what, f"all {lost} runs diverged", False, lost)] if lost else not_run(what)
    inside, outside = low <= least and most <= high, most < low or least > high
    text = f"{interval(estimate)} against {number(low)} to {number(high)}" + (f", {lost} diverged" if lost else "")
    holds = decided(inside and not lost, outside and not lost)
    return [Check(what, text, holds, runs, by_chance(estimate, low, high))]


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
    """Check that a part of the runs is at most or at least a number, by Wilson's interval and the test behind it."""
    if (estimate := proportion(successes, runs)) is None:
        return not_run(what)
    level = (least or 0.0) if most is None else most
    below, above = estimate.high <= level, estimate.low >= level
    holds = decided(above, estimate.high < level) if most is None else decided(below, estimate.low > level)
    spread = np.sqrt(level * (1 - level) / runs)
    p = rounded(2 * NormalDist().cdf(-abs(successes / runs - level) / spread)) if spread else None
    return [Check(what, share(successes, runs, estimate), holds, runs, p)]
