"""The claims of a report: each with the verdict of this run, and that of a reference if there is one."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ucls.paper.drawing.geometry import NONE
from ucls.paper.drawing.plot import Plot
from ucls.paper.report.markup import anchor, folded, table
from ucls.paper.report.sides import Reference
from ucls.paper.report.verdict import Verdict

Claim = Mapping[str, Any]


def claims_section(claims: Sequence[Claim], plots: Sequence[Plot], reference: Reference) -> str:
    """Return every claim; the filter uses the verdicts of the reference, which has more runs."""
    if not claims:
        return ""
    titles = {plot.name: plot.title for plot in plots}
    compared = bool(reference.claims)
    others = [reference.claims.get(claim["number"]) for claim in claims]
    kinds = [(other or claim)["kind"] for claim, other in zip(claims, others, strict=True)]
    rows = [
        _row(claim, other, kind, titles, reference) for claim, other, kind in zip(claims, others, kinds, strict=True)
    ]
    sides = ("this run", reference.name) if compared else ("verdict",)
    heads = "".join(f'<th scope="col">{escape(head)}</th>' for head in ("#", "claim", *sides))
    return f"""<section id="claims"><h2>Claims</h2>{_filter(kinds, reference)}
<table class="claims"><thead><tr>{heads}</tr></thead><tbody>
{chr(10).join(rows)}
</tbody></table></section>"""


def _filter(kinds: Sequence[Verdict], reference: Reference) -> str:
    buttons = "".join(
        f'<button type="button" data-kind="{word}" aria-pressed="false"><b>{count}</b> {word}</button>'
        for word, count in ((kind.value, kinds.count(kind)) for kind in Verdict)
        if count
    )
    label = f"verdict of {reference.name}" if reference.claims else "verdict"
    said = f'<p class="hint">By the {escape(label)}:</p>' if reference.claims else ""
    return f"""{said}
<div class="filter" role="group" aria-label="show claims by {escape(label)}">
<button type="button" data-kind="" aria-pressed="true"><b>{len(kinds)}</b> all</button>{buttons}</div>"""


def _row(claim: Claim, other: Claim | None, kind: Verdict, titles: Mapping[str, str], reference: Reference) -> str:
    name = str(claim.get("figure") or "")
    link = f' <a href="#{anchor(name)}" title="{escape(titles[name])}">figure</a>' if name in titles else ""
    title = f"<b>{escape(str(claim['title']))}</b><br>" if claim.get("title") else ""
    sides = [_side(claim, "this run" if reference.claims else "verdict")]
    if reference.claims:
        sides.append(_side(other, reference.name) if other else f"<td>{NONE}</td>")
    row = (
        f'<tr data-kind="{kind.value}"><td class="number">{escape(str(claim["number"]))}</td>'
        f'<td data-head="claim">{title}{escape(str(claim["claim"]))}{link}</td>{"".join(sides)}</tr>'
    )
    return row + (_checks(claim, other, kind, reference.name) if "checks" in claim else "")


def _side(claim: Claim, head: str) -> str:
    kind: Verdict = claim["kind"]
    why = f'<p class="why">{escape(str(claim["why"]))}</p>' if claim.get("why") else ""
    effect = "" if "checks" in claim else folded(claim["effect"])
    return (
        f'<td class="side" data-head="{escape(head)}"><span class="badge {kind.value.split()[0]}">'
        f'<span aria-hidden="true">{kind.mark}</span> {escape(str(claim["verdict"]))}</span>'
        f'<div class="measured">{folded(claim["measured"])}{effect}</div>{why}</td>'
    )


def _checks(claim: Claim, other: Claim | None, kind: Verdict, name: str) -> str:
    """Return the checks of a claim, folded: of this run, and of the reference where it has the same check."""
    there = {check["what"]: check for check in other["checks"]} if other else {}
    here = {check["what"]: check for check in claim["checks"]}
    marks = {"yes": "\u2713", "no": "\u2717", "inconclusive": "?"}

    def found(check: Mapping[str, Any] | None) -> str:
        if check is None:
            return NONE
        return f"{marks[check['holds']]} {check['found']}, {check['runs']} run{'s' * (check['runs'] != 1)}"

    rows = [
        [what, found(here.get(what)), *([found(there.get(what))] if other else [])]
        for what in dict.fromkeys([*here, *there])
    ]
    heads = ["what is measured", "this run", *([name] if other else [])]
    columns = 3 if other else 2
    return (
        f'<tr class="checks" data-kind="{kind.value}"><td></td><td colspan="{columns}"><details>'
        f"<summary>{len(here)} check{'s' * (len(here) != 1)}</summary>{table(heads, rows, 'wrap')}</details></td></tr>"
    )
