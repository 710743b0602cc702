"""Linear algebra for algorithms: products, solvers, updated inverses, averages, traces, Gaussian processes."""
