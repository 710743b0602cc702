"""The words of the page: how things were measured, and why some agents fail where they do. Numbers come from runs."""

BEFORE = """
What the agents reach at their defaults: nobody has settings of its own for an environment, and no run was left out.
Some defaults were chosen with a look at these, though. Numbered states have theirs from lakes, a cliff and a sea
(seeds 700 to 794). That four numbers and more have waves was seen with the pole and the acrobot (seeds 0 to 9).

<!-- not run: it takes hours, and installs from the network -->
```sh
pip install 'ucls[environments]'
python -m bench environments             # the study examples/environments.toml, in one process
pip install 'ucls[baselines]'
python -m bench environments --rivals    # DQN and PPO of Stable-Baselines3
python -m bench environments --no-run --page docs/environments.md
```

`ucls study run` runs the same study on all cores; the commands above also measure processor time and greedy policies.
Every run is a line of [data/environments.csv](data/environments.csv).
"""

AFTER = """
## How to read the tables

- Numbers are means over runs with 95% intervals, Student's. Runs differ in their seed, from 0 upwards. With three runs
  an interval says little.
- *Last 20 episodes* is the mean return while learning, exploration and all. *Greedy* is that of the actions with the
  best means after the last step, in episodes that nobody learned from.
- *Steps to threshold* are those after which 20 episodes in a row first had the threshold as their mean return. They are
  means of the runs that got there, which are counted.
- *CPU s* is processor time of the learning on one core, the environment's part included, compiling not. Other work
  shared the machine.
- Every agent has a discount of 0.99, and the features that `ucls.Agent` chooses by itself. They are one for each state
  where states are numbered, tiles for up to three numbers, waves for more.
- Sarsa explores with epsilon 0.1. *Sarsa, optimistic* has none and starts every value at the best return there is,
  which somebody must know: `gmax` in the study. Deep Sea, which is ours, declares it; elsewhere nobody else is told.
- DQN and PPO are Stable-Baselines3's with its defaults, which are not meant for so few steps. PPO learns from 2,048
  steps at a time, so it takes up to 2,047 more than asked. Blackjack's observations are flattened for both.
- MiniGrid's rooms are told in whole numbers by [`examples/minigrids.py`](../examples/minigrids.py): position,
  direction, and in DoorKey the places of key and door and the door's state. Actions that do nothing are left out.
- Where an environment has no limit (CliffWalking), a policy that is tried is cut off after 1,000 steps.
"""

NOTES = {
    "CartPole-v1": "Optimistic Sarsa soon keeps to one action everywhere, and without epsilon nothing leads it away.",
    "FrozenLake 4x4, slippery": (
        "The best policy is worth 0.74. Where `ucls-exact` misses it, it is by one action in the cell beside the goal. "
        "Tried once or twice, with bad luck, it shows no noise yet and stays below another. With `m` = 1 and `lambda` "
        "= 0.4, as elsewhere, that was so in every third run. So numbered states have defaults of their own, chosen "
        "among about 15 pairs on seeds 700 to 794, with Deep Sea beside. RLSVI takes every target to be noisy "
        "with a deviation of 1 (`sigma`), which is the whole return here. With a tenth of that a run on another seed "
        "learned the lake."
    ),
    "Acrobot-v1": (
        "The one environment where `ucls-exact` is behind Sarsa and `ucls`, with the same waves. Its prior has a "
        "part in that. On seeds 700 to 709 the last episodes are worth -118, and with `m` = 0.05 in place of 1 they "
        "are worth -108. Those of `ucls` are worth -107. But in CartPole, which has waves too, so small an `m` "
        "costs more than half of the return. Another `lambda`, `factor` or discount, or other features, made no "
        "difference or a bad one (4 runs each)."
    ),
    "LunarLander-v3": (
        "No agent of ours learns to land. More waves (order 3) and bounds as narrow as those of a good flight did "
        "not help. Nor did another `m`, or a `return_max` of 200 (2 or 3 runs each, seeds from 700). DQN is ahead "
        "here."
    ),
    "Taxi-v4": (
        "500 states and 6 actions are 3,000 features: least squares takes 2 ms a step here, and Sarsa hardly any. "
        "Untold that 20 is the best there is, `ucls-exact` finds policies as good as the best."
    ),
    "MiniGrid DoorKey 5x5": (
        "Key, door and wall are elsewhere in every episode. So there is always a state that `ucls-exact` has not "
        "seen, where it hopes for more than the goal pays. When the steps end it still explores, and hardly gets to "
        "the goal on the way. What it has learned by then is the best policy of all."
    ),
    "CliffWalking-v1": (
        "Most runs of `ucls-exact` end on a detour a row away from the cliff. At the edge it remembers what followed "
        "there at first, falls included; nothing is forgotten, and it does not go there again."
    ),
}
