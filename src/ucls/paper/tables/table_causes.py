"""Ablations: where a claim was not reproduced, one thing is changed and the runs are repeated."""

from typing import NamedTuple

from ucls.paper.evidence import Evidence, Sample
from ucls.paper.figures import figure_2, figure_5, figure_7
from ucls.paper.numbers import interval, mean_of_runs
from ucls.paper.runs.alternatives import BETAS, TRACE, other_ucls
from ucls.paper.runs.domains import CLASSIC, DOMAINS, PUDDLE, RIVER, SPARSE
from ucls.paper.runs.groups import Group, tuned, ucls
from ucls.stats import common_seeds

EARLY = 0.1  # of the steps
WORDS = {"": "final performance", "early": "reward of the first 10% of steps", "reward": "episodes reaching the goal"}


class Experiment(NamedTuple):
    """A question, the change that answers it, and the runs with the change and without."""

    question: str
    changed: str
    group: Group
    usual: Group
    metric: str = ""

    def sample(self, evidence: Evidence, group: Group) -> Sample:
        """Return the metric of one side."""
        if self.metric == "early":
            return evidence.early(group, EARLY)
        return evidence.sample(group, self.metric) if self.metric else evidence.final(group)


def _of_ucls() -> list[Experiment]:
    """Experiments on why UCLS does worse than the paper says."""
    forgets = "Does UCLS forget too fast or too slowly?", "not 0.001"
    optimistic = "Are its bounds too narrow?", "not 0.1"
    wide = "Are its bounds too narrow at first?", "not 1"
    tuning = "Would tuning help UCLS?", "of p, beta and b_step"
    slower = "Is the step size of w too large?", "not 1"
    asked = {"beta": forgets, "p": optimistic, "c_max": wide, "w_step": slower}
    experiments = []
    for name, group in other_ucls().items():
        question, than = asked.get(name.split()[0], tuning)
        experiments.append(Experiment(question, f"{name}, {than}", group, ucls(PUDDLE)))
    quiet = {"noise_std": 0.01}
    usual = ucls(PUDDLE, **quiet)._replace(heavy=True)
    for name, more in (("p", {"p": 0.01}), ("beta", {"beta": 0.01, "trace_threshold": TRACE})):
        changed = f"noise 0.01, and {name} = {more[name]:g}"
        experiments.append(
            Experiment("Why does UCLS fail with less noise?", changed, ucls(PUDDLE, **quiet, **more), usual)
        )
    faster = ucls(RIVER, beta=BETAS[-1], trace_threshold=TRACE)
    question = "Would faster forgetting cost River Swim?"
    experiments.append(Experiment(question, f"beta = {BETAS[-1]:g}, not 0.001", faster, ucls(RIVER)))
    least = figure_2.LEVELS[0]
    experiments.append(
        Experiment(
            f"Is p = {least:g} only slower?",
            "200,000 steps, not 50,000",
            ucls(RIVER, p=least)._replace(steps=200_000),
            ucls(RIVER, p=least),
        )
    )
    return experiments


def _of_others() -> list[Experiment]:
    """Experiments on why baselines did better or worse than the paper says."""
    experiments = [
        Experiment(
            "Was DGPQ's search too small?", "64 settings, not 16", tuned("dgpq-wide", env), tuned("dgpq", env), m
        )
        for env, m in ((RIVER, "early"), (PUDDLE, ""), (SPARSE, "reward"), (CLASSIC, ""))
    ]
    experiments += [
        Experiment(
            "Does GV-UCB perform poorly because of its p?",
            "p tuned, not 0.5",
            tuned("gv-ucb", env),
            figure_7.gv_ucb(env),
        )
        for env in (PUDDLE, RIVER)
    ]
    for name in ("LSTD-in-F", "LSTD-out-F"):
        usual = figure_5.lstd(name, 0.01, True)
        slower = tuple({**dict(usual.settings), "epsilon_every": 1000}.items())
        changed = f"{name}, eta = 0.01: epsilon times 0.2 every 1,000 steps, not every 100"
        experiments.append(Experiment("Does epsilon decay too fast?", changed, usual._replace(settings=slower), usual))
    return experiments


def experiments() -> list[Experiment]:
    """Every experiment."""
    return [one._replace(group=one.group._replace(heavy=True)) for one in (*_of_ucls(), *_of_others())]


def groups() -> list[Group]:
    """Return the runs behind the table."""
    return [group for one in experiments() for group in (one.group, one.usual)]


HEADS = ["question and domain", "change", "default", "changed", "difference", "runs"]


def rows(evidence: Evidence) -> list[list[str]]:
    """A row for each experiment: both sides with their intervals, and the difference on common seeds."""
    lines = []
    for one in experiments():
        usual, other = (one.sample(evidence, group) for group in (one.usual, one.group))
        at, there = common_seeds(usual.seeds, other.seeds)
        difference = evidence.difference(other, usual)
        sides = [mean_of_runs(s._replace(scores=s.scores[i]).mean) for s, i in ((usual, at), (other, there))]
        apart = "-" if difference is None else interval(difference)
        asked = f"{one.question} {DOMAINS[one.group.env].title}, {WORDS[one.metric]}"
        lines.append([asked, one.changed, *sides, apart, str(len(at))])
    return lines
