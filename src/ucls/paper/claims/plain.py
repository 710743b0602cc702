"""The claims in plain words: a title for each, and why a verdict is what it is, shown only beside that verdict."""

from collections.abc import Mapping
from typing import NamedTuple

from ucls.paper.claims.check import Check, Claim
from ucls.report import Verdict


class Plain(NamedTuple):
    """A claim in a few words, and what was found out about verdicts on it."""

    title: str
    because: Mapping[Verdict, str] = {}


class Before(NamedTuple):
    """The verdict on a claim before its checks were changed, and what was changed of them."""

    verdict: Verdict
    changed: str


HELD, FAILED, OPEN, TURNS = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED, Verdict.DEPENDS

PLAIN = {
    1: Plain(
        "UCLS ends best in all three domains",
        {FAILED: "Only LSPI-Rmax ends clearly better, in Puddle World, and only with a Gmax of 0, not the box's."},
    ),
    2: Plain(
        "UCLS learns fastest, DGPQ leads at first",
        {
            OPEN: "DGPQ does not clearly lead at first in River Swim, with a larger sweep neither.",
            FAILED: "These runs cannot tell whether DGPQ leads at first in River Swim; after 5,000 steps it is behind.",
        },
    ),
    3: Plain(
        "Puddle World: about 1,200 episodes",
        {
            OPEN: "DGPQ is clearly worse; UCBootstrap finishes about as many episodes as UCLS.",
            TURNS: "With features of 1 there are fewer episodes; with the box's Gmax LSPI-Rmax spreads more than DGPQ.",
        },
    ),
    4: Plain(
        "LSPI-Rmax and RLSVI do poorly",
        {
            FAILED: "Tuned, LSPI-Rmax is good in Puddle World. RLSVI fails in River Swim only on the paper's schedule.",
            TURNS: "With the box's Gmax LSPI-Rmax hardly finishes an episode in Puddle World; with the largest return, "
            "0, it is the best.",
        },
    ),
    5: Plain(
        "Every p works for UCLS, none for GV-UCB",
        {
            FAILED: "With the smallest p optimism dies too soon, and larger ones are slower, not faster. GV-UCB's "
            "radius collapses everywhere."
        },
    ),
    6: Plain("Classic Mountain Car: UCLS beats DGPQ"),
    7: Plain(
        "LSTD-in learns without exploration",
        {
            HELD: "But with a fading eta LSTD-out learns too, late, in many runs.",
            OPEN: "LSTD-out with a fading eta learns too, late and in some runs; all else is as the paper says.",
        },
    ),
    8: Plain(
        "One-State: LSTD fails without epsilon",
        {
            FAILED: "Without epsilon a third of the runs go right, and with it little more than half; were it times "
            "0.8, not 0.2, four in five would."
        },
    ),
    9: Plain(
        "UCLS-L: slow at first, optimal at last",
        {FAILED: "With all its settings tuned, UCLS-L has less regret early in River Swim, not more."},
    ),
    10: Plain("Optimistic Sarsa does well, GV-UCB not", {OPEN: "In Puddle World GV-UCB and UCLS end alike."}),
    11: Plain(
        "River Swim: UCLS's policies are optimal",
        {TURNS: "With what the paper leaves open read the other way, most runs fail."},
    ),
    12: Plain(
        "Theorem 1 and Corollary 1 hold",
        {HELD: "But as printed, Corollary 1 does not narrow with time, and gives differences between states no width."},
    ),
    13: Plain(
        "Optimistic values bound the regret",
        {
            HELD: "Where optimism holds this is an identity. UCLS as it is is never optimistic, and learns without it.",
            OPEN: "Where optimism holds this is an identity. Along these runs it mostly does not, and UCLS learns "
            "without it.",
        },
    ),
    14: Plain(
        "UCLS matches Sarsa in Puddle World",
        {OPEN: "Optimistic Sarsa ends better in Puddle World, but these runs do not tell by how much."},
    ),
    15: Plain(
        "DGPQ beats Sarsa where reward is sparse",
        {
            FAILED: "A larger sweep finds the same settings for DGPQ.",
            TURNS: "If Sarsa's values start at 500, DGPQ is ahead; if at 1, the largest return, far behind.",
        },
    ),
    16: Plain(
        "One-State: a large eta still fails",
        {
            HELD: "At most six runs in ten go right.",
            TURNS: "With our discount of 0 LSTD-in-F with eta = 1 goes right in more than half of its runs.",
        },
    ),
    17: Plain(
        "UCLS-L: better for its swept scale",
        {OPEN: "A swept scale does help UCLS, but UCLS-L is not clearly better than UCLS."},
    ),
    18: Plain(
        "The box is stabler than an inverse",
        {HELD: "With a constant beta an inverse grows where nobody goes, and every such run is stopped for it."},
    ),
    19: Plain(
        "Ours: the learned variance matters",
        {TURNS: "At p = 0.1 UCLS does as well if it only counts visits; with the smallest p it then earns a third."},
    ),
}


