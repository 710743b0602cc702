"""UCLS-Exact compared with UCLS and the tuned baselines.

Every algorithm has the environments' own features, with a collision-free hash table. `tuning` says which algorithms are
tuned with them, and where; UCLS and UCLS-Exact are not.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ucls._util.palette import STYLES
from ucls.paper.drawing.plot import Plot
from ucls.paper.evidence import Evidence, Sample
from ucls.paper.figures.figure_1 import curve_caption, curve_panel
from ucls.paper.figures.figure_7 import gv_ucb
from ucls.paper.numbers import grouped, interval, listing, mean_of_runs, share
from ucls.paper.runs.domains import CLASSIC, DOMAINS, ONE_STATE, PUDDLE, RIVER, ROOM, SPARSE
from ucls.paper.runs.groups import Group, tuned, ucls
from ucls.stats import common_seeds, proportion, scores

NOT_RUN = "not run"
RIGHT = 1.5  # halfway between the mean rewards of the two actions of One-State
CHEAP = ("sarsa-optimistic", "sarsa-epsilon")  # as many runs as the others in a quick reproduction
BASELINES = (*CHEAP, "ucls-l", "rlsvi", "ucbootstrap", "dgpq", "lspi-rmax")
METRICS = {
    RIVER: ("reward",),
    PUDDLE: ("final_return", "goals"),
    SPARSE: ("goals", "final_episode_length"),
    CLASSIC: ("goals", "final_episode_length"),
}
WORDS = {
    "reward": "total reward",
    "final_reward_per_step": "final reward per step",
    "final_return": "final episode return",
    "goals": "episodes reaching the goal",
    "final_episode_length": "final episode length",
}


class Contest(NamedTuple):
    """A domain with non-default settings, if any, and the baselines in it."""

    env: str
    world: dict[str, Any]
    baselines: dict[str, Group]

    @property
    def title(self) -> str:
        """Its name in tables."""
        return ", ".join([DOMAINS[self.env].title, *(f"{name} {value:g}" for name, value in self.world.items())])

    @property
    def exact(self) -> Group:
        """The runs of `ucls-exact`."""
        return exact(self.env, **self.world)

    @property
    def shown(self) -> dict[str, Group]:
        """All algorithms."""
        return {**self.baselines, "ucls-exact": self.exact}


def name_of(key: str) -> str:
    """The name of an algorithm in tables."""
    return "UCLS-Exact" if key == "ucls-exact" else STYLES[key][0]


def exact(env: str, **settings: Any) -> Group:
    """UCLS-Exact with default settings, or with these."""
    steps = 20_000 if env == ONE_STATE else 50_000
    heavy = env in (SPARSE, CLASSIC)
    return Group("ucls-exact", env, "ucls-exact", tuple(settings.items()), steps, heavy=heavy, reading=ROOM)


def baselines(env: str) -> dict[str, Group]:
    """UCLS and the tuned baselines, with the environment's own features."""
    groups = {key: tuned(key, env, ROOM)._replace(heavy=key not in CHEAP) for key in BASELINES}
    groups["gv-ucb"] = gv_ucb(SPARSE) if env == SPARSE else tuned("gv-ucb", env, ROOM)._replace(heavy=True)
    groups["ucls"] = ucls(env)._replace(keep=False, heavy=env == SPARSE)
    return {key: group._replace(reading=ROOM) for key, group in groups.items()}


def untuned(env: str, *agents: str, **world: Any) -> dict[str, Group]:
    """Some algorithms with default settings, and Sarsa with optimistic values."""
    steps = exact(env).steps
    others = {key: Group(key, env, key, tuple(world.items()), steps, heavy=True, reading=ROOM) for key in agents}
    return {"sarsa-optimistic": optimistic_sarsa(env, **world)._replace(steps=steps), **others}


def optimistic_sarsa(env: str, **settings: Any) -> Group:
    """Sarsa with optimistic values, untuned."""
    given = {"initial_value": "return_max", "epsilon": 0.0, **settings}
    return Group("sarsa-optimistic", env, "sarsa", tuple(given.items()), reading=ROOM)


