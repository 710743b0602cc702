"""Agents with default settings in well-known environments: `python -m bench environments`."""
