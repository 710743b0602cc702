"""What a study consists of: cells, sweeps, and the TOML files that declare them."""
