"""The output of commands: tables, JSON, progress, and closed pipes."""
