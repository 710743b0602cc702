"""The files of a study: results in a store, checkpoints of unfinished runs, exports, and recovery."""
