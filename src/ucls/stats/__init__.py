"""Statistics of runs: pure functions from numbers to numbers.

`curves` makes comparable curves of runs that differ in length and draws a band around them, `summary` says what one
sample of runs achieved, `comparison` and `pairs` set samples against each other, `episodes` says when a run had learned
its task. Three rules hold in all of them:

- An interval is a percentile bootstrap over runs, drawn within each group where groups (tasks, say) are given, and the
  same for the same seed. Fewer than 20 runs without groups have Student t intervals, except for medians: these are
  wider, and their coverage is as stated. For 1,000 runs and more without groups, intervals and tests come from the
  normal distribution. Constant data have an interval of no width. A single run (or one in each group) has no
  interval: its ends are NaN.
- More is better: negate a measure of which less is better, such as the length of an episode.
- A run diverged if it is marked so or its value is no sound number (not finite, or beyond 1e300). Means, medians and
  IQMs are of the sound runs, with the number of the others beside them; in ranks a diverged run loses to every sound
  one and ties with its like. Nothing else is ever NaN.

Curves:

- `over_steps`, `over_episodes`: a measure of the last episodes of each run, by step or by episode.
- `reward_rate`, `cumulative_reward`: the reward per step, or so far, of each run from its sums over bins.
- `band`: the center of many curves with an interval at each place.
- `moving_mean`: of one curve, the mean over a window.

One sample:

- `scores`: values with runs that diverged marked as minus infinity, as every function below takes them.
- `summarize`, `summarize_many`: mean, median or interquartile mean with an interval; `bootstrap_mean`: of sound values.
- `proportion`: the fraction of runs that succeeded, with Wilson's interval.
- `profile`: the fraction of runs that score at least each of some levels, with a band.
- `solved_after`: after how many episodes a run has learned its task.

Samples against each other:

- `common_seeds`, `paired`: where two samples share seeds, and their difference there, with tests.
- `probability_of_improvement`: the chance that a run of one sample beats one of the other.
- `sequential_p`: the p-value of a difference that may be looked at after every seed.
- `seeds_to_decide`: how many seeds would show a difference like the one so far.
- `holm`: p-values of many comparisons, corrected for any false finding.
"""

from ucls.stats.comparison import probability_of_improvement, profile
from ucls.stats.curves import (
    Band,
    Curves,
    band,
    cumulative_reward,
    moving_mean,
    over_episodes,
    over_steps,
    reward_rate,
)
from ucls.stats.episodes import solved_after
from ucls.stats.pairs import Paired, common_seeds, holm, paired
from ucls.stats.sequential import seeds_to_decide, sequential_p
from ucls.stats.summary import (
    Estimate,
    Summary,
    bootstrap_mean,
    proportion,
    scores,
    summarize,
    summarize_many,
)

__all__ = [
    "Band",
    "Curves",
    "Estimate",
    "Paired",
    "Summary",
    "band",
    "bootstrap_mean",
    "common_seeds",
    "cumulative_reward",
    "holm",
    "moving_mean",
    "over_episodes",
    "over_steps",
    "paired",
    "probability_of_improvement",
    "profile",
    "proportion",
    "reward_rate",
    "scores",
    "seeds_to_decide",
    "sequential_p",
    "solved_after",
    "summarize",
    "summarize_many",
]
