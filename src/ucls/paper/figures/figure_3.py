"""Figure 3: LSTD without exploration in Mountain Car, its regularizer inside or outside, constant or decaying."""

import numpy as np

from ucls._util.palette import LSTD
from ucls.paper.drawing.plot import Line, Panel, Plot, line_of, points_of
from ucls.paper.evidence import Evidence, episodes_band, optimum
from ucls.paper.runs.domains import CLASSIC
from ucls.paper.runs.groups import Group

# Where the regularizer is, and whether it fades.
VARIANTS = {
    "LSTD-in-C": ("inside", "constant"),
    "LSTD-in-F": ("inside", "1/t"),
    "LSTD-out-C": ("outside", "constant"),
    "LSTD-out-F": ("outside", "1/t"),
}
ETAS = (1e-4, 1e-2, 1.0, 100.0)
# Conjugate gradient costs fifty products with A per step: fewer features and steps than elsewhere, the same for all.
FEATURES = (("tilings", 8), ("tiles", 4), ("table_size", 160))
STEPS = 10_000


def group_of(name: str, eta: float) -> Group:
    """The runs of a variant: how many of them learn is judged."""
    regularizer, schedule = VARIANTS[name]
    settings = (("regularizer", regularizer), ("eta_schedule", schedule), ("eta", eta), *FEATURES)
    return Group(name, CLASSIC, "lstd-cg", settings, STEPS).for_shares()


def groups() -> list[Group]:
    """Return the runs behind the figure."""
    return [group_of(name, eta) for name in VARIANTS for eta in ETAS]


def best_eta(evidence: Evidence, name: str) -> float:
    """The eta that finished most episodes."""
    means = {eta: evidence.sample(group_of(name, eta), "episodes").mean.center for eta in ETAS}
    return max(ETAS, key=lambda eta: -np.inf if means[eta] is None else means[eta])  # pyright: ignore


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """Early curves, best and worst runs, and the sensitivity to eta."""
    best = optimum(CLASSIC).episode_steps
    early, extremes, lines, chosen = [], [], [], []
    for name, color in LSTD.items():
        eta = best_eta(evidence, name)
        chosen.append(f"{eta:g} for {name}")
        results = evidence.results(group_of(name, eta))
        if results:
            band = episodes_band(results, "episode_steps")
            early.append(line_of(band, name)._replace(color=color))
        if name.startswith("LSTD-in") and results:
            ranked = sorted(results, key=lambda pair: pair[1].metrics.episodes)
            for which, (_, run) in (("worst", ranked[0]), ("best", ranked[-1])):
                lengths = run.arrays["episode_steps"].astype(float)
                at = np.arange(1.0, len(lengths) + 1)
                label = name if which == "best" else f"{name}, worst run"
                extremes.append(Line(label, color, at, lengths, dash=which == "worst"))
        means = [(eta, evidence.sample(group_of(name, eta), "episodes").mean) for eta in ETAS]
        points = [(eta, m.center, m.low, m.high, m.runs) for eta, m in means if m.center is not None]
        if points:
            lines.append(points_of(name, color, points))
    steps = evidence.steps(group_of("LSTD-in-C", 1.0))
    panels = (
        Panel("early learning", "episodes", "steps per episode", tuple(early), best, log_y=True),
        Panel("best and worst run", "episodes", "steps per episode", tuple(extremes), best, log_y=True),
        Panel("sensitivity", "eta", "episodes finished", tuple(lines), steps / best, log_x=True, limits=(0, None)),
    )
    caption = (
        "LSTD(0.9) by conjugate gradient without any exploration: the regularizer inside (A + eta I) or outside "
        f"(Tikhonov), constant (C) or fading as 1/t (F); {steps:,} steps, 8 tilings of 4 x 4. Each variant at the eta "
        f"that finished most episodes: {', '.join(chosen)}."
    )
    return (Plot("figure-3", "LSTD without exploration in Mountain Car", caption, panels),)
