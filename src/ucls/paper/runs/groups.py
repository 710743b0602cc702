"""The runs behind the paper's figures, as data: groups whose runs differ only in their seed."""

import functools
import json
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any, NamedTuple

from ucls.paper.runs import domains
from ucls.paper.runs.domains import CLASSIC, DOMAINS, PUDDLE, QUADRATIC, RIVER, SPARSE, as_read, dtype_of
from ucls.paper.runs.sweeps import SPACES, fixed_of, key_of
from ucls.settings import listed
from ucls.study import RunSpec, make_run_specs


class Group(NamedTuple):
    """Runs of one algorithm in one domain; `key` names its color and, with `settings`, identifies it.

    `heavy` marks what takes a minute a run, or stands behind a table only: a scale may want fewer of those; `most` is
    how many a group has at any scale, and `least` at any that can decide something, heavy or not. A quick look leaves
    out what is `deep`: tables tell of it, and claims are read with it. `reading` is that of the tiles' memory, if not
    the usual one. `by_seed` names a setting that is the seed of each run: a map of the world, say. `tuned` marks
    settings that a sweep found, so that captions can say which are.
    """

    key: str
    env: str
    agent: str
    settings: tuple[tuple[str, Any], ...] = ()
    steps: int = 50_000
    keep: bool = False
    probe: str = ""
    heavy: bool = False
    reading: str = ""
    deep: bool = False
    most: int | None = None
    least: int = 0
    by_seed: str = ""
    tuned: bool = False

    @property
    def label(self) -> str:
        """The name of the group in tables."""
        return f"{self.key} {listed(dict(self.settings), ' ')}".rstrip()

    def for_shares(self) -> "Group":
        """Return the same group with enough runs to judge the fraction that learns; other interpretations stay
        unchanged."""
        return self if self.deep else self._replace(least=max(self.least, SHARES))

    def but(self, **settings: Any) -> "Group":
        """Return the same group with other settings, for a table: no learners are saved, and a quick reproduction omits
        it."""
        changed = tuple({**dict(self.settings), **settings}.items())
        return self._replace(settings=changed, keep=False, heavy=_slow(self.agent, self.env), deep=True)


class Scale(NamedTuple):
    """The scale of a reproduction: how many runs in each domain, and which fraction of the steps."""

    name: str
    runs: Mapping[str, int]
    steps: float = 1.0
    heavy: int | None = None
    deep: bool = True

    def runs_of(self, group: Group) -> int:
        """How many runs a group has."""
        if group.deep and not self.deep:
            return 0
        usual = self.runs[group.env]
        fewer = usual if self.heavy is None or not group.heavy else min(usual, self.heavy)
        wanted = max(fewer, group.least) if usual >= ENOUGH else fewer
        return wanted if group.most is None else min(wanted, group.most)

    def steps_of(self, group: Group) -> int:
        """How many steps the runs of a group take."""
        return max(1000, int(group.steps * self.steps))


ENOUGH = 20  # runs that can decide something
SHARES = 100  # runs that can tell nine in ten from eight in ten
FULL = Scale("full", {env: domain.runs for env, domain in DOMAINS.items()})
QUICK = Scale("quick", {**dict.fromkeys(DOMAINS, 3), RIVER: 5}, steps=0.2, heavy=1, deep=False)


def scale_of(runs: int | None = None, full: bool = False, heavy: int | None = None) -> Scale:
    """Return the requested scale; quick by default."""
    if full:
        return FULL._replace(heavy=heavy)
    if runs is not None:
        return Scale(f"{runs} runs", dict.fromkeys(DOMAINS, runs), heavy=heavy)
    return QUICK


def cells_of(group: Group, scale: Scale) -> tuple[RunSpec, ...]:
    """Return the run specifications of a group."""
    seeds = range(scale.runs_of(group))
    if not seeds:
        return ()
    if not group.by_seed:
        return _cells(group, scale, seeds, {})
    return tuple(cell for seed in seeds for cell in _cells(group, scale, [seed], {group.by_seed: seed}))


def _cells(group: Group, scale: Scale, seeds: Iterable[int], more: Mapping[str, Any]) -> tuple[RunSpec, ...]:
    settings = {**dict(group.settings), **more}
    return make_run_specs(
        group.env,
        group.agent,
        steps=scale.steps_of(group),
        seeds=seeds,
        settings=as_read(group.agent, group.env, settings, group.reading),
        dtype=dtype_of(group.agent, group.env),
        keep=group.keep,
        probe=group.probe,
    )


def ucls(env: str, **settings: Any) -> Group:
    """Return UCLS, untuned; the learners of River Swim are saved, to evaluate their policies."""
    keep = env == RIVER and not settings
    return Group("ucls", env, "ucls", tuple(settings.items()), keep=keep, heavy=env == CLASSIC)


def counts_only(env: str, **settings: Any) -> Group:
    """Return UCLS with B = I and a = 0; a quick reproduction has it in River Swim, where runs are short."""
    return Group("ucls-counts", env, "ucls", (("covariance", "visit_counts"), *settings.items()), deep=env != RIVER)


def tuned(key: str, env: str, reading: str = "", **more: Any) -> Group:
    """A baseline with the settings found by tuning, and more if given."""
    settings = {**fixed_of(key, env), **sweep_result(key, env, reading)["settings"], **more}
    agent = SPACES[key][0]
    return Group(key, env, agent, tuple(settings.items()), heavy=_slow(agent, env), reading=reading, tuned=True)


def _slow(agent: str, env: str) -> bool:
    return agent in QUADRATIC and env in (SPARSE, CLASSIC)


def sweep_result(key: str, env: str, reading: str = "") -> dict[str, Any]:
    """Return the result of the sweep with an interpretation; that with the printed table size, if it is the only one
    yet."""
    found = winners()
    return found.get(key_of(key, env, reading or domains.READING)) or found[key_of(key, env)]


def has_winner(key: str, env: str) -> bool:
    """Return whether there is a sweep with the interpretation of the figures."""
    return key_of(key, env, domains.READING) in winners()


@functools.cache
def winners() -> dict[str, Any]:
    """The committed results of tuning: for each baseline and domain the choice and every candidate's score."""
    return json.loads(resources.files("ucls.paper.runs").joinpath("winners.json").read_text())


def contenders(env: str) -> dict[str, Group]:
    """UCLS and the baselines of Figure 1 in a domain."""
    baselines = {key: tuned(key, env) for key in ("ucbootstrap", "dgpq", "lspi-rmax", "rlsvi", "sarsa-epsilon")}
    return {"ucls": ucls(env), **baselines}


MAIN = (SPARSE, PUDDLE, RIVER)
