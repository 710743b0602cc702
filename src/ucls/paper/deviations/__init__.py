"""Deviations from the paper's text: each declared as data (`declared`), and its effect measured (`measure`)."""
