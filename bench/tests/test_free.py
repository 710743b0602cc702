"""When Deep Sea counts as solved."""

import numpy as np

from bench.free import solved


def test_a_sea_is_solved_with_the_last_of_twenty_episodes_of_which_eighteen_find_the_treasure():
    returns = np.zeros(100)
    assert solved(returns) == np.inf
    returns[40:57] = 0.99
    assert solved(returns) == np.inf
    returns[57] = 0.99
    assert solved(returns) == 58
