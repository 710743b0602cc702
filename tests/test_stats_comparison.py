"""Samples of runs against each other: ranks, profiles, pairs, and corrections for many of them."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucls import stats
from ucls.errors import UserError

NAN, INF = float("nan"), float("inf")
anything = st.floats(allow_nan=True, allow_infinity=True)


def brute_improvement(x, y):
    return np.mean([(a > b) + 0.5 * (a == b) for a in x for b in y])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=9), st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_probability_of_improvement_counts_every_pair_and_ties_half(x, y):
    found = stats.probability_of_improvement(x, y, resamples=50)
    back = stats.probability_of_improvement(y, x, resamples=50)
    assert found.mean == pytest.approx(brute_improvement(x, y))
    assert found.mean + back.mean == pytest.approx(1.0)
    if min(len(x), len(y)) > 1:
        assert 0 <= found.low <= found.mean <= found.high <= 1
    else:
        assert np.isnan([found.low, found.high]).all()


@pytest.mark.parametrize("n", [9, 14])
def test_probability_of_improvement_has_the_interval_of_independent_resamples(n):
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1, 14).round(1), rng.normal(0, 1, n).round(1)
    each = [brute_improvement(rng.choice(x, 14), rng.choice(y, n)) for _ in range(1500)]
    found = stats.probability_of_improvement(x, y, resamples=20_000)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(each, [0.025, 0.975])), abs=0.02)
    assert found.mean == pytest.approx(brute_improvement(x, y))


def test_a_diverged_run_loses_to_every_sound_one_and_ties_with_its_like():
    failed = stats.scores([1e9, 1e9], [True, True])
    assert stats.probability_of_improvement([-1e6], failed).mean == 1.0
    assert stats.probability_of_improvement(failed, [NAN, -INF]) == (0.5, 0.5, 0.5)
    assert stats.probability_of_improvement([], [1.0]) is None
    assert stats.profile(failed, [-1e9]).center.tolist() == [0.0]


def test_profile_is_the_fraction_of_all_runs_at_or_above():
    rng = np.random.default_rng(0)
    values = stats.scores(rng.integers(0, 10, 40), rng.random(40) < 0.2)
    taus = [-5.0, 0.0, 3.0, 3.5, 9.0, 9.5]
    found = stats.profile(values, taus)
    assert found.center.tolist() == pytest.approx([np.mean(values >= tau) for tau in taus])
    assert found.runs.tolist() == [40] * 6
    # A fraction is the mean of zeros and ones, so both bootstraps estimate one thing.
    for i, tau in enumerate(taus):
        mean = stats.bootstrap_mean((values >= tau).astype(float))
        assert (found.low[i], found.high[i]) == pytest.approx((mean.low, mean.high), abs=0.03)
    assert [len(part) for part in stats.profile([], taus)] == [0] * 5


def test_common_seeds_align_runs_in_any_order():
    in_x, in_y = stats.common_seeds([7, 3, 5, 9], [5, 8, 7])
    assert (in_x.tolist(), in_y.tolist()) == ([2, 0], [0, 2])
    with pytest.raises(UserError, match="twice"):
        stats.common_seeds([1, 1], [1])


def sign_flip_test(differences, permutations=9999):
    return stats.paired(differences, np.zeros(len(differences)), permutations=permutations).p


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_sign_flip_test_equals_scipys_exact_permutation_test(n):
    from scipy.stats import permutation_test

    d = np.random.default_rng(n).normal(0.4, 1, n).round(1)
    if n == 1:
        assert sign_flip_test(d) == 1.0
        return
    found = permutation_test((d,), np.mean, permutation_type="samples", n_resamples=INF)
    assert sign_flip_test(d) == pytest.approx(found.pvalue)


def test_sign_flip_test_by_sampling_is_near_the_exact_one_and_never_zero():
    d = np.random.default_rng(4).normal(0.4, 1, 16)
    flips = np.array(list(itertools.product([-1, 1], repeat=16)))
    exact = np.mean(np.abs(flips @ d) >= abs(d.sum()) - 1e-9)
    assert 0.01 < exact < 0.5
    assert sign_flip_test(d, permutations=40_000) == pytest.approx(exact, abs=0.01)
    assert sign_flip_test(np.ones(100), permutations=999) == 1 / 1000


def test_zeros_do_not_change_the_sign_flip_test():
    d = [0.5, -0.25, 2.0, 0.75]
    assert sign_flip_test(d + [0.0] * 40) == sign_flip_test(d) == 0.25
    assert sign_flip_test([0.0, 0.0]) == 1.0


def test_sign_flip_test_rejects_a_true_null_as_rarely_as_it_says():
    rng = np.random.default_rng(2)
    p = np.array([sign_flip_test(rng.laplace(size=20), permutations=399) for _ in range(1500)])
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.017)


def test_signed_ranks_give_the_p_value_of_wilcoxon():
    from scipy.stats import wilcoxon

    x, y = np.random.default_rng(6).normal(0.5, 1, (2, 12))
    assert stats.paired(x, y).p_rank == pytest.approx(wilcoxon(x, y, method="exact").pvalue)


def test_signed_ranks_pass_over_pairs_without_a_difference():
    from scipy.stats import rankdata

    d = np.array([0.0, 0.3, -0.1, 0.7, 0.0, 0.3, 0.9, 0.0, -0.2])
    some = d[d != 0]
    signed = np.sign(some) * rankdata(np.abs(some))
    flips = np.array(list(itertools.product([-1, 1], repeat=6)))
    expected = np.mean(np.abs(flips @ signed) >= abs(signed.sum()))
    assert stats.paired(d, np.zeros(9)).p_rank == expected


def test_paired_comparison_drops_unsound_pairs_from_the_mean_alone_and_says_so():
    x = stats.scores([5.0, 6.0, 7.0, 8.0, 9.0, 1.0], [False, False, False, False, True, True])
    y = stats.scores([4.0, 6.0, 9.0, 0.0, 0.0, 1.0], [False, False, False, True, False, True])
    found = stats.paired(x, y)
    assert found.difference.mean == pytest.approx((1 + 0 - 2) / 3)
    assert (found.pairs, found.dropped) == (3, 3)
    assert (found.wins, found.ties, found.losses) == (2, 2, 2)
    assert found.p == 1.0
    # Signed ranks: 1, -2 and, tied beyond them, 3.5 and -3.5: a sum of -1, which all 16 flips reach or pass.
    assert found.p_rank == 1.0


def test_an_algorithm_that_diverges_is_found_worse_by_rank():
    x = np.arange(10.0)
    found = stats.paired(x, stats.scores(x, np.ones(10, bool)))
    assert (found.difference, found.p, found.pairs, found.dropped, found.wins) == (None, 1.0, 0, 10, 10)
    assert found.p_rank == 2 / 2**10


def test_pairs_at_the_edges():
    assert stats.paired([], []) is None
    assert stats.paired([2.0], [1.0]).difference == pytest.approx((1.0, NAN, NAN), nan_ok=True)
    same = stats.paired([1.0, 2.0], [1.0, 2.0])
    assert (same.difference, same.p, same.p_rank, same.ties) == ((0.0, 0.0, 0.0), 1.0, 1.0, 2)
    with pytest.raises(UserError, match="common_seeds"):
        stats.paired([1.0], [1.0, 2.0])


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(anything, anything), min_size=1, max_size=20))
def test_paired_comparisons_are_never_nan_and_fair_to_both_sides(pairs):
    x, y = np.array(pairs).T
    found, back = stats.paired(x, y, permutations=99), stats.paired(y, x, permutations=99)
    assert found.pairs < 2 or all(map(math.isfinite, found.difference))
    assert 0 < found.p <= 1
    assert 0 < found.p_rank <= 1
    assert found.pairs + found.dropped == found.wins + found.ties + found.losses == len(pairs)
    assert (found.p_rank, found.wins, found.ties) == (back.p_rank, back.losses, back.ties)


def test_holm_on_a_worked_example():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, 0.04; no later one may be smaller.
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert stats.holm([0.9, 0.6]) == pytest.approx([1.0, 1.0])
    assert stats.holm([]).tolist() == []
