"""The commands about logs of episodes: `ucls check-log`, `ucls compare-log` and `ucls learn-log`."""
