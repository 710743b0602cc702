"""How kernels are compiled, and how their machine code is kept for the next process."""
