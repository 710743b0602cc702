"""Unspecified details: do other interpretations change a conclusion?

UCLS and the baselines run with another interpretation of each detail, at the settings they have elsewhere: the question
is whether UCLS learns and which algorithm is ahead, not what new tuning would find. Only for another hash-table size
are the baselines tuned again, once that search is done.
"""

from typing import Any, NamedTuple

from ucls.features.tiles import Settings
from ucls.paper.evidence import Evidence, Sample, optimum
from ucls.paper.numbers import mean_of_runs, number
from ucls.paper.runs import alternatives
from ucls.paper.runs.alternatives import SMALL_STEP, TILE_MEMORY, W_STEP
from ucls.paper.runs.domains import DOMAINS, PRINTED, PUDDLE, READING, RIVER, SPARSE, has_tiles
from ucls.paper.runs.groups import MAIN, Group, tuned, ucls
from ucls.stats import summarize

BASELINES = ("sarsa-optimistic", "dgpq", "ucbootstrap")


class OpenChoice(NamedTuple):
    """A detail that the paper does not specify: its name, the other interpretation, and the settings for it.

    The hash-table size has no settings of its own: `alternatives` changes it, with baselines tuned again for it.
    """

    name: str
    title: str
    env: str
    settings: dict[str, Any]
    of_ucls_only: bool = False
    deep: bool = False


THRESHOLD = alternatives.THRESHOLD.name, "trace threshold 0, literal"
VALUE = alternatives.VALUE.name, "feature value 1"
ROOT = alternatives.ROOT.name, "feature value 1/sqrt_n"
MEMORY = TILE_MEMORY.name, "collision-free table" if READING == PRINTED else "table size 128, literal"
CODER = "the coder", "state and action hashed together"
BORDERS = "the coder at the borders", "no tiles beyond the borders"
STEP = W_STEP.name, f"w_step {SMALL_STEP:g}"

CHOICES = (
    OpenChoice(*THRESHOLD, RIVER, {"trace_threshold": 0}, of_ucls_only=True),
    OpenChoice(*THRESHOLD, PUDDLE, {"trace_threshold": 0}, of_ucls_only=True),
    OpenChoice(*VALUE, RIVER, {"feature_value": "1"}),
    OpenChoice(*VALUE, PUDDLE, {"feature_value": "1"}),
    OpenChoice("the tiling", "4 tilings of 32, literal", RIVER, {"tilings": 4, "tiles": 32}),
    OpenChoice("the noise", "noise 0.01", PUDDLE, {"noise_std": 0.01}),
    OpenChoice(*ROOT, RIVER, {"feature_value": "1/sqrt_n"}, deep=True),
    OpenChoice(*ROOT, PUDDLE, {"feature_value": "1/sqrt_n"}, deep=True),
    OpenChoice(*MEMORY, RIVER, {}, deep=True),
    OpenChoice(*MEMORY, PUDDLE, {}, deep=True),
    OpenChoice(*CODER, RIVER, {"hashing": "joint"}, deep=True),
    OpenChoice(*CODER, PUDDLE, {"hashing": "joint"}, deep=True),
    *(OpenChoice(*BORDERS, env, {"hashing": "clipped"}, deep=True) for env in MAIN),
    *(OpenChoice(*STEP, env, {"w_step": SMALL_STEP}, of_ucls_only=True, deep=True) for env in MAIN),
    OpenChoice("the probabilities", "Osband's probabilities", RIVER, {"probabilities": "osband"}),
)


def group_of(choice: OpenChoice, key: str) -> Group:
    """Return the runs of an algorithm with the other interpretation of a detail."""
    base = ucls(choice.env) if key == "ucls" else tuned(key, choice.env)
    if choice.name == TILE_MEMORY.name:
        return TILE_MEMORY.change(base)
    given = choice.settings
    if not has_tiles(base.agent):
        given = {name: v for name, v in given.items() if name not in Settings._fields}
    settings = {**dict(base.settings), **given}
    heavy = not choice.deep or base.heavy
    return base._replace(settings=tuple(settings.items()), keep=base.keep and not given, heavy=heavy, deep=choice.deep)


def groups() -> list[Group]:
    """Return the runs behind the table."""
    keys = {choice.title: ("ucls",) if choice.of_ucls_only else ("ucls", *BASELINES) for choice in CHOICES}
    return [group_of(choice, key) for choice in CHOICES for key in keys[choice.title]]


def optimum_with(choice: OpenChoice) -> float:
    """Return the optimal reward per step, return or length of an episode, with the other interpretation of a detail."""
    world = {name: value for name, value in choice.settings.items() if name in ("noise_std", "probabilities")}
    best = optimum(choice.env, **world)
    return {RIVER: best.reward_rate, PUDDLE: best.episode_return, SPARSE: best.episode_steps}[choice.env]


def rows(evidence: Evidence) -> list[list[str]]:
    """Return a row for each detail: UCLS with the default and with the other interpretation, and which algorithm is
    ahead."""
    lines = []
    for choice in CHOICES:
        mine, usual = evidence.final(group_of(choice, "ucls")), evidence.final(ucls(choice.env)).mean
        keys = () if choice.of_ucls_only else BASELINES
        baselines = {key: evidence.final(group_of(choice, key)) for key in keys}
        level, other = optimum_with(choice), mine.mean
        ahead = [key for key, theirs in baselines.items() if _ahead(theirs, mine)]
        who = "-" if choice.of_ucls_only else ", ".join(ahead) or "none"
        runs = str(other.runs + other.diverged)
        lines.append(
            [
                choice.title,
                DOMAINS[choice.env].title,
                mean_of_runs(usual),
                mean_of_runs(other),
                number(level),
                who,
                runs,
            ]
        )
    return lines


HEADS = ["choice", "domain", "UCLS, default", "UCLS, changed", "optimum", "baselines significantly ahead", "runs"]


def _ahead(mine: Sample, theirs: Sample) -> bool:
    """Return whether one mean is significantly better than another; if all runs diverged, it is worse than any
    other."""
    ours, other = summarize(mine.scores), summarize(theirs.scores)
    if ours.low is None:
        return False
    return bool(other.diverged) if other.high is None else ours.low > other.high
