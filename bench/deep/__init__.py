"""Deep agents with settings tuned by others: `python -m bench deep`.

`recipes` has the settings of rl-zoo, as data; `places` says where they are used; `priors` is Bootstrapped DQN with
randomized priors; `measure` makes the runs, and `tables` shows them on docs/environments.md.
"""
