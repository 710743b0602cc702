"""Figures: numbers in, pictures out. The one door to matplotlib, which `draw`, `coverage` and `diagnosis` open."""
