"""The content of a study: run specifications, sweeps, and the TOML files that declare them."""
