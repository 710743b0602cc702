"""Intervals off policy, measured as the table of `bench.off_policy` is."""

from bench.off_policy import measure
from ucls.evaluation.off_policy import LARGEST


def test_intervals_with_the_chosen_lambda_cover_what_they_should():
    row = measure("garnet", 0.2, 0.6, None, runs=60)
    assert row.growth <= LARGEST
    assert 86 <= row.coverage[0] <= 98
    assert row.error < 0.5 * measure("garnet", 0.2, 0.6, 0.9, runs=60).error
