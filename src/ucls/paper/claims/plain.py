"""The claims in plain words: a title for each, and the reason for a verdict, shown only with that verdict."""

from collections.abc import Mapping
from typing import NamedTuple

from ucls.paper.claims.check import Check, Claim
from ucls.report import Verdict


class Plain(NamedTuple):
    """The title of a claim, and the reason for each verdict on it."""

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
        {
            FAILED: "Only LSPI-Rmax ends significantly better, in Puddle World, and only with a `gmax` of 0 instead of "
            "the pseudocode's."
        },
    ),
    2: Plain(
        "UCLS learns fastest, DGPQ leads at first",
        {
            OPEN: "DGPQ does not lead significantly at first in River Swim, even with a larger search.",
            FAILED: "DGPQ is behind UCLS over the first 5,000 steps of River Swim. Over shorter periods the comparison "
            "is inconclusive.",
        },
    ),
    3: Plain(
        "Puddle World: about 1,200 episodes",
        {
            OPEN: "DGPQ is significantly worse; UCBootstrap finishes about as many episodes as UCLS.",
            TURNS: "With a feature value of 1, UCLS finishes fewer episodes. With the pseudocode's `gmax`, LSPI-Rmax "
            "varies more than DGPQ.",
        },
    ),
    4: Plain(
        "LSPI-Rmax and RLSVI perform poorly",
        {
            FAILED: "Once tuned, LSPI-Rmax performs well in Puddle World. RLSVI fails in River Swim only with the "
            "paper's sampling schedule.",
            TURNS: "With the pseudocode's -10,000, LSPI-Rmax completes five Puddle World episodes; with 0, the maximum "
            "possible return, it performs best.",
        },
    ),
    5: Plain(
        "Every p works for UCLS, none for GV-UCB",
        {
            FAILED: "With the smallest p, UCLS loses its optimism too early; among the others, larger values learn "
            "more slowly, not faster. GV-UCB's radius collapses at every p."
        },
    ),
    6: Plain("Classic Mountain Car: UCLS beats DGPQ"),
    7: Plain(
        "LSTD-in learns without exploration",
        {
            HELD: "However, with a decaying eta LSTD-out also learns, late, in many runs.",
            OPEN: "With a decaying eta LSTD-out also learns, late and in some runs; the rest agrees with the paper.",
        },
    ),
    8: Plain(
        "One-State: LSTD fails without epsilon",
        {
            FAILED: "Without epsilon a third of the runs choose the better action, and with it little more than half. "
            "If epsilon were multiplied by 0.8 instead of 0.2, four in five would."
        },
    ),
    9: Plain(
        "UCLS-L: slow at first, optimal at last",
        {FAILED: "With all its settings tuned, UCLS-L has less regret early in River Swim, not more."},
    ),
    10: Plain(
        "Optimistic Sarsa does well, GV-UCB not",
        {OPEN: "In Puddle World there is no significant difference between GV-UCB and UCLS."},
    ),
    11: Plain(
        "River Swim: UCLS's policies are optimal",
        {TURNS: "With the other interpretation of any of these, most runs fail."},
    ),
    12: Plain(
        "Theorem 1 and Corollary 1 hold",
        {
            HELD: "However, as printed, the interval of Corollary 1 does not narrow with time and has no width for "
            "differences between states."
        },
    ),
    13: Plain(
        "Optimistic values bound the regret",
        {
            HELD: "Where optimism holds this is an identity. With default settings UCLS is never optimistic, and "
            "learns without it.",
            OPEN: "Where optimism holds this is an identity. In these runs it mostly does not, and UCLS learns "
            "without it.",
        },
    ),
    14: Plain(
        "UCLS matches Sarsa in Puddle World",
        {OPEN: "Optimistic Sarsa ends better in Puddle World, but the size of the difference is inconclusive."},
    ),
    15: Plain(
        "DGPQ beats Sarsa where reward is sparse",
        {
            FAILED: "A larger search finds the same settings for DGPQ.",
            TURNS: "If Sarsa's values start at 500, DGPQ is ahead; if they start at 1, the maximum possible return, it "
            "is far behind.",
        },
    ),
    16: Plain(
        "One-State: a large eta still fails",
        {
            HELD: "At most six runs in ten choose the better action.",
            TURNS: "With a discount of 0, LSTD-in-F with eta = 1 chooses the better action in more than half of its "
            "runs.",
        },
    ),
    17: Plain(
        "UCLS-L: better due to its tuned scale",
        {OPEN: "Tuning its scale helps UCLS, but UCLS-L is not significantly better than UCLS."},
    ),
    18: Plain(
        "The preconditioned update is stabler",
        {
            HELD: "With a constant beta, an inverse grows in directions that are not visited until every such run "
            "diverges."
        },
    ),
    19: Plain(
        "Added here: the learned variance matters",
        {
            TURNS: "At p = 0.1 UCLS performs as well with a pure visit-count bonus; with the smallest p it then "
            "collects a third of the reward."
        },
    ),
}


