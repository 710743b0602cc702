"""What test files share: oracles, recorded runs, commands, environments that are not ours, a browser."""
