"""Ablation of the bound of UCLS-Exact: without its prior term (`prior_scale`), without its noise term (`noise_scale`).

And two other settings: a larger `noise_scale`, and no `return_max`.
"""

from ucls.paper.beyond.comparison import METRICS, NOT_RUN, WORDS, apart, exact, sample
from ucls.paper.evidence import Evidence
from ucls.paper.numbers import grouped, mean_of_runs
from ucls.paper.runs.domains import DOMAINS, ONE_STATE, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import Group

PARTS = {
    "both terms": {},
    "prior term only": {"noise_scale": 0.0},
    "noise term only": {"prior_scale": 0.0},
    "neither term": {"noise_scale": 0.0, "prior_scale": 0.0},
    "both, noise_scale 1": {"noise_scale": 1.0},
    "both, return_max not given": {"return_max": "unknown"},
}
DOMAINS_OF = (RIVER, PUDDLE, SPARSE, ONE_STATE)


def groups() -> list[Group]:
    """The runs behind the table."""
    return [exact(env, **settings) for env in DOMAINS_OF for settings in PARTS.values()]


HEADS = ["domain", "metric", "terms", "mean", "difference from both", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain, metric and variant, with the difference from both terms paired by seed."""
    lines = []
    for env in DOMAINS_OF:
        for metric in METRICS.get(env, ("final_reward_per_step",)):
            both = sample(evidence, exact(env), metric)
            for name, settings in PARTS.items():
                values = sample(evidence, exact(env, **settings), metric)
                runs = str(len(values.scores))
                less = apart(evidence, values, both)[0] if settings else "-"
                mean = mean_of_runs(values.mean, grouped, NOT_RUN)
                lines.append([DOMAINS[env].title, WORDS[metric], name, mean, less, runs])
    return lines
