"""Curves of runs that differ in length, and the bands around them."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucls import stats
from ucls.errors import UserError

STATISTICS = ("mean", "median", "iqm")
numbers = st.floats(-1e6, 1e6, allow_subnormal=False)


def brute_over_steps(lengths, measures, steps, at, window):
    """The last `window` episodes that have ended at or before each step, run by run."""
    found = []
    for run, measure, taken in zip(lengths, measures, steps, strict=True):
        row = []
        for t in at:
            ended = [m for end, m in zip(itertools.accumulate(run), measure, strict=True) if end <= t]
            row.append(np.mean(ended[-window:]) if ended and t <= taken else None)
        found.append(row)
    return found


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.lists(st.integers(1, 9), max_size=12), min_size=1, max_size=5),
    st.lists(st.integers(0, 60), min_size=1, max_size=8),
    st.integers(1, 4),
    st.integers(0, 20),
)
def test_curves_over_steps_equal_brute_force_on_runs_of_unequal_episodes(lengths, at, window, unfinished):
    steps = [sum(run) + unfinished for run in lengths]
    returns = [[-1.5 * length for length in run] for run in lengths]
    found = stats.over_steps(lengths, returns, steps, at, window)
    for row, heights, known in zip(
        brute_over_steps(lengths, returns, steps, at, window), found.heights, found.known, strict=True
    ):
        assert [x is not None for x in row] == known.tolist()
        assert [x for x in row if x is not None] == pytest.approx(heights[known].tolist())
        assert not heights[~known].any()


def test_band_says_how_many_runs_are_behind_each_place_and_leaves_out_the_rest():
    curves = stats.over_steps([[10], [30], []], [[1.0], [3.0], []], [50, 40, 50], at=[5, 10, 30, 40, 50])
    found = stats.band(curves, "median")
    assert found.at.tolist() == [10, 30, 40, 50]
    assert found.runs.tolist() == [1, 2, 2, 1]
    assert found.center.tolist() == [1.0, 2.0, 2.0, 1.0]
    np.testing.assert_array_equal(found.low, [np.nan, 1.0, 1.0, np.nan])
    np.testing.assert_array_equal(found.high, [np.nan, 3.0, 3.0, np.nan])


def test_curve_over_episodes_is_of_the_runs_that_got_so_far():
    found = stats.band(stats.over_episodes([[4.0, 2.0, 1.0], [6.0], [8.0, 4.0], []]), "median")
    assert found.at.tolist() == [1, 2, 3]
    assert found.runs.tolist() == [3, 2, 1]
    assert found.center.tolist() == [6.0, 3.0, 1.0]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_band_at_a_place_is_the_summary_of_the_runs_that_know_it(statistic):
    rng = np.random.default_rng(3)
    curves = stats.over_episodes([rng.normal(size=n) for n in (5, 9, 9, 2, 7, 0)], window=2)
    found = stats.band(curves, statistic)
    assert len(found.at) == 9
    for i in range(9):
        knows = curves.known[:, i]
        one = stats.summarize(curves.heights[knows, i], statistic=statistic)
        assert (found.center[i], found.low[i], found.high[i], found.runs[i]) == pytest.approx(one[:4], nan_ok=True)


def test_rewards_of_bins_become_rates_and_totals_with_a_short_last_bin():
    rewards, steps = [[10.0, 20.0, 6.0], [10.0, 0.0]], [25, 20]
    rate = stats.reward_rate(rewards, 10, steps)
    assert rate.at.tolist() == [10, 20, 25]
    assert rate.heights.tolist() == [[1.0, 2.0, 1.2], [1.0, 0.0, 0.0]]
    assert rate.known.tolist() == [[True, True, True], [True, True, False]]
    total = stats.cumulative_reward(rewards, 10, steps)
    assert total.heights.tolist() == [[10.0, 30.0, 36.0], [10.0, 10.0, 0.0]]


def test_a_run_that_stopped_inside_a_bin_does_not_know_it():
    found = stats.reward_rate([[10.0, 20.0], [10.0, -1e250]], 10, [20, 13])
    assert found.known.tolist() == [[True, True], [True, False]]
    assert stats.band(found).center.tolist() == [1.0, 2.0]


def test_bins_that_do_not_fit_the_steps_are_refused():
    with pytest.raises(UserError, match="bins of reward"):
        stats.reward_rate([[1.0, 2.0]], 10, [25])
    with pytest.raises(UserError, match="run 1 has 2 episodes but 1 measures"):
        stats.over_steps([[1], [2, 2]], [[1.0], [1.0]], [9, 9], [5])


def test_curves_of_no_runs_and_of_runs_without_episodes_make_an_empty_band():
    for curves in (
        stats.over_steps([], [], [], [1, 2]),
        stats.over_steps([[], []], [[], []], [5, 5], [1, 2]),
        stats.over_episodes([]),
        stats.over_episodes([[], []]),
        stats.reward_rate([], 10, []),
        stats.cumulative_reward([[]], 10, [0]),
    ):
        assert [len(part) for part in stats.band(curves, "iqm")] == [0] * 5


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(numbers, max_size=6), max_size=5), st.sampled_from(STATISTICS), st.integers(1, 3))
def test_bands_are_finite_and_hold_their_center(measures, statistic, window):
    found = stats.band(stats.over_episodes(measures, window), statistic, resamples=30)
    several = found.runs > 1
    assert (np.isfinite(found.low) == several).all()
    assert (np.isfinite(found.high) == several).all()
    assert (found.low <= found.center)[several].all()
    assert (found.center <= found.high)[several].all()
    assert (found.runs >= 1).all()
