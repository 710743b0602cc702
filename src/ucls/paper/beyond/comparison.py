"""Beyond the paper: UCLS with its complete bound (`ucls-exact`) against UCLS and the tuned competitors.

Here every algorithm has the environments' own features, with room for every tile. `tuning` says which are tuned with
them, and where; UCLS and `ucls-exact` are not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ucls.figures.palette import STYLES
from ucls.figures.plot import Plot
from ucls.paper.domains import CLASSIC, DOMAINS, ONE_STATE, PUDDLE, RIVER, ROOM, SPARSE
from ucls.paper.evidence import Evidence, Sample
from ucls.paper.figure_1 import curve_caption, curve_panel
from ucls.paper.figure_7 import gv_ucb
from ucls.paper.groups import Group, tuned, ucls
from ucls.paper.numbers import grouped, interval, listing, mean_of_runs, share
from ucls.stats import common_seeds, proportion, scores

NOT_RUN = "not run"
RIGHT = 1.5  # halfway between what the levers of One-State earn
CHEAP = ("sarsa-optimistic", "sarsa-epsilon")  # of which a quick look has as many runs as of others
RIVALS = (*CHEAP, "ucls-l", "rlsvi", "ucbootstrap", "dgpq", "lspi-rmax")
MEASURES = {
    RIVER: ("reward",),
    PUDDLE: ("last_return", "goals"),
    SPARSE: ("goals", "last_steps"),
    CLASSIC: ("goals", "last_steps"),
}
WORDS = {
    "reward": "reward of the run",
    "last_reward": "reward a step at the end",
    "last_return": "return of an episode at the end",
    "goals": "goals reached",
    "last_steps": "steps of an episode at the end",
}


class Contest(NamedTuple):
    """A domain with settings of its own, if any, and who is compared with `ucls-exact` there."""

    env: str
    world: dict[str, Any]
    rivals: dict[str, Group]

    @property
    def title(self) -> str:
        """What it is called in tables."""
        return ", ".join([DOMAINS[self.env].title, *(f"{name} {value:g}" for name, value in self.world.items())])

    @property
    def exact(self) -> Group:
        """The runs of `ucls-exact`."""
        return exact(self.env, **self.world)

    @property
    def shown(self) -> dict[str, Group]:
        """Everyone."""
        return {**self.rivals, "ucls-exact": self.exact}


def exact(env: str, **settings: Any) -> Group:
    """UCLS with its complete bound, as it comes or with some settings."""
    steps = 20_000 if env == ONE_STATE else 50_000
    heavy = env in (SPARSE, CLASSIC)
    return Group("ucls-exact", env, "ucls-exact", tuple(settings.items()), steps, heavy=heavy, reading=ROOM)


def rivals(env: str) -> dict[str, Group]:
    """UCLS and the tuned competitors, with the environment's own features."""
    groups = {key: tuned(key, env, ROOM)._replace(heavy=key not in CHEAP) for key in RIVALS}
    groups["gv-ucb"] = gv_ucb(SPARSE) if env == SPARSE else tuned("gv-ucb", env, ROOM)._replace(heavy=True)
    groups["ucls"] = ucls(env)._replace(keep=False, heavy=env == SPARSE)
    return {key: group._replace(reading=ROOM) for key, group in groups.items()}


def untuned(env: str, *agents: str, **world: Any) -> dict[str, Group]:
    """Some algorithms as they come, and Sarsa with optimistic values."""
    steps = exact(env).steps
    others = {key: Group(key, env, key, tuple(world.items()), steps, heavy=True, reading=ROOM) for key in agents}
    return {"sarsa-optimistic": optimistic_sarsa(env, **world)._replace(steps=steps), **others}


def optimistic_sarsa(env: str, **settings: Any) -> Group:
    """Sarsa with optimistic values, untuned."""
    given = {"optimistic": "yes", "epsilon": 0.0, **settings}
    return Group("sarsa-optimistic", env, "sarsa", tuple(given.items()), reading=ROOM)


def contests() -> list[Contest]:
    """What is compared where."""
    main = [Contest(env, {}, rivals(env)) for env in (SPARSE, PUDDLE, RIVER)]
    less = {"noise_sd": 0.01}
    quiet = Contest(PUDDLE, less, untuned(PUDDLE, "ucls", **less))
    dgpq = tuned("dgpq", CLASSIC)._replace(heavy=True, reading=ROOM)
    classic = Contest(CLASSIC, {}, {**untuned(CLASSIC, "ucls"), "dgpq": dgpq})
    return [*main, classic, quiet, Contest(ONE_STATE, {}, untuned(ONE_STATE, "ucls", "ucls-l", "rlsvi"))]


