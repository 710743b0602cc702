"""Ways to hand in what nobody should: damaged files, mutated texts, absurd numbers."""
