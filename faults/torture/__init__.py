"""Fuzzing and fault injection: corrupted files, mutated texts, invalid numbers, killed processes."""
