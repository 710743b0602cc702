"""Callbacks, called while an agent learns: `agent.learn(20_000, callback=[Evaluate(), CsvLog("log.csv")])`.

A callback is any callable that takes the agent. It is called after every step and stops training by returning False;
the other callbacks are still called in that step. It may also have

- `begin(agent)`, called before the first step of every `learn`;
- `end(agent)`, called after the last step, also after an error or Ctrl-C.

It may query, save, evaluate and copy the agent; `learn`, `advance` and `restore` are refused meanwhile.

`agent.log_metrics({"my/number": 3.0})` adds your own metrics to `agent.metrics`, which the loggers write under the
names of Stable-Baselines3: `rollout/ep_rew_mean`, `eval/mean_reward`, `time/fps`. Periodic callbacks act when the total
number of steps is a multiple of `every`, across calls of `learn`. Files are written atomically.

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