def contests() -> list[Contest]:
    """The domains and what is compared in each."""
    main = [Contest(env, {}, baselines(env)) for env in (SPARSE, PUDDLE, RIVER)]
    less = {"noise_std": 0.01}
    quiet = Contest(PUDDLE, less, untuned(PUDDLE, "ucls", **less))
    dgpq = tuned("dgpq", CLASSIC)._replace(heavy=True, reading=ROOM)
    classic = Contest(CLASSIC, {}, {**untuned(CLASSIC, "ucls"), "dgpq": dgpq})
    return [*main, classic, quiet, Contest(ONE_STATE, {}, untuned(ONE_STATE, "ucls", "ucls-l", "rlsvi"))]


def groups() -> list[Group]:
    """The runs behind the figure and the table."""
    return [group for contest in contests() for group in contest.shown.values()]


def tuning() -> str:
    """Which algorithms are tuned in which domains: text for the caption and docs/beyond.md."""
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
    return (Plot("beyond", "UCLS-Exact and baselines", caption, panels),)


HEADS = ["domain", "metric", "baseline", "ucls-exact", "baseline value", "difference", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain, metric and baseline: both means with intervals, and the difference paired by seed."""
    lines = []
    for one in contests():
        for metric in METRICS.get(one.env, ()):
            mine = sample(evidence, one.exact, metric)
            for key, group in one.baselines.items():
                theirs = sample(evidence, group, metric)
                sides = [mean_of_runs(side.mean, grouped, NOT_RUN) for side in on_common_seeds(mine, theirs)]
                lines.append([one.title, WORDS[metric], STYLES[key][0], *sides, *apart(evidence, mine, theirs)])
    return [*lines, *_actions(evidence)]


def _actions(evidence: Evidence) -> list[list[str]]:
    """One-State: how many runs of each algorithm end with the better action."""
    one = contests()[-1]
    mine, runs = _right(evidence, one.exact)
    sides = [(STYLES[key][0], *_right(evidence, group)) for key, group in one.baselines.items()]
    what = "runs that end with the better action"
    return [[one.title, what, name, mine, theirs, "-", str(min(runs, more))] for name, theirs, more in sides]


def _right(evidence: Evidence, group: Group) -> tuple[str, int]:
    values = evidence.final(group).scores
    right = int((values > RIGHT).sum())
    part = proportion(right, len(values))
    return NOT_RUN if part is None else share(right, len(values), part), len(values)


def sample(evidence: Evidence, group: Group, metric: str) -> Sample:
    """A metric of the runs of a group; `goals` is the number of episodes that were not truncated."""
    if metric != "goals":
        return evidence.sample(group, metric)
    runs = evidence.results(group)
    values = [float((r.arrays["truncated"] == 0).sum()) for _, r in runs]
    seeds = np.array([seed for seed, _ in runs], np.int64)
    return Sample(seeds, scores(values, [r.diverged for _, r in runs]), 1)


def on_common_seeds(mine: Sample, theirs: Sample) -> tuple[Sample, Sample]:
    """Both samples on the seeds that both have; unchanged if there are none."""
    at, there = common_seeds(mine.seeds, theirs.seeds)
    if not len(at):
        return mine, theirs
    mine, theirs = (Sample(s.seeds[i], s.scores[i], s.sign) for s, i in ((mine, at), (theirs, there)))
    return mine, theirs


def apart(evidence: Evidence, mine: Sample, theirs: Sample) -> list[str]:
    """Return the mean difference on common seeds with its interval, and the number of pairs."""
    pair = evidence.pair(mine, theirs)
    if pair is None:
        return ["-", "0"]
    return ["-" if pair.difference is None else interval(pair.difference, grouped), str(pair.pairs + pair.dropped)]


def each_run(values: Sample) -> Iterator[float]:
    """The metric of each run that did not diverge."""
    return (values.sign * float(score) for score in values.scores if np.isfinite(score))
