"""The benchmark: many environments, one setting for all of them.

An entry is an algorithm in the package's contract, or any object with `learn` and `predict`; it has one setting. Every
run of it is the same number of steps in a task (an environment with its settings), with a seed.

- `tasks` are the environments to develop on, as data; `generated` makes others from the digest of an entry's code;
- `scale` computes what a random policy and the best known one achieve, which scores lie between;
- `entry` finds out what is entered, `run` runs it by a study, `objects` by a pool of processes of its own;
- `result` is the file of an entry's runs: written, read and checked; `scores` computes everything from it;
- `page` shows such files; `bsuite` has the experiments and scores of bsuite.
"""
