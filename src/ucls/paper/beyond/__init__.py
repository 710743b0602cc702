"""Benchmarks of `ucls-exact`: baselines, ablation, sensitivity to its settings, and long runs."""
