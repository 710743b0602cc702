"""The text of docs/environments.md: findings, protocol, and notes on single environments."""

BEFORE = """
How the built-in algorithms perform with default settings in 17 well-known environments, beside DQN and PPO from
Stable-Baselines3. Nothing was tuned per environment and no run was left out. Two defaults were chosen with some of
these environments in view, though. Those for discrete states were chosen in FrozenLake, CliffWalking and Deep Sea
(seeds 700 to 794). Fourier features became the default for four or more components after runs in CartPole and Acrobot
(seeds 0 to 9).
"""

FINDINGS = """
- It is the only agent here that learns FrozenLake 8x8 (slippery) and Deep Sea of size 20 and 30. In Taxi its greedy
  policies are near-optimal, and those of the others are not.
- **CartPole**: it is the best built-in algorithm. PPO's greedy policies are better, from three runs and with about 17
  times the processor time.
- **Acrobot**: it is behind both kinds of Sarsa and UCLS with the same features.
- **LunarLander**: no built-in algorithm learns to land within 50,000 steps. DQN is ahead.
- **MiniGrid Empty 8x8 and DoorKey**: it learns excellent policies, but still explores when the steps end, so returns
  during training are low. Evaluate the greedy policy before judging a run.
- **Cost**: in most environments a run takes between a tenth of a second and ten seconds of processor time. With
  Taxi's 3,000 features it takes 99 seconds, against about one for Sarsa.
"""

DATA = """
[environments-summary.csv](data/environments-summary.csv) has every mean with its 95% interval, and processor time;
[environments.csv](data/environments.csv) has a line for each run.
"""

AFTER = """
## Protocol

- Values are means over runs; 10 seeds for built-in algorithms, 3 for DQN and PPO. Taxi has one run of UCLS, and
  MiniGrid Empty 8x8 six of optimistic Sarsa. Intervals in the data are Student t intervals; with three runs they say
  little.
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
- DQN and PPO have the default settings of Stable-Baselines3, which are meant for more steps. PPO collects 2,048 steps
  at a time, so it takes up to 2,047 more than requested. Both get flattened observations in Blackjack.
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
        "The optimal return is -13. Most runs of UCLS-Exact settle on a path one row further from the cliff. Their "
        "estimates at the edge still include early falls, because no data is discounted."
    ),
    "Taxi-v4": (
        "500 states and 6 actions make 3,000 features, so least squares takes 2 ms per step. UCLS-Exact learns "
        "near-optimal policies without being given the maximum return of 20."
    ),
    "MiniGrid DoorKey 5x5": (
        "Key, door and wall move in every episode, so some state is always new. There UCLS-Exact expects more than the "
        "goal yields, and it keeps exploring until the steps end."
    ),
}
