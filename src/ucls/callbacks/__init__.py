"""What can be done while an agent learns: `agent.learn(20_000, callback=[Evaluate(), CsvLog("log.csv")])`.

A callback is anything that can be called with the agent. It is called after every step, and stops the learning by
returning False; the others are called in that step all the same. It may have, besides,

- `begin(agent)`, called before the first step of every `learn`;
- `end(agent)`, called after the last, however that came about: an error or Ctrl-C are no excuse.

It may ask, save, evaluate and copy the agent; `learn`, `advance` and `restore` are refused meanwhile.

To measure something, `agent.note({"my/number": 3.0})` adds it to `agent.metrics`, which the logs here write: under the
names of Stable-Baselines3, `rollout/ep_rew_mean`, `eval/mean_reward`, `time/fps`. Those that act every so many steps do
so when the agent's steps are a multiple of that, whatever the calls of `learn` are; one comparison is all they cost
else. What they keep is written whole or not at all.

>>> import ucls
>>> agent = ucls.Agent("FrozenLake-v1", seed=1)
>>> _ = agent.learn(500, callback=StopOnReturn(0.0, episodes=3))
>>> agent.episodes
3
"""

from ucls.callbacks.csv_log import CsvLog
from ucls.callbacks.keeping import Checkpoint, Evaluate
from ucls.callbacks.periodic import Log, Periodic
from ucls.callbacks.stopping import StopOnReturn
from ucls.callbacks.tensorboard import TensorBoard
from ucls.callbacks.weights_and_biases import WeightsAndBiases

__all__ = [
    "Checkpoint",
    "CsvLog",
    "Evaluate",
    "Log",
    "Periodic",
    "StopOnReturn",
    "TensorBoard",
    "WeightsAndBiases",
]
