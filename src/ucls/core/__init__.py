"""How a run works: the configuration of a learner, the learner, and the run that lets it take steps.

`config` says what a learner is, as data; `learner` makes it; `steps` builds its kernels around those of the algorithm
and the features; `run` is the loop in a built-in environment. `protocol` is what every run has in common, whether in
that loop or in a Gymnasium environment (`ucls.agent`). `history` and `measures` are what happened.
"""
