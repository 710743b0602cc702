"""How a run works: the configuration of a learner, the learner, and the run that advances it.

`config` describes a learner as data, `learner` creates it, and `steps` builds its step functions from those of the
algorithm and the features. `run` is the loop in a built-in environment. `protocol` is the interface of every run,
whether in that loop or in a Gymnasium environment (`ucls.agent`). `history` and `metrics` are its results.
"""
