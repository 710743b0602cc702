"""What is saved of a learner: its state as arrays, whether those can be saved, and checkpoint files."""
