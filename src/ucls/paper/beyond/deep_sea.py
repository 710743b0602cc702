"""Deep Sea: the number of episodes until a run solves it, by size.

A run solves Deep Sea after e episodes if at least 90 of the next 100 find the treasure. Every seed has its own action
map.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucls._util.palette import STYLES
from ucls.paper.beyond.comparison import NOT_RUN, name_of, optimistic_sarsa
from ucls.paper.drawing.plot import Line, Panel, Plot, points_of
from ucls.paper.evidence import Evidence
from ucls.paper.numbers import share
from ucls.paper.runs.domains import DEEP_SEA, ROOM
from ucls.paper.runs.groups import Group
from ucls.stats import proportion, solved_after

EPISODES, TREASURE = 1000, 0.5
WINDOW, SUCCESSES = 100, 90  # so many of the next episodes must find the treasure
MANY = 30  # runs
SMALL = dict.fromkeys((5, 10, 15, 20), MANY)
LARGE = {**SMALL, 25: MANY, 30: MANY}  # no algorithm solves larger ones in so many episodes
SIZES = {"ucls-exact": LARGE, "ucls": SMALL, "rlsvi": SMALL, "sarsa-optimistic": LARGE}


def group_of(key: str, size: int) -> Group:
    """The runs of an algorithm with default settings in Deep Sea of a size."""
    if key == "sarsa-optimistic":
        group = optimistic_sarsa(DEEP_SEA, size=size)
    else:
        group = Group(key, DEEP_SEA, key, (("size", size),), reading=ROOM)
    return group._replace(steps=size * EPISODES, most=SIZES[key][size], by_seed="mapping_seed")


def groups() -> list[Group]:
    """The runs behind the figure and the table."""
    return [group_of(key, size) for key, sizes in SIZES.items() for size in sizes]


def solved(evidence: Evidence, group: Group) -> list[int | None]:
    """After how many episodes each run of a group solved Deep Sea; None for never."""
    results = [result for _, result in evidence.results(group)]
    return [None if r.diverged else _solved_after(r.arrays["episode_returns"]) for r in results]


def _solved_after(returns: np.ndarray) -> int | None:
    return solved_after(returns > TREASURE, WINDOW, SUCCESSES / WINDOW)


def spread(runs: Sequence[int | None]) -> tuple[int, int, int]:
    """The median run (the slower of two), the fastest and the slowest; never is `EPISODES`."""
    ranked = sorted(EPISODES if e is None else e for e in runs)
    return ranked[len(ranked) // 2], ranked[0], ranked[-1]


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The number of episodes and the fraction of runs that solve Deep Sea, by size."""
    episodes: list[Line] = []
    shares: list[Line] = []
    for key, sizes in SIZES.items():
        by_size = {size: runs for size in sizes if (runs := solved(evidence, group_of(key, size)))}
        parts = {size: proportion(len(runs) - runs.count(None), len(runs)) for size, runs in by_size.items()}
        episodes += _line(key, [(size, *spread(runs), len(runs)) for size, runs in by_size.items()])
        shares += _line(key, [(size, *part, len(by_size[size])) for size, part in parts.items() if part is not None])
    caption = (
        f"Left: episodes until {SUCCESSES} of the next {WINDOW} find the treasure, for the median, fastest and slowest "
        f"run; the dashed line marks runs that do not solve it in {EPISODES} episodes. Right: fraction of runs that "
        "solve it, with Wilson 95% intervals. Nothing is tuned; every seed has its own action map."
    )
    never = {"limits": (0, EPISODES * 1.06), "optimum_label": f"not solved in {EPISODES} episodes"}
    panels = (
        Panel("episodes to solve", "size", "episodes", tuple(episodes), float(EPISODES), **never),
        Panel("solved", "size", "fraction of runs", tuple(shares), limits=(0, 1.05)),
    )
    return (Plot("deep-sea", "Deep Sea", caption, panels),)


def _line(key: str, points: Sequence[tuple[Any, ...]]) -> list[Line]:
    return [points_of(*STYLES[key], points)] if points else []


HEADS = ["algorithm", "size", "solved", "episodes to solve, median run", "fastest", "slowest", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each algorithm and size."""
    return [
        _row(name_of(key), size, solved(evidence, group_of(key, size)))
        for key, sizes in SIZES.items()
        for size in sizes
    ]


def _row(name: str, size: int, runs: Sequence[int | None]) -> list[str]:
    times = [e for e in runs if e is not None]
    if (part := proportion(len(times), len(runs))) is None:
        return [name, str(size), NOT_RUN, "-", "-", "-", "0"]
    numbers = ["never" if e == EPISODES else str(e) for e in spread(runs)]
    return [name, str(size), share(len(times), len(runs), part), *numbers, str(len(runs))]
