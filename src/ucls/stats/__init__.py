"""Statistics of runs: pure functions from numbers to numbers.

`curves` makes comparable curves of runs that differ in length and draws a band around them, `summary` says what one
sample of runs achieved, `comparison` and `pairs` set samples against each other, `episodes` says when a run had learned
its task. Three rules hold in all of them:

- An interval is a percentile bootstrap over runs, drawn within each group where groups (tasks, say) are given, and the
  same for the same seed. Data without spread, or a single run, has an interval of no width: look at the number of runs.
- More is better: negate a measure of which less is better, such as the length of an episode.
- A run diverged if it is marked so or its value is no sound number (not finite, or beyond 1e300). Means, medians and
  IQMs are of the sound runs, with the number of the others beside them; in ranks a diverged run loses to every sound
  one and ties with its like. No result is ever NaN.
"""

from ucls.stats.comparison import probability_of_improvement, profile
from ucls.stats.curves import (
    Band,
    Curves,
    area_under,
    band,
    cumulative_reward,
    moving_mean,
    over_episodes,
    over_steps,
    regret,
    reward_rate,
)
from ucls.stats.episodes import solved_after
from ucls.stats.pairs import Paired, benjamini_hochberg, common_seeds, holm, paired, sign_flip_test
from ucls.stats.summary import (
    Estimate,
    Summary,
    bootstrap_mean,
    proportion,
    scores,
    summarise,
    summarise_many,
)

__all__ = [
    "Band",
    "Curves",
    "Estimate",
    "Paired",
    "Summary",
    "area_under",
    "band",
    "benjamini_hochberg",
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
    "regret",
    "reward_rate",
    "scores",
    "sign_flip_test",
    "solved_after",
    "summarise",
    "summarise_many",
]
