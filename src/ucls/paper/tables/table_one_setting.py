"""One setting for each baseline in all three domains, as UCLS has: a fairer comparison than tuning per domain.

The candidates of a sweep are the same in every domain. The one with the best mean rank over the three, on tuning seeds,
is the baseline's one setting; candidates that do equally well share their rank.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ucls._util.palette import STYLES
from ucls.core.metrics import sign_of
from ucls.paper.evidence import Evidence
from ucls.paper.numbers import interval, mean_of_runs
from ucls.paper.runs.domains import DOMAINS
from ucls.paper.runs.groups import MAIN, Group, sweep_result, tuned, ucls
from ucls.paper.runs.sweeps import candidates_of
from ucls.settings import listed

KEYS = ("ucbootstrap", "dgpq", "lspi-rmax", "rlsvi", "sarsa-epsilon", "sarsa-optimistic", "ucls-l")


def ranks(key: str, env: str) -> np.ndarray:
    """Return the rank of every candidate in a domain, from 1 for the best; candidates with a diverged run rank last."""
    found = sweep_result(key, env)
    sign = sign_of(found["metric"])
    marks = []
    for settings in candidates_of(key):
        trial = next(trial for trial in found["trials"] if trial["settings"] == settings)
        score = -np.inf if trial["score"] is None else sign * trial["score"]
        marks.append((-trial["diverged"], score))
    return np.array([1 + sum(other > one for other in marks) + (marks.count(one) - 1) / 2 for one in marks])


def one_setting(key: str, counts: Callable[[Mapping[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
    """Return the candidate with the best mean rank over the domains."""
    total = np.sum([ranks(key, env) for env in MAIN], axis=0)
    candidates = candidates_of(key)
    return candidates[min((i for i, settings in enumerate(candidates) if counts(settings)), key=total.__getitem__)]


def group_of(key: str, env: str) -> Group:
    """The runs of a baseline in a domain with its one setting."""
    return tuned(key, env).but(**one_setting(key))


def groups() -> list[Group]:
    """Return the runs behind the table."""
    groups = [group for key in KEYS for env in MAIN for group in (group_of(key, env), tuned(key, env))]
    return [*groups, *(ucls(env) for env in MAIN)]


HEADS = [
    "baseline",
    "setting",
    "domain (final performance)",
    "with this setting",
    "tuned per domain",
    "UCLS, untuned",
    "UCLS minus baseline",
    "runs",
]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each baseline and domain."""
    lines = []
    for key in KEYS:
        for env in MAIN:
            sides = [evidence.final(group) for group in (group_of(key, env), tuned(key, env), ucls(env))]
            apart = evidence.difference(sides[2], sides[0])
            shown = [mean_of_runs(side.mean) for side in sides]
            name, domain = STYLES[key][0], DOMAINS[env].title
            difference = "-" if apart is None else interval(apart)
            lines.append([name, listed(one_setting(key)), domain, *shown, difference, str(len(sides[0].seeds))])
    return lines
