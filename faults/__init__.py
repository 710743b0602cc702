"""Studies in separate processes that are killed and stopped on purpose, for tests and benchmarks.

- `driver` is such a study: `python -m faults.driver STORE --cells N --runner NAME`;
- `kills` kills its driver, its workers or a node, and holds the store against that of an undisturbed run;
- `troubles` gives a runner all troubles at once, and records what it made of them;
- `slurm` starts a Slurm of one node on this machine;
- `processes` finds processes, and what they listen on.
"""
