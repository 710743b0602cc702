"""The text of docs/environments.md: findings, protocol, and notes on single environments."""

BEFORE = """
How the built-in algorithms perform with default settings in 17 well-known environments, beside DQN and PPO from
Stable-Baselines3. Nothing was tuned per environment and no run was left out. Two defaults were chosen with some of
these environments in view, though. Those for discrete states were chosen in FrozenLake, CliffWalking and Deep Sea
(seeds 700 to 794 for UCLS-Exact, seeds from 900 on for UCLS-Plan). Fourier features became the default for four or
more components after runs in CartPole and Acrobot (seeds 0 to 9); the products of four components and `lambda` that
UCLS-Plan uses with them were chosen in CartPole and Acrobot (seeds from 3000 on).
"""

FINDINGS = """
- It and UCLS-Exact are the only agents here that learn FrozenLake 8x8 (slippery) and Deep Sea of size 20 and 30, and
  the only ones with near-optimal policies in Taxi. DQN and PPO have default settings there.
- **Against UCLS-Exact**: in CliffWalking its policies are optimal (-13 instead of -15), and in Acrobot they are
  better by 19 [7, 32]. They are worse in LunarLander, by 40 [1, 79], where neither lands; in Blackjack, by 0.016
  [0.009, 0.022]; and in DoorKey, by 0.002 [0.0004, 0.004]. Intervals are Student t intervals of differences paired by
  seed. In the other 12 environments there is no significant difference.
- **End of training**: where nothing is noisy it has stopped exploring when its steps end. In MiniGrid Empty 8x8 and
  DoorKey its last episodes are as good as its greedy policy (0.96), while UCLS-Exact still explores (0.30 and 0.01).
- **CartPole**: 3 of 10 runs settle for a policy that drifts off the track within 180 to 320 steps; the others balance
  for all 500. UCLS-Exact, whose features are pairs of components, has lasted longer in its last episodes (457 steps
  against 411).
- **Acrobot**: it is behind both kinds of Sarsa and UCLS with the same features.
- **LunarLander**: no built-in algorithm learns to land within 50,000 steps. DQN is ahead.
- **Cost**: a run takes between a quarter of a second and 14 seconds of processor time, and 44 seconds in LunarLander.
  In Taxi it takes 6 seconds, where UCLS-Exact takes 99.
"""

DATA = """
[environments-summary.csv](data/environments-summary.csv) has every mean with its 95% interval, and processor time;
[environments.csv](data/environments.csv) has a line for each run.
"""

AFTER = """
## Protocol

- Values are means over runs; 10 seeds for built-in algorithms, fewer for DQN, QR-DQN and PPO. Taxi has one run of
  UCLS, and MiniGrid Empty 8x8 six of optimistic Sarsa. Intervals in the data are Student t intervals; with three runs
  they say little.
- The greedy policy takes the action with the highest estimated mean. It is evaluated after training, in 100 to 10,000
  separate episodes. Where an environment has no time limit (CliffWalking), they are truncated after 1,000 steps.
- *Steps to threshold* is the first step at which the mean return of 20 consecutive episodes reaches the threshold.
  Thresholds are Gymnasium's own, with these exceptions. CartPole has that of CartPole-v0, because 475 takes longer
  runs. FrozenLake 8x8 has that of 4x4 instead of 0.85. Taxi has 0, because 8 cannot be reached while exploring. Where
  Gymnasium has none, the threshold is close to the maximum possible return.
- Processor time is that of training on one core. It includes the environment and excludes compilation.
- Every built-in algorithm has a discount of 0.99 and the features that `ucls.Agent` chooses by default: one-hot for
  discrete states, tiles for up to three components, Fourier features for more.
- Sarsa explores with epsilon 0.1. *Sarsa, optimistic* has epsilon 0 and starts every value at the maximum possible
  return, which has to be given (`initial_value` in the study). The other algorithms are not given it, except in Deep
  Sea, which declares it.
- DQN, QR-DQN and PPO have the settings of rl-zoo in the environments that are in [the table of deep
  agents](#deep-agents-with-tuned-settings). Elsewhere DQN and PPO have the defaults of Stable-Baselines3 and 3 seeds;
  these are meant for more steps. PPO collects up to 2,048 steps at a time, so it takes up to 2,047 more than requested
  (16,384 with the settings of rl-zoo for LunarLander). Both get flattened observations in Blackjack.
- [`examples/minigrids.py`](../examples/minigrids.py) encodes MiniGrid's state as integers: position, direction, and
  in DoorKey the positions of key and door and the state of the door. Actions without effect are left out.

## Notes on single environments
"""

NOTES = {
    "CartPole-v1": (
        "Optimistic Sarsa soon prefers one action in every state, and without epsilon it never leaves that policy."
    ),
    "Acrobot-v1": (
        "The prior of UCLS-Exact is part of the reason why it is behind. On seeds 700 to 709 the last episodes have a "
        "mean return of -118; with `prior_visits` = 0.05 instead of 1 it is -108, and that of UCLS is -107. In "
        "CartPole, which has Fourier features too, so small a `prior_visits` costs more than half of the return. "
        "Other values of `lambda`, `noise_scale` and the discount, and other features, did not help (4 runs each)."
    ),
    "LunarLander-v3": (
        "More Fourier features (order 3), tighter observation bounds, another `prior_visits` and a `return_max` of 200 "
        "did not help (2 or 3 runs each, seeds from 700)."
    ),
    "FrozenLake 4x4, slippery": (
        "The optimal policy has a value of 0.74. Where UCLS-Exact misses it, one action is wrong, in the cell beside "
        "the goal: tried once or twice without success, it shows no noise yet and looks worse than another. With the "
        "defaults for continuous states (`prior_visits` = 1, `lambda` = 0.4) this happened in every third run, which "
        "is why discrete states have their own. RLSVI assumes a noise standard deviation of 1 (`sigma`), as large as "
        "the whole return; with a tenth of that, a run on another seed learned the task."
    ),
    "CliffWalking-v1": (
        "The optimal return is -13, which every run of UCLS-Plan reaches. Most runs of UCLS-Exact settle on a path one "
        "row further from the cliff. Their "
        "estimates at the edge still include early falls, because no data is discounted."
    ),
    "Taxi-v4": (
        "500 states and 6 actions make 3,000 features, so least squares takes 2 ms per step. UCLS-Exact learns "
        "near-optimal policies without being given the maximum return of 20."
    ),
    "MiniGrid DoorKey 5x5": (
        "Key, door and wall move in every episode, so some state is always new. There UCLS-Exact expects more than the "
        "goal yields, and it keeps exploring until the steps end. UCLS-Plan has stopped exploring by then."
    ),
    "Blackjack-v1": (
        "Rare hands are met a few times in 20,000 steps. UCLS-Plan believes what it saw there, while the prior of "
        "UCLS-Exact, worth 1.75 visits instead of 0.03, keeps its estimates near 0. This may be why it is ahead; we "
        "have not tested it."
    ),
}
