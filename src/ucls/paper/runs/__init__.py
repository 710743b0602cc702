"""What is run: the domains, groups of runs as data, the sweeps that tune baselines, and other interpretations."""
