"""The opening of a report: findings of this run compared with the shipped reproduction, in sentences with numbers."""

from collections.abc import Sequence
from typing import NamedTuple

from ucls.paper import shipped
from ucls.paper.account import Reproduction
from ucls.paper.claims.check import Check, Claim
from ucls.paper.claims.plain import because, title_of
from ucls.paper.report import Opening, Reference, Verdict

FEW = 3  # findings that a report opens with

# A number worth a sentence: the claim, the check that has it, and the words before it.
QUOTED = (
    (5, "reward, UCLS minus GV-UCB, p = 0.1", "The reward of UCLS minus that of GV-UCB in River Swim, at p = 0.1,"),
    (6, "mean return, UCLS minus DGPQ", "The mean return of UCLS minus that of DGPQ in Mountain Car"),
    (7, "runs of LSTD-in-F (eta = 1) that end within three times the optimal length", "Runs of LSTD-in-F that learn"),
)


class Pair(NamedTuple):
    """One check in this run and in the shipped reproduction."""

    here: Check
    there: Check


def pairs(claim: Claim, other: Claim | None) -> list[Pair]:
    """The checks that a claim has on both sides."""
    there = {check.what: check for check in other.checks} if other else {}
    return [Pair(check, there[check.what]) for check in claim.checks if check.what in there]


def opening(made: Reproduction) -> Opening:
    """Return findings, the cost of the runs, and commands for more."""
    reference = shipped.load()
    took = f"{made.facts['runs']} runs took {made.facts['time']}." if made.facts.get("time") else ""
    return Opening(findings(made.claims, reference), took, commands(made, reference) if made.claims else ())


def findings(claims: Sequence[Claim], reference: Reproduction) -> list[str]:
    """Return at most three sentences: which algorithm ends ahead, a number, and the agreement with the shipped
    results."""
    others = {claim.number: claim for claim in reference.claims}
    of = {claim.number: pairs(claim, others.get(claim.number)) for claim in claims}
    name = name_of(reference)
    said = _ahead(of.get(1, []), name)
    for number, what, words in QUOTED:
        if found := [pair for pair in of.get(number, []) if pair.here.what == what and pair.here.runs]:
            here, there = found[0]
            said.append(f"{words} is {_value(here)} here ({here.runs} runs) and {_value(there)} in {name}.")
    agreed = _agreement([pair for found in of.values() for pair in found], name)
    return [*said[: FEW - len(agreed)], *agreed]


def _ahead(of_baselines: Sequence[Pair], name: str) -> list[str]:
    if not any(pair.here.runs for pair in of_baselines):
        return []
    here, there = (sum(check.holds is True for check in side) for side in zip(*of_baselines, strict=True))
    runs = [pair.here.runs for pair in of_baselines]
    spread = f"{min(runs)} to {max(runs)}" if min(runs) < max(runs) else str(max(runs))
    return [
        f"UCLS ends ahead in {here} of {len(of_baselines)} comparisons with tuned baselines here, with {spread} runs "
        f"each, and in {there} in {name}."
    ]


def _value(check: Check) -> str:
    return check.found.split(" against ")[0]


def _agreement(found: Sequence[Pair], name: str) -> list[str]:
    settled = [pair for pair in found if pair.there.decided is not None]
    if not settled:
        return []
    same = sum(pair.here.holds is pair.there.holds for pair in settled)
    opposite = sum(pair.here.holds is (not pair.there.holds) for pair in settled)
    return [
        f"Of the {len(settled)} checks that {name} decide, {same} come out the same way here, {opposite} the other "
        f"way, and {len(settled) - same - opposite} stay open."
    ]


def commands(made: Reproduction, reference: Reproduction) -> list[tuple[str, str]]:
    """Return commands that make more runs than this, with their cost."""
    scale = reference.facts["scale"]
    more = [
        ("ucls paper run --only 1 --runs 10", "one figure and its claims, with all the steps"),
        (f"ucls paper run --runs {scale.split()[0]}", f"all with {scale}: took {reference.facts['time']}"),
        ("ucls paper run --full", "the paper's own number of runs: a day and a half on two cores"),
    ]
    return {"quick": more, "full": []}.get(made.facts.get("scale", ""), more[-1:])


def name_of(reference: Reproduction) -> str:
    """Return the name of the shipped reproduction in sentences."""
    return f"the shipped {reference.facts['scale']}"


def reference_of(made: Reproduction) -> Reference:
    """Return the shipped reproduction for a comparison: the claims that this run has too, and their figures."""
    reference, numbers = shipped.load(), {claim.number for claim in made.claims}
    claims = {
        claim.number: {**claim.as_data(), "kind": claim.verdict, "why": because(claim)}
        for claim in reference.claims
        if claim.number in numbers
    }
    found = {plot.name: shipped.picture(plot.name) for plot in made.plots}
    return Reference(name_of(reference), claims, {name: image for name, image in found.items() if image})


def verdicts_of(made: Reproduction) -> list[tuple[str, str, Verdict, Verdict | None]]:
    """The number and title of every claim, with its verdict in this run and in the shipped one."""
    others = {claim.number: claim.verdict for claim in shipped.load().claims}
    return [(str(claim.number), title_of(claim), claim.verdict, others.get(claim.number)) for claim in made.claims]
