"""The claims in plain words: a title for each, and why a verdict is what it is, shown only beside that verdict."""

from typing import NamedTuple

from ucls.paper.claims.check import Check, Claim
from ucls.report import Verdict


class Plain(NamedTuple):
    """A claim in a few words, and what was found out about one verdict on it."""

    title: str
    explains: Verdict | None = None
    because: str = ""


HELD, FAILED, OPEN = Verdict.REPRODUCED, Verdict.NOT_REPRODUCED, Verdict.UNDECIDED

PLAIN = {
    1: Plain(
        "UCLS ends best in all three domains",
        FAILED,
        "In Puddle World its optimism is gone early, and it stays with the route it has. Faster forgetting helps there "
        "and ruins River Swim.",
    ),
    2: Plain(
        "UCLS learns fastest, DGPQ leads at first",
        OPEN,
        "DGPQ does not clearly lead at first in River Swim, with a larger sweep neither.",
    ),
    3: Plain(
        "Puddle World: about 1,200 episodes",
        OPEN,
        "DGPQ is clearly worse; UCBootstrap finishes about as many episodes as UCLS.",
    ),
    4: Plain(
        "LSPI-Rmax and RLSVI do poorly",
        FAILED,
        "Tuned, LSPI-Rmax is good in Puddle World. RLSVI fails in River Swim only on the paper's schedule.",
    ),
    5: Plain(
        "Every p works for UCLS, none for GV-UCB",
        FAILED,
        "With the smallest p, optimism dies before the agent has been at the top of the river. An erratum in "
        "Corollary 1 explains most of GV-UCB's poor showing.",
    ),
    6: Plain("Classic Mountain Car: UCLS beats DGPQ"),
    7: Plain(
        "LSTD-in learns without exploration",
        OPEN,
        "LSTD-out with a fading eta learns too, late and in some runs; all else is as the paper says.",
    ),
    8: Plain(
        "One-State: LSTD fails without epsilon",
        OPEN,
        "The direction is the paper's, but epsilon is gone too soon: fading a tenth as often, it lets most go right.",
    ),
    9: Plain(
        "UCLS-L: slow at first, optimal at last",
        FAILED,
        "With all its settings tuned, UCLS-L has less regret early in River Swim, not more.",
    ),
    10: Plain("Optimistic Sarsa does well, GV-UCB not", OPEN, "In Puddle World GV-UCB and UCLS end alike."),
    11: Plain(
        "River Swim: UCLS's policies are optimal",
        Verdict.DEPENDS,
        "With what the paper leaves open read the other way, most runs fail.",
    ),
    12: Plain("Theorem 1: the bound holds", HELD, "With Chebyshev's factor it holds easily on these chains."),
    13: Plain(
        "Optimistic values bound the regret",
        OPEN,
        "Where optimism holds this is an identity. Along these runs it mostly does not, and UCLS learns without it.",
    ),
    14: Plain(
        "UCLS matches Sarsa in Puddle World", FAILED, "Optimistic Sarsa ends better there; for the cause see claim 1."
    ),
    15: Plain("DGPQ beats Sarsa where reward is sparse", FAILED, "A larger sweep finds the same settings for DGPQ."),
    16: Plain(
        "One-State: a large eta still fails", OPEN, "It does a little worse, and these runs are too few to tell."
    ),
    17: Plain(
        "UCLS-L is better because its p was swept",
        OPEN,
        "A swept p does help UCLS, but UCLS-L is not clearly better than UCLS.",
    ),
    18: Plain("The box's solver is the most stable", OPEN, "Sherman-Morrison diverges; the others differ in few runs."),
}


def title_of(claim: Claim) -> str:
    """The claim in a few words."""
    return PLAIN[claim.number].title if claim.number in PLAIN else claim.sentence


def because(claim: Claim) -> str:
    """Why the verdict is what it is, if that was found out for this one."""
    plain = PLAIN.get(claim.number)
    return plain.because if plain and plain.explains is claim.verdict else ""


def telling(claim: Claim) -> Check | None:
    """The check that says most: one that fails, else one that is undecided, else the first."""
    order = (False, None, True)
    return min(claim.checks, key=lambda check: order.index(check.holds), default=None)


def told(claim: Claim) -> str:
    """What was found of a claim, in plain sentences; where it is not decided, no single check says much."""
    check = None if claim.verdict is OPEN else telling(claim)
    counted = f"{claim.held} of {len(claim.checks)} checks hold"
    words = f"It {claim.words}." if claim.verdict is Verdict.DEPENDS else ""
    said = f"{counted}." if check is None else f"{counted}; {check.what}: {check.found}."
    return " ".join(filter(None, (words, because(claim), said)))
