"""The input of commands: options that several share, completion, and saved runs or environments."""
