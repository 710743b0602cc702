"""The implementation of `ucls train`: a run by name (`open_run`), its folder, stopping, compilation in advance."""
