"""The worst run of each algorithm, and how many runs end within 10% of the optimum."""

from ucls.paper.beyond.comparison import METRICS, NOT_RUN, WORDS, Contest, contests, each_run, groups, name_of, sample
from ucls.paper.evidence import FINAL, Evidence, optimum
from ucls.paper.numbers import grouped
from ucls.paper.runs.groups import Group

__all__ = ["HEADS", "groups", "rows"]

NEAR = 0.1
HEADS = [
    *("domain", "algorithm", "worst run, whole run"),
    *("final metric", "worst run, final", "optimum", "runs within 10% of optimum", "runs"),
]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each domain and algorithm, `ucls-exact` first."""
    lines = []
    for one in contests():
        whole = next((name for name in METRICS.get(one.env, ()) if name in ("reward", "goals")), "reward")
        final, level = FINAL[one.env], _optimum(one)
        for key, group in reversed(one.shown.items()):
            ended = sample(evidence, group, final)
            worst = _worst(evidence, group, whole), WORDS[final], _worst(evidence, group, final)
            near = sum(_near(value, level, ended.sign) for value in each_run(ended))
            count = f"{near} of {len(ended.scores)}" if len(ended.scores) else NOT_RUN
            lines.append([one.title, name_of(key), *worst, grouped(level), count, str(len(ended.scores))])
    return lines


def _optimum(one: Contest) -> float:
    """The final metric of an optimal policy."""
    best = optimum(one.env, **one.world)
    levels = {
        "final_reward_per_step": best.reward_rate,
        "final_return": best.episode_return,
        "final_episode_length": best.episode_steps,
    }
    return float(levels[FINAL[one.env]] or 0.0)


def _near(value: float, level: float, sign: int) -> bool:
    """Return whether a run is within 10% of the optimum, or better."""
    return sign * (value - level) >= -NEAR * abs(level)


def _worst(evidence: Evidence, group: Group, metric: str) -> str:
    values = sample(evidence, group, metric)
    if not len(values.scores):
        return NOT_RUN
    lowest = float(values.scores.min())
    unit = {"reward": "reward", "goals": "episodes"}.get(metric, "")
    return f"{grouped(values.sign * lowest)} {unit}".strip() if lowest > float("-inf") else "diverged"
