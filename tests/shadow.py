"""What tests of algorithms share: an oracle follows a run, and the two are compared."""

import numpy as np

from conftest import follow


def shadow(run, oracle, steps, best):
    """Let an oracle learn from what a run does, and check every action.

    `best(oracle, x, rng)` is what the oracle's box maximises, a number for each action; it draws from a generator in
    the state that the learner's was in. None stands for an action at random, which the box then draws itself.
    """
    twin = np.random.default_rng(0)
    steps = iter(follow(run, steps))
    while True:
        twin.bit_generator.state = run.learner.rng.bit_generator.state
        t = next(steps, None)
        if t is None:
            return
        if t.starts:
            oracle.start()
            check_action(best(oracle, t.xs, twin), t.a, twin)
        if t.xs_next.any():  # not after termination
            check_action(best(oracle, t.xs_next, twin), t.a_next, twin)
        oracle.update(t.xs[t.a], t.r, t.gamma, t.xs_next[t.a_next])


def check_action(values, a, rng):
    """The action is the box's: the best within rounding, ties drawn as the learner draws them, or the one at random."""
    if np.ndim(values) == 0:
        assert a == values, "not the action at random that the box would take"
        return
    assert values[a] >= values.max() - 1e-8 * max(1.0, abs(values.max())), "an action that the box would not take"
    if np.sum(values == values.max()) > 1:
        rng.random()


def epsilon_greedy(epsilon, values, rng):
    """The values, or with probability epsilon the number of an action at random."""
    if rng.random() < epsilon:
        return int(rng.random() * len(values))
    return values


def assert_close(mine, theirs, name, rtol=1e-8):
    """Arrays are equal, relative to the largest entry."""
    theirs = np.asarray(theirs)
    np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * np.abs(theirs).max() * 1e-2, err_msg=name)
