"""Calls of a learner's kernels: bound to its parts, undone if they fail, and with action masks."""
