"""Planning on remembered transitions: prioritized sweeping, blocks of states solved together, and what they need."""
