"""Maps of an agent as one HTML file that needs nothing else: a slider over time, intervals under the pointer."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ucls._html import asset, write_document
from ucls.explain.maps import Maps, Thought
from ucls.explain.views import Axis, View

STEPS = 65535  # of a number on the page, between the smallest and the largest of its kind


def write_page(path: Path, title: str, maps: Maps, actions: Sequence[str] = (), facts: Mapping[str, Any] = {}) -> Path:
    """Write the maps of an agent, with what its actions are called and what else is to be said of it."""
    body = f"""<header><h1>{escape(title)}</h1><p id="lead"></p></header>
<main>
<section id="controls" aria-label="what is shown"></section>
<section id="maps"></section>
<section id="readout" aria-live="polite"></section>
<noscript><p>The maps are drawn by a script, which this browser does not run.</p></noscript>
{_unsure(maps, actions)}
{_facts(facts)}
</main>"""
    style, script = (asset("ucls.explain", name) for name in ("maps.css", "maps.js"))
    write_document(path, title, body, style, script, _data(maps, actions))
    return path


def _data(maps: Maps, actions: Sequence[str]) -> dict[str, Any]:
    """What the script draws: every kind of number as sixteen bits between its smallest and largest value."""
    n_actions = maps.moments[0].thoughts[0].mean.shape[1]
    names = list(actions) if len(actions) == n_actions else [f"action {a}" for a in range(n_actions)]
    views = []
    for i, view in enumerate(maps.views):
        thoughts = [moment.thoughts[i] for moment in maps.moments]
        kinds = {name: _packed(thoughts, name) for name in Thought._fields}
        views.append({**_about(view), "kinds": {name: kind for name, kind in kinds.items() if kind is not None}})
    return {"agent": maps.agent, "actions": names, "steps": [moment.step for moment in maps.moments], "views": views}


def _about(view: View) -> dict[str, Any]:
    axes = {name: _axis(axis) for name, axis in (("across", view.across), ("up", view.up))}
    first = float(view.points[0, 0])
    through = None if view.through is None else [_short(x) for x in view.through]
    return {"title": view.title, "rows": view.rows, "columns": view.columns, "first": first, "through": through, **axes}


def _axis(axis: Axis | None) -> dict[str, Any] | None:
    return None if axis is None else axis._asdict()


def _packed(thoughts: Sequence[Thought], name: str) -> dict[str, Any] | None:
    """One kind of number at all moments; the actions are whole numbers and stay as they are."""
    if getattr(thoughts[0], name) is None:
        return None
    values = np.array([getattr(thought, name) for thought in thoughts], np.float64)
    low, high = (0.0, float(STEPS)) if name == "action" else (float(values.min()), float(values.max()))
    whole = np.rint((values - low) / ((high - low) or 1.0) * STEPS).astype("<u2")
    return {"low": low, "high": high, "data": base64.b64encode(whole.tobytes()).decode()}


def _unsure(maps: Maps, actions: Sequence[str]) -> str:
    if not maps.unsure:
        return ""
    rows = "".join(
        f"<tr><td>{escape(', '.join(map(_short, row['state'])))}</td><td>{escape(_name(row['action'], actions))}</td>"
        f"<td>{_short(row['mean'])}</td><td>{_short(row['radius'])}</td></tr>"
        for row in maps.unsure
    )
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("state", "action it would take", "mean", "radius"))
    return f"""<section><h2>Where it has been and is least sure</h2>
<p>The visited states whose next action has the widest interval at the end, among those that were noted.</p>
<div class="scroll" tabindex="0" role="region" aria-label="least sure states"><table><thead><tr>{heads}</tr></thead>
<tbody>{rows}</tbody></table></div></section>"""


def _name(action: int, actions: Sequence[str]) -> str:
    return actions[action] if action < len(actions) else f"action {action}"


def _facts(facts: Mapping[str, Any]) -> str:
    items = "".join(f"<div><dt>{escape(str(k))}</dt><dd>{escape(str(v))}</dd></div>" for k, v in facts.items())
    return f"<section><h2>How this was made</h2><dl>{items}</dl></section>" if items else ""


def _short(value: float) -> str:
    return f"{value:.4g}"
