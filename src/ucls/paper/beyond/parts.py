"""Ablation of the bound of UCLS-Exact: without its prior term (`belief`), without its noise term (`factor`).

And two other settings: a larger factor, and no `return_max`.
"""

from ucls.paper.beyond.comparison import MEASURES, NOT_RUN, WORDS, apart, exact, sample
from ucls.paper.domains import DOMAINS, ONE_STATE, PUDDLE, RIVER, SPARSE
from ucls.paper.evidence import Evidence
from ucls.paper.groups import Group
from ucls.paper.numbers import grouped, mean_of_runs

PARTS = {
    "both terms": {},
    "prior term only": {"factor": 0.0},
    "noise term only": {"belief": 0.0},
    "neither term": {"factor": 0.0, "belief": 0.0},
    "both, factor 1": {"factor": 1.0},
    "both, return_max not given": {"return_max": "unknown"},
}
DOMAINS_OF = (RIVER, PUDDLE, SPARSE, ONE_STATE)


def groups() -> list[Group]:
    """The runs behind the table."""
    return [exact(env, **settings) for env in DOMAINS_OF for settings in PARTS.values()]


HEADS = ["domain", "measure", "terms", "mean", "difference from both", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain, measure and variant, with the difference from both terms paired by seed."""
    lines = []
    for env in DOMAINS_OF:
        for measure in MEASURES.get(env, ("last_reward",)):
            both = sample(evidence, exact(env), measure)
            for name, settings in PARTS.items():
                values = sample(evidence, exact(env, **settings), measure)
                runs = str(len(values.scores))
                less = apart(evidence, values, both)[0] if settings else "-"
                mean = mean_of_runs(values.mean, grouped, NOT_RUN)
                lines.append([DOMAINS[env].title, WORDS[measure], name, mean, less, runs])
    return lines
