"""Baselines with regret bounds, one file each; `ucls.algorithms` has the contract."""
