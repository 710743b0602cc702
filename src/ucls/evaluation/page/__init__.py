"""A comparison as an HTML page to hand on: one file with everything in it."""

from ucls.evaluation.page.page import write_report

__all__ = ["write_report"]