SHARES = "whether runs end near the optimum is judged by their share, not by a mean"
RIVAL = "epsilon-greedy Sarsa is among the rivals, as in the paper's figure"
THOUSAND = "there are 1,000 runs in place of 30"
SUCCEEDS = "success and failure are judged by one share of the runs, 80%"
HUNDRED = "of 100 of them"
ROOM = "the table of the tiles has room for all of them, and competitors are tuned with it"
OTHERWISE = "what the paper leaves open is read the other way too"

# The verdicts of the first 30 runs of everything, where the checks are not what they were.
BEFORE = {
    1: Before(FAILED, f"{ROOM}, {RIVAL}, and more of {OTHERWISE}"),
    2: Before(OPEN, f"{ROOM}, {RIVAL}, {SHARES}, and {OTHERWISE}"),
    3: Before(OPEN, f"{ROOM}, DGPQ's spread is held against everyone's, and {OTHERWISE}"),
    4: Before(FAILED, f"{ROOM}, to do well is to learn, and {OTHERWISE}, LSPI-Rmax's Gmax among it"),
    5: Before(FAILED, f"{ROOM}, {SHARES}, and Holm's correction is made for the number of checks"),
    7: Before(OPEN, f"{SUCCEEDS}, {HUNDRED}, and a fading eta that is small is tried too"),
    8: Before(OPEN, f"{THOUSAND}, {SUCCEEDS}, and discount and decay are read the other way too"),
    9: Before(FAILED, f"{ROOM}, and optimal in Puddle World is what these features can reach, no more"),
    10: Before(OPEN, f"{ROOM}, and {SHARES}, {HUNDRED}"),
    13: Before(OPEN, "runs that start wider, and so are optimistic, stand beside UCLS's"),
    14: Before(FAILED, f"{ROOM}, UCLS's regret is held against Sarsa's, and {OTHERWISE}"),
    15: Before(FAILED, f"{OTHERWISE}, where optimistic Sarsa starts among it"),
    16: Before(OPEN, f"{THOUSAND}, {SUCCEEDS}, and discount and decay are read the other way too"),
    17: Before(OPEN, "UCLS's whole scale is swept, as UCLS-L's is"),
    18: Before(OPEN, "only updates of an inverse count: the paper calls no other less stable"),
}


def title_of(claim: Claim) -> str:
    """The claim in a few words."""
    return PLAIN[claim.number].title if claim.number in PLAIN else claim.sentence


def because(claim: Claim) -> str:
    """Why the verdict is what it is, if that was found out for this one."""
    plain = PLAIN.get(claim.number)
    return plain.because.get(claim.verdict, "") if plain else ""


def was(claim: Claim) -> str:
    """What the verdict was before its checks were changed, and what was changed, if it is another one now."""
    before = BEFORE.get(claim.number)
    if before is None or claim.short or before.verdict is claim.verdict:
        return ""
    return f"It was {before.verdict.value} before: now {before.changed}."


def telling(claim: Claim) -> Check | None:
    """The check that says most: one that fails, else one that is undecided, else the first."""
    order = (False, None, True)
    return min(claim.checks, key=lambda check: order.index(check.holds), default=None)


def told(claim: Claim) -> str:
    """What was found of a claim, in plain sentences; the check that decides it where there are none."""
    check = telling(claim) if claim.verdict in (HELD, FAILED) and not because(claim) else None
    counted = f"{claim.held} of {len(claim.checks)} checks hold"
    words = f"It {claim.words}." if claim.verdict is TURNS else ""
    said = f"{counted}." if check is None else f"{counted}; {check.what}: {check.found}."
    before = was(claim).partition(":")[0]
    return " ".join(filter(None, (words, because(claim), said, before and f"{before}.")))
