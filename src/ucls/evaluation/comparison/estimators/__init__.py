"""The estimators of a policy's value from a log, one file each with its assumptions, and what they share."""
