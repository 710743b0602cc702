"""What test files share: oracles, recorded runs, commands, third-party environments, a browser."""
