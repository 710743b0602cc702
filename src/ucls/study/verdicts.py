"""Verdicts on pairs of labels on common seeds: corrected tests, and how many more seeds would decide."""

import itertools
from typing import NamedTuple

import numpy as np

from ucls.core.metrics import sign_of, signed
from ucls.stats import common_seeds, holm, paired, probability_of_improvement, seeds_to_decide, sequential_p
from ucls.study.compare import Samples, ends_of, refuse_unknown_label

LEVEL = 0.05
PAIRS = 66  # in one environment: all of twelve labels; of more labels, the best is compared with the next ones
FAR = 100_000  # seeds: more would be no advice


class Verdict(NamedTuple):
    """Two labels in one environment, the one with the higher mean first.

    `difference` is the mean over common seeds with its 95% interval, in the metric's own direction; `better` the
    probability that a run of the first beats one of the second. `p` and `p_sequential` have Holm's correction for all
    pairs of the study; the first is for a number of seeds that was fixed in advance, the second for any. `winner` is
    the better label if p is at most 0.05, and `decided` says that p_sequential is too. `more_seeds` would decide, with
    probability 0.8, if the difference is as it seems; None if there is none to speak of, or nothing to say.
    """

    env: str
    metric: str
    first: str
    second: str
    seeds: int
    difference: tuple[float | None, float | None, float | None] | None
    better: float
    p: float
    p_sequential: float
    winner: str | None
    decided: bool
    more_seeds: int | None


def verdicts_of(samples: Samples, baseline: str | None = None) -> list[Verdict]:
    """Compare the labels of each environment with the baseline, or each with each."""
    refuse_unknown_label(samples, baseline)
    pairs, total = [], 0
    for env in sorted({env for env, _ in samples}):
        labels = [label for of, label in samples if of == env and len(samples[of, label].scores)]
        labels.sort(key=lambda label: -_mean(samples[env, label].scores))
        if baseline is not None:
            some = [(a, b) for a, b in itertools.combinations(labels, 2) if baseline in (a, b)]
            total += len(some)
        else:
            some = list(itertools.islice(itertools.combinations(labels, 2), PAIRS))  # those with the best come first
            total += len(labels) * (len(labels) - 1) // 2
        pairs += [(env, *pair) for pair in some]
    level = LEVEL / max(1, total)
    found = [_compared(samples, env, first, second, level) for env, first, second in pairs]
    verdicts = [verdict for verdict in found if verdict is not None]
    p, p_sequential = (holm([getattr(v, name) for v in verdicts], total) for name in ("p", "p_sequential"))
    return [_judged(*each) for each in zip(verdicts, p.tolist(), p_sequential.tolist(), strict=True)]


def _mean(scores: np.ndarray) -> float:
    sound = scores[~np.isneginf(scores)]
    return float(sound.mean()) if len(sound) else -np.inf


def _compared(samples: Samples, env: str, first: str, second: str, level: float) -> Verdict | None:
    """Two labels, with p-values that are not corrected yet; None without common seeds."""
    mine, theirs = samples[env, first], samples[env, second]
    at, other = common_seeds(mine.seeds, theirs.seeds)
    x, y = mine.scores[at], theirs.scores[other]
    pair, better = paired(x, y), probability_of_improvement(mine.scores, theirs.scores)
    if pair is None or better is None:
        return None
    with np.errstate(invalid="ignore"):  # two runs that diverged tie
        difference = np.where(x == y, 0.0, x - y)
    wanted = seeds_to_decide(difference, level)
    more = None if wanted is None or wanted > FAR else max(1, wanted - len(x))
    ends = None if pair.difference is None else ends_of(signed(pair.difference, sign_of(mine.metric)))
    p = pair.p_rank if pair.dropped else pair.p
    ahead = pair.wins >= pair.losses if pair.dropped or pair.difference is None else pair.difference.mean >= 0
    winner, p_sequential = first if ahead else second, sequential_p(difference)
    return Verdict(env, mine.metric, first, second, len(x), ends, better.mean, p, p_sequential, winner, False, more)


def _judged(verdict: Verdict, p: float, p_sequential: float) -> Verdict:
    """Return the verdict with corrected p-values."""
    decided = p_sequential <= LEVEL
    found = decided or p <= LEVEL
    winner, more = (verdict.winner, None) if found else (None, verdict.more_seeds)
    return verdict._replace(p=p, p_sequential=p_sequential, winner=winner, decided=decided, more_seeds=more)


def answer_of(verdict: Verdict) -> str:
    """A verdict in a few words."""
    if verdict.winner is not None:
        return f"{verdict.winner} is better{'' if verdict.decided else f', if {verdict.seeds} seeds were planned'}"
    if verdict.more_seeds is None:
        return "inconclusive: no number of seeds is likely to decide"
    return f"inconclusive: about {verdict.more_seeds:,} more seed{'s' * (verdict.more_seeds > 1)} would decide"


def sentence_of(verdict: Verdict) -> str:
    """A verdict in a sentence."""
    v = verdict
    if v.winner is None:
        return f"No significant difference between {v.first} and {v.second} ({answer_of(v)})."
    other, better = (v.second, v.better) if v.winner == v.first else (v.first, 1.0 - v.better)
    plan = "" if v.decided else f", if {v.seeds} seeds were planned in advance"
    return f"{v.winner} is better than {other}{plan}; its runs beat those of {other} with probability {better:.2f}."
