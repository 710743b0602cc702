"""Figures from numbers: as data (`plot`), with axes (`geometry`), and drawn with matplotlib (`draw`)."""
