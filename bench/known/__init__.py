"""What agents reach at their defaults in environments people know: `python -m bench environments`."""
