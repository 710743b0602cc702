"""Studies in processes of their own that are killed and stopped on purpose: what the tests and the benchmark share.

- `driver` is such a study: `python -m faults.driver STORE --cells N --runner NAME`;
- `kills` kills its driver, its workers or a node, and holds the store against that of an undisturbed run;
- `troubles` gives a runner all troubles at once, and records what it made of them;
- `slurm` starts a Slurm of one node on this machine;
- `processes` finds processes, and what they listen on.
"""
