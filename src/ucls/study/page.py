"""A comparison of a study as an HTML page: verdicts, differences, performance profiles, and the table behind them."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from ucls._util.html import asset, write_document
from ucls._util.palette import AMBER, BLACK, BLUE, GRAY, GREEN, ROSE, SKY, VERMILION
from ucls.core.metrics import sign_of
from ucls.evaluation.page.page import table
from ucls.evaluation.page.plots import LABELS, ROW, WIDE, svg, ticks
from ucls.stats import profile
from ucls.study.compare import Group, Samples
from ucls.study.verdicts import Verdict, sentence_of

COLORS = (BLUE, VERMILION, GREEN, AMBER, ROSE, SKY, BLACK, GRAY)
LEVELS = 101  # at which a profile is drawn
TALL = 260
RULES = (
    "Differences are on common seeds. p is that of a sign-flip test, with Holm's correction for all pairs; it is for a "
    "number of seeds that was fixed in advance. The sequential p may be looked at after every seed, so seeds can be "
    "added until it falls to 0.05, and the probability of any wrong decision stays below 5%."
)


def write_page(
    path: Path,
    name: str,
    samples: Samples,
    groups: Sequence[Group],
    verdicts: Sequence[Verdict],
    tuning: Sequence[str] = (),
) -> Path:
    """Write a comparison to a self-contained HTML file."""
    told = "".join(f"<p>{escape(line)}</p>" for line in tuning)
    body = [f"<header><h1>Comparison of the study {escape(name)}</h1><p>{RULES}</p>{told}</header><main>"]
    for env in dict.fromkeys(group.env for group in groups):
        mine, pairs = [g for g in groups if g.env == env], [v for v in verdicts if v.env == env]
        body.append(f"<section><h2>{escape(env)}: {escape(mine[0].metric)}</h2>{_answers(pairs)}")
        body.append(f"<h3>Differences with 95% intervals</h3>{differences(pairs)}{_tests(pairs)}")
        body.append(
            "<h3>Performance profiles</h3><p>The fraction of runs that do at least as well, with 95% bands.</p>"
        )
        body.append(f"{profiles(samples, mine)}<h3>Results</h3>{_results(mine)}</section>")
    data = {"groups": [group._asdict() for group in groups], "verdicts": [each._asdict() for each in verdicts]}
    style = asset("ucls.evaluation.page", "page.css")
    write_document(path, f"Comparison of {name}", "".join(body) + "</main>", style, "", data)
    return path


def _answers(pairs: Sequence[Verdict]) -> str:
    kinds = {True: "good", False: "unsure"}
    return "".join(
        f'<div class="answer {kinds[each.winner is not None]}"><p>{escape(sentence_of(each))}</p></div>'
        for each in pairs
    )


def differences(pairs: Sequence[Verdict]) -> str:
    """The difference of each pair with its interval."""
    known = [each for each in pairs if each.difference is not None]
    ends = [end for each in known for end in each.difference or () if end is not None]
    if not ends:
        return "<p>No two labels have common seeds.</p>"
    low, high = min(0.0, *ends), max(0.0, *ends)
    low, high = low - 0.05 * (high - low or 1.0), high + 0.05 * (high - low or 1.0)
    tall = ROW * len(known) + 45

    def x(value: float) -> float:
        return LABELS + (WIDE - LABELS - 20) * (value - low) / (high - low)

    marks = [f'<line class="zero" x1="{x(0):.1f}" y1="10" x2="{x(0):.1f}" y2="{tall - 30}"/>']
    marks += [f'<text class="tick" x="{x(t):.1f}" y="{tall - 12}">{t:.4g}</text>' for t in ticks(low, high)]
    for i, each in enumerate(known):
        y, kind = 25 + ROW * i, "other" if each.winner is None else "answer"
        mean, low_end, high_end = each.difference or (0.0, None, None)
        label = escape(f"{each.first} - {each.second}")
        marks.append(f'<text class="name" x="{LABELS - 12}" y="{y + 4}">{label}</text>')
        if low_end is not None and high_end is not None:
            left, right = x(low_end), x(high_end)
            marks.append(f'<line class="{kind}" x1="{left:.1f}" y1="{y}" x2="{right:.1f}" y2="{y}"/>')
        marks.append(f'<circle class="{kind}" cx="{x(mean or 0.0):.1f}" cy="{y}" r="5"/>')
    return svg(tall, marks, "Differences between labels, with intervals")


def profiles(samples: Samples, groups: Sequence[Group]) -> str:
    """The performance profiles of the best labels: the fraction of runs that score at least each level."""
    some = [group for group in groups if len(samples[group.env, group.label].scores)][: len(COLORS)]
    scores = [samples[group.env, group.label].scores for group in some]
    sound = np.concatenate([each[~np.isneginf(each)] for each in scores]) if scores else np.zeros(0)
    if len(sound) == 0 or sound.min() == sound.max():
        return "<p>All runs score the same.</p>"
    levels = np.linspace(sound.min(), sound.max(), LEVELS)
    left, right, top, bottom = 50, WIDE - 20, 10, TALL - 40

    def place(level: float, fraction: float) -> str:
        across = (level - levels[0]) / (levels[-1] - levels[0])
        return f"{left + (right - left) * across:.1f},{bottom - (bottom - top) * fraction:.1f}"

    sign = sign_of(some[0].metric)
    marks = []
    for fraction in (0.0, 0.5, 1.0):
        y = bottom - (bottom - top) * fraction
        marks.append(f'<line class="rule" x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        marks.append(f'<text class="name" x="{left - 8}" y="{y + 4:.1f}">{fraction:g}</text>')
    for tick in ticks(float(levels[0]), float(levels[-1])):
        x = place(tick, 0.0).split(",")[0]
        marks.append(f'<text class="tick" x="{x}" y="{bottom + 18}">{sign * tick:.4g}</text>')
    for i, (each, color) in enumerate(zip(scores, COLORS, strict=False)):
        band = profile(each, levels)
        upper = " ".join(map(place, levels, np.clip(band.high, 0.0, 1.0)))
        lower = " ".join(map(place, levels[::-1], np.clip(band.low, 0.0, 1.0)[::-1]))
        if not np.isnan(band.low).any():
            marks.append(f'<polygon points="{upper} {lower}" fill="{color}" fill-opacity="0.15"/>')
        line = " ".join(map(place, levels, band.center))
        marks.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        y = TALL + 20 * i
        marks.append(
            f'<line x1="{left}" y1="{y - 4}" x2="{left + 24}" y2="{y - 4}" stroke="{color}" stroke-width="3"/>'
        )
        marks.append(f'<text x="{left + 32}" y="{y}">{escape(some[i].label)}</text>')
    return svg(TALL + 20 * len(some), marks, "Performance profiles")


def _tests(pairs: Sequence[Verdict]) -> str:
    rows = [[f"{v.first} - {v.second}", str(v.seeds), f"{v.p:.2g}", f"{v.p_sequential:.2g}"] for v in pairs]
    return table(["pair", "common seeds", "p", "sequential p"], rows) if rows else ""


def _results(groups: Sequence[Group]) -> str:
    heads = ["label", "runs", "diverged", "mean", "95%", "median", "IQM"]
    rows = [
        [
            g.label,
            f"{g.runs:,}",
            str(g.diverged),
            _number(g.mean[0]),
            _span(g.mean),
            *map(_number, (g.median[0], g.iqm[0])),
        ]
        for g in groups
    ]
    return table(heads, rows)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


def _span(values: Sequence[float | None]) -> str:
    return "-" if values[1] is None else f"{_number(values[1])} to {_number(values[2])}"