def groups() -> list[Group]:
    """What the figure and the table are made of."""
    return [group for contest in contests() for group in contest.shown.values()]


def tuning() -> str:
    """Which algorithms are tuned in which domains, by their runs: text for the caption and docs/beyond.md."""
    where: dict[str, list[str]] = {}
    for one in contests():
        for key in (key for key, group in one.shown.items() if group.tuned):
            where.setdefault(key, []).append(one.title)
    together: dict[str, list[str]] = {}
    for key, titles in where.items():
        together.setdefault(listing(titles), []).append(STYLES[key][0])
    lines = [f"Tuned in {titles}: {'; '.join(names)}." for titles, names in together.items()]
    return " ".join([*lines, "Settings were tuned with the same features as shown. All other runs are untuned."])


def plots(evidence: Evidence) -> tuple[Plot, ...]:
    """The learning curves, as in Figure 1."""
    panels = tuple(curve_panel(evidence, one.env, one.shown, **one.world) for one in contests())
    caption = f"{curve_caption(one.env for one in contests())} {tuning()}"
    return (Plot("beyond", "UCLS with its complete bound", caption, panels),)


HEADS = ["domain", "measured", "against", "ucls-exact", "the other", "difference", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain, measure and rival: both means with their intervals, and the difference by seed."""
    lines = []
    for one in contests():
        for measure in MEASURES.get(one.env, ()):
            mine = sample(evidence, one.exact, measure)
            for key, group in one.rivals.items():
                theirs = sample(evidence, group, measure)
                sides = [mean_of_runs(side.mean, grouped, NOT_RUN) for side in on_common_seeds(mine, theirs)]
                lines.append([one.title, WORDS[measure], STYLES[key][0], *sides, *apart(evidence, mine, theirs)])
    return [*lines, *_levers(evidence)]


def _levers(evidence: Evidence) -> list[list[str]]:
    """One-State: how many runs of each end at the better lever."""
    one = contests()[-1]
    mine, runs = _right(evidence, one.exact)
    sides = [(STYLES[key][0], *_right(evidence, group)) for key, group in one.rivals.items()]
    what = "runs that end at the better lever"
    return [[one.title, what, name, mine, theirs, "-", str(min(runs, more))] for name, theirs, more in sides]


def _right(evidence: Evidence, group: Group) -> tuple[str, int]:
    values = evidence.final(group).scores
    right = int((values > RIGHT).sum())
    part = proportion(right, len(values))
    return NOT_RUN if part is None else share(right, len(values), part), len(values)


def sample(evidence: Evidence, group: Group, measure: str) -> Sample:
    """A measure of the runs of a group; `goals` are the episodes that were not cut off."""
    if measure != "goals":
        return evidence.sample(group, measure)
    runs = evidence.results(group)
    values = [float((r.arrays["truncated"] == 0).sum()) for _, r in runs]
    seeds = np.array([seed for seed, _ in runs], np.int64)
    return Sample(seeds, scores(values, [r.diverged for _, r in runs]), 1)


def on_common_seeds(mine: Sample, theirs: Sample) -> tuple[Sample, Sample]:
    """Both samples, of the seeds that both have; as they are while there are none."""
    at, there = common_seeds(mine.seeds, theirs.seeds)
    if not len(at):
        return mine, theirs
    mine, theirs = (Sample(s.seeds[i], s.scores[i], s.sign) for s, i in ((mine, at), (theirs, there)))
    return mine, theirs


def apart(evidence: Evidence, mine: Sample, theirs: Sample) -> list[str]:
    """The mean difference on common seeds with its interval, and how many pairs there are."""
    pair = evidence.pair(mine, theirs)
    if pair is None:
        return ["-", "0"]
    return ["-" if pair.difference is None else interval(pair.difference, grouped), str(pair.pairs + pair.dropped)]


def each_run(values: Sample) -> Iterator[float]:
    """The measure of each sound run, as it is read."""
    return (values.sign * float(score) for score in values.scores if np.isfinite(score))
