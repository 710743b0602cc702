"""How a learner calls its kernels: bound to its parts, undone if they fail, and with action masks."""