FRACTIONS = "reaching the optimum is judged by the fraction of runs, not by a mean"
SARSA = "epsilon-greedy Sarsa is among the baselines, as in the paper's figure"
THOUSAND = "there are 1,000 runs instead of 30"
SUCCEEDS = "success and failure are judged by the same fraction of runs, 80%"
HUNDRED = "there are 100 runs"
TABLE = "the hash table is collision-free and baselines are tuned with it"
OTHERWISE = "other interpretations of unspecified details are tested"

# The verdicts of the first 30 runs of everything, where the checks have changed since.
BEFORE = {
    1: Before(FAILED, f"{TABLE}; {SARSA}; more of the {OTHERWISE}"),
    2: Before(OPEN, f"{TABLE}; {SARSA}; {FRACTIONS}; {OTHERWISE}"),
    3: Before(OPEN, f"{TABLE}; DGPQ's standard deviation is compared with every baseline's; {OTHERWISE}"),
    4: Before(FAILED, f"{TABLE}; performing well means learning; {OTHERWISE}, among them LSPI-Rmax's Gmax"),
    5: Before(FAILED, f"{TABLE}; {FRACTIONS}; Holm's correction is applied"),
    7: Before(OPEN, f"{SUCCEEDS}; {HUNDRED}; a small decaying eta is tested too"),
    8: Before(OPEN, f"{THOUSAND}; {SUCCEEDS}; other interpretations of discount and decay are tested"),
    9: Before(FAILED, f"{TABLE}; in Puddle World, optimal means what these features can reach"),
    10: Before(OPEN, f"{TABLE}; {FRACTIONS}; {HUNDRED}"),
    13: Before(OPEN, "runs with a wider initial radius, which are optimistic, are included"),
    14: Before(FAILED, f"{TABLE}; UCLS's regret is compared with Sarsa's; {OTHERWISE}"),
    15: Before(FAILED, f"{OTHERWISE}, among them the initial values of optimistic Sarsa"),
    16: Before(OPEN, f"{THOUSAND}; {SUCCEEDS}; other interpretations of discount and decay are tested"),
    17: Before(OPEN, "the whole scale of UCLS is tuned, as that of UCLS-L is"),
    18: Before(OPEN, "only updates of an inverse count: the paper calls no other solver less stable"),
}


def title_of(claim: Claim) -> str:
    """The claim in a few words."""
    return PLAIN[claim.number].title if claim.number in PLAIN else claim.sentence


def because(claim: Claim) -> str:
    """Why the verdict is what it is, if that was found out for this one."""
    plain = PLAIN.get(claim.number)
    return plain.because.get(claim.verdict, "") if plain else ""


def was(claim: Claim) -> str:
    """The earlier verdict, and how its checks have changed since, if the verdict is a different one now."""
    before = BEFORE.get(claim.number)
    if before is None or claim.short or before.verdict is claim.verdict:
        return ""
    return f"Earlier verdict: {before.verdict.value}. Since then, {before.changed}."


def telling(claim: Claim) -> Check | None:
    """The check that says most: one that fails, else one that is inconclusive, else the first."""
    order = (False, None, True)
    return min(claim.checks, key=lambda check: order.index(check.holds), default=None)


def summary(claim: Claim) -> str:
    """The result of a claim in plain sentences, or the check that decides it where there are none."""
    check = telling(claim) if claim.verdict in (HELD, FAILED) and not because(claim) else None
    counted = f"{claim.held} of {len(claim.checks)} checks hold"
    words = f"Sensitive to {claim.depends}." if claim.verdict is TURNS else ""
    said = f"{counted}." if check is None else f"{counted}; {check.what}: {check.found}."
    return " ".join(filter(None, (words, because(claim), said)))
