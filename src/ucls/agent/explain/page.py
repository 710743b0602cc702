"""Maps of an agent as one self-contained HTML file: a slider over time, intervals under the pointer."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ucls._util.html import asset, write_document
from ucls.agent.explain.doubts import unsure_table
from ucls.agent.explain.maps import Maps, Thought, Unsure
from ucls.agent.explain.views import Axis, View

STEPS = 65535  # of a number on the page, between the smallest and the largest of its kind


def write_page(
    path: Path,
    title: str,
    maps: Maps,
    actions: Sequence[str] = (),
    facts: Mapping[str, Any] = {},
    numbers: Sequence[str] = (),
) -> Path:
    """Write the maps of an agent, with the names of its actions and observation components."""
    n_actions = maps.moments[0].thoughts[0].mean.shape[1]
    actions = list(actions) if len(actions) == n_actions else [f"action {a}" for a in range(n_actions)]
    body = f"""<header><h1>{escape(title)}</h1><p id="lead"></p></header>
<main>
<section id="controls" aria-label="what is shown"></section>
<section id="maps"></section>
<section id="readout" aria-live="polite"></section>
<noscript><p>The maps are drawn by a script, which this browser does not run.</p></noscript>
{unsure_table(maps, actions, numbers)}
{_facts(facts)}
</main>"""
    style, script = (asset("ucls.agent.explain", name) for name in ("maps.css", "maps.js"))
    write_document(path, title, body, style, script, _data(maps, actions))
    return path


def _data(maps: Maps, actions: Sequence[str]) -> dict[str, Any]:
    """Return what the script draws: each quantity as 16-bit integers between its smallest and largest value."""
    views = [_drawn(view, [moment.thoughts[i] for moment in maps.moments]) for i, view in enumerate(maps.views)]
    steps, unsure = [moment.step for moment in maps.moments], [_doubt(maps, row) for row in maps.unsure]
    return {"agent": maps.agent, "actions": list(actions), "steps": steps, "views": views, "unsure": unsure}


def _drawn(view: View, thoughts: Sequence[Thought]) -> dict[str, Any]:
    """Return a view with the estimates in it at some moments."""
    kinds = {name: _packed(thoughts, name) for name in Thought._fields}
    return {**_about(view), "kinds": {name: kind for name, kind in kinds.items() if kind is not None}}


def _doubt(maps: Maps, row: Unsure) -> dict[str, Any]:
    """Return an uncertain state: its intervals, its place on the map, and the planes through it."""
    parts = {name: getattr(row, name) for name in ("mean", "unknown", "share", "noisy", "valid")}
    return {
        "state": [_short(x) for x in row.state],
        "action": row.action,
        **{name: part.tolist() for name, part in parts.items() if part is not None},
        "place": int(maps.views[0].place(row.state[None])[0]),
        "views": [_drawn(view, [thought]) for view, thought in zip(row.views, row.thoughts, strict=True)],
    }


def _about(view: View) -> dict[str, Any]:
    axes = {name: _axis(axis) for name, axis in (("across", view.across), ("up", view.up))}
    about = {"title": view.title, "rows": view.rows, "columns": view.columns, "first": float(view.points[0, 0]), **axes}
    if view.through is None:
        return {**about, "through": None, "at": None}
    at = int(view.place(np.array([view.through]))[0])
    return {**about, "through": [_short(x) for x in view.through], "at": at}


def _axis(axis: Axis | None) -> dict[str, Any] | None:
    return None if axis is None else axis._asdict()


def _packed(thoughts: Sequence[Thought], name: str) -> dict[str, Any] | None:
    """Return one quantity at all moments; the actions are integers and stay unchanged."""
    if getattr(thoughts[0], name) is None:
        return None
    values = np.array([getattr(thought, name) for thought in thoughts], np.float64)
    low, high = (0.0, float(STEPS)) if name == "action" else (float(values.min()), float(values.max()))
    whole = np.rint((values - low) / ((high - low) or 1.0) * STEPS).astype("<u2")
    return {"low": low, "high": high, "data": base64.b64encode(whole.tobytes()).decode()}


def _facts(facts: Mapping[str, Any]) -> str:
    items = "".join(f"<div><dt>{escape(str(k))}</dt><dd>{escape(str(v))}</dd></div>" for k, v in facts.items())
    return f"<section><h2>Provenance</h2><dl>{items}</dl></section>" if items else ""


def _short(value: float) -> str:
    return f"{value:.4g}"
