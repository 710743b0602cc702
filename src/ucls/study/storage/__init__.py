"""What a study leaves: results in a store, checkpoints of unfinished runs, exports, and recovery."""
