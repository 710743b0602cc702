"""Coverage and power of comparisons from logs with known values: `python -m bench logs`."""
