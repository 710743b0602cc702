"""The largest return to hope for: guessed from rewards by its rule, and never below one that was observed."""

import pytest

from ucls.kernels.planning import returns as rt


def after(*episodes):
    """What is known after episodes of (reward, discount)."""
    seen = rt.returns()
    for episode in episodes:
        rt.begin(seen)
        for r, gamma in episode:
            rt.observe(seen, r, gamma)
    rt.begin(seen)
    return seen


@pytest.mark.parametrize(
    ("episodes", "expected"),
    [
        ([[]], 1.0),
        ([[(0.0, 0.9), (0.0, 0.0)]], 1.0),
        ([[(-1.0, 0.9), (-2.0, 0.0)]], 0.0),
        ([[(-1.0, 0.9), (5.0, 0.0)]], 5.0),
        ([[(2.0, 0.9), (5.0, 0.0)]], 20.0),
        ([[(2.0, 0.5), (5.0, 0.0)], [(0.0, 0.75), (0.0, 0.0)]], 8.0),
        ([[(2.0, 1.0), (0.0, 1.0), (0.0, 0.0)], [(0.0, 1.0), (9.0, 0.0)]], 9.0),
        ([[(4.0, 1.0), (0.0, 1.0), (0.0, 0.0)], [(0.0, 1.0), (9.0, 0.0)]], 12.0),
        ([[(1.0, 0.5)] * 8], 4.0),
        ([[(1.0, 1.0)] * 3 + [(1.0, 0.0)]], 8.0),
        ([[(1.0, 0.0)], [(1.0, 0.0)]], 1.0),
    ],
    ids=[
        "none",
        "zero",
        "negative",
        "end",
        "way",
        "largest-discount",
        "undiscounted-end",
        "undiscounted-way",
        "all-that-was-hoped-for",
        "as-often-as-the-longest-episode",
        "an-end-pays-once",
    ],
)
def test_the_guess_follows_its_rule(episodes, expected):
    assert rt.guess(after(*episodes), rt.MORE) == pytest.approx(expected)


def test_returns_of_an_episode_that_ended_are_seen_from_every_state():
    """From the three states: -4 + 0.5 (6 + 0.5 2) = -0.5, 6 + 0.5 2 = 7, and 2."""
    assert after([(-4.0, 0.5), (6.0, 0.5), (2.0, 0.0)]).attained[0] == 7.0
    assert after([(-4.0, 0.5)]).attained[0] == rt.NONE


def test_an_episode_that_was_cut_counts_where_little_is_to_come():
    """0.5^7 < 0.01 < 0.5^6: of ten steps that pay 1 the returns from the first four count."""
    assert after([(1.0, 0.5)] * 6).attained[0] == rt.NONE
    assert after([(1.0, 0.5)] * 10).attained[0] == pytest.approx(2 - 0.5**9)


def test_a_long_episode_is_looked_at_in_parts():
    seen = after([(1.0, 0.9)] * (rt.ROOM + 1))
    assert seen.attained[0] == pytest.approx(10.0)
    assert seen.longest[0] == rt.ROOM + 1
    assert seen.count[0] == 0
    assert seen.fault() == ""
