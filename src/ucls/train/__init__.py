"""What `ucls train` does: a run by name (`open_run`), its folder, how it is stopped, kernels compiled in advance."""
