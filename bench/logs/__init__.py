"""Coverage and power of comparisons from logs, where the truth is known: `python -m bench logs`."""
