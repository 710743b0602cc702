"""Does the learned covariance of UCLS matter?

UCLS is compared with two variants. One has B = I and a = 0, so that its radius is a visit-count bonus. The other has
larger features, so that B and C move: the jointly tuned variant that did best in the three domains on tuning seeds.
"""

from collections.abc import Mapping
from typing import Any

from ucls.paper.evidence import Evidence, Sample
from ucls.paper.numbers import grouped, interval, mean_of_runs
from ucls.paper.runs.domains import DOMAINS, PUDDLE, RIVER
from ucls.paper.runs.groups import MAIN, Group, counts_only, has_winner, tuned, ucls
from ucls.paper.runs.sweeps import JOINT
from ucls.paper.tables.table_one_setting import one_setting

WHOLE = {env: "mean_return" if env == PUDDLE else "reward" for env in MAIN}
WORDS = {"mean_return": "mean return per episode", "reward": "episodes reaching the goal"}


def moves(settings: Mapping[str, Any]) -> bool:
    """Return whether features are large enough for B to differ from the identity."""
    return settings["feature_value"] != "1/n"


def joint(env: str) -> Group:
    """Return the jointly tuned variant of UCLS."""
    best = one_setting(JOINT, moves)
    return tuned(JOINT, env).but(**best)._replace(heavy=False)


def variants(env: str) -> dict[str, Group]:
    """The variants that UCLS is compared with, by name; the jointly tuned one once its search is done."""
    searched = {"jointly tuned variant": joint(env)} if has_winner(JOINT, RIVER) else {}
    return {"visit counts only": counts_only(env), **searched}


def groups() -> list[Group]:
    """Return the runs behind the table."""
    return [group for env in MAIN for group in (ucls(env), *variants(env).values())]


def whole(evidence: Evidence, group: Group) -> Sample:
    """Return the total result of a run: its reward, or the mean return of its episodes."""
    return evidence.sample(group, WHOLE[group.env])


HEADS = ["domain", "measured", "UCLS", "variant", "variant's result", "difference", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain, variant and measure."""
    lines = []
    for env in MAIN:
        said = "reward of the run" if env == RIVER else WORDS[WHOLE[env]]
        for words, measured in ((said, whole), ("final performance", Evidence.final)):
            usual = measured(evidence, ucls(env))
            for name, group in variants(env).items():
                other = measured(evidence, group)
                apart = evidence.difference(other, usual)
                shown = "-" if apart is None else interval(apart, grouped)
                sides = [mean_of_runs(usual.mean, grouped), name, mean_of_runs(other.mean, grouped)]
                lines.append([DOMAINS[env].title, words, *sides, shown, str(len(other.seeds))])
    return lines
