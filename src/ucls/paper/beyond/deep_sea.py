"""Deep Sea: how many episodes until the treasure is found again and again, for seas of growing size.

A run solves its sea after e episodes if it finds the treasure in at least 90 of the 100 after them. Every seed has an
action map of its own.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucls.figures.palette import STYLES
from ucls.figures.plot import Line, Panel, Plot, points_of
from ucls.paper.beyond.comparison import NOT_RUN, optimistic_sarsa
from ucls.paper.domains import DEEP_SEA, ROOM
from ucls.paper.evidence import Evidence
from ucls.paper.groups import Group
from ucls.paper.numbers import share
from ucls.stats import proportion, solved_after

EPISODES, TREASURE = 1000, 0.5
WINDOW, SUCCESSES = 100, 90  # a run is solved when so many of the next episodes find the treasure
MANY = 30  # runs
SMALL = dict.fromkeys((5, 10, 15, 20), MANY)
LARGE = {**SMALL, 25: MANY, 30: MANY}  # beyond, nobody is done in so many episodes
SIZES = {"ucls-exact": LARGE, "ucls": SMALL, "rlsvi": SMALL, "sarsa-optimistic": LARGE}


def group_of(key: str, size: int) -> Group:
    """The runs of an algorithm, untuned, in seas of a size."""
    if key == "sarsa-optimistic":
        group = optimistic_sarsa(DEEP_SEA, size=size)
    else:
        group = Group(key, DEEP_SEA, key, (("size", size),), reading=ROOM)
    return group._replace(steps=size * EPISODES, most=SIZES[key][size], by_seed="mapping_seed")


def groups() -> list[Group]:
    """What the figure and the table are made of."""
    return [group_of(key, size) for key, sizes in SIZES.items() for size in sizes]


def solved(evidence: Evidence, key: str, size: int) -> list[int | None]:
    """After how many episodes each run solved its sea; None for never."""
    results = [result for _, result in evidence.results(group_of(key, size))]
    return [None if r.diverged else _solved_after(r.arrays["episode_returns"]) for r in results]


def _solved_after(returns: np.ndarray) -> int | None:
    return solved_after(returns > TREASURE, WINDOW, SUCCESSES / WINDOW)


def spread(runs: Sequence[int | None]) -> tuple[int, int, int]:
    """The middle run (the slower of two), the fastest and the slowest; never is `EPISODES`."""
    ranked = sorted(EPISODES if e is None else e for e in runs)
    return ranked[len(ranked) // 2], ranked[0], ranked[-1]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The episodes it takes over the size of the sea, and the part of the runs that solve it."""
    episodes: list[Line] = []
    shares: list[Line] = []
    for key, sizes in SIZES.items():
        by_size = {size: runs for size in sizes if (runs := solved(evidence, key, size))}
        parts = {size: proportion(len(runs) - runs.count(None), len(runs)) for size, runs in by_size.items()}
        episodes += _line(key, [(size, *spread(runs), len(runs)) for size, runs in by_size.items()])
        shares += _line(key, [(size, *part, len(by_size[size])) for size, part in parts.items() if part is not None])
    caption = (
        f"Left: after how many episodes {SUCCESSES} of the next {WINDOW} find the treasure: the middle run, with the "
        f"fastest and the slowest. Runs on the broken line never get there in {EPISODES} episodes. Right: the part of "
        "the runs that do, with Wilson's 95% interval. Nothing is tuned; every seed has an action map of its own."
    )
    never = {"limits": (0, EPISODES * 1.06), "optimum_label": f"not solved in {EPISODES} episodes"}
    panels = (
        Panel("until solved", "size of the sea", "episodes", tuple(episodes), float(EPISODES), **never),
        Panel("solved at all", "size of the sea", "part of the runs", tuple(shares), limits=(0, 1.05)),
    )
    return (Plot("deep-sea", "Deep Sea", caption, panels),)


def _line(key: str, points: Sequence[tuple[Any, ...]]) -> list[Line]:
    return [points_of(*STYLES[key], points)] if points else []


HEADS = ["algorithm", "size", "solved", "episodes until solved: middle run", "fastest", "slowest", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each algorithm and size."""
    return [_row(STYLES[key][0], size, solved(evidence, key, size)) for key, sizes in SIZES.items() for size in sizes]


def _row(name: str, size: int, runs: Sequence[int | None]) -> list[str]:
    times = [e for e in runs if e is not None]
    if (part := proportion(len(times), len(runs))) is None:
        return [name, str(size), NOT_RUN, "-", "-", "-", "0"]
    numbers = ["never" if e == EPISODES else str(e) for e in spread(runs)]
    return [name, str(size), share(len(times), len(runs), part), *numbers, str(len(runs))]
