"""What commands are given: options that several share, completion, and saved runs or environments."""
