"""The runs as data: the domains, groups of runs, the sweeps that tune baselines, and other interpretations."""
