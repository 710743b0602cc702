"""What tests of algorithms share: an oracle follows a run, or a stream of transitions, and the two are compared."""

import numpy as np

from support.transitions import dense, follow, random_stream


def begin(oracle, rng):
    """Let most boxes begin an episode."""
    oracle.start()


def nothing(oracle, rng):
    """Let a box that carries nothing over begin an episode."""


def learn(oracle, t, rng):
    """Let most boxes learn from a transition: they see the action that was taken and the next one."""
    oracle.update(t.xs[t.a], t.r, t.gamma, t.xs_next[t.a_next])


def shadow(run, oracle, steps, best, learn=learn, start=begin, learns_first=False):
    """Let an oracle learn from what a run does, and check every action.

    `best(oracle, x, rng)` is what the oracle's box maximizes, a number for each action; it draws from a generator in
    the state that the learner's was in. None stands for an action at random, which the box then draws itself. Where the
    box learns or begins an episode in another way than most, `learn(oracle, t, rng)` and `start(oracle, rng)` say how.
    `learns_first` is for algorithms that say `UPDATES_FIRST`.
    """
    twin = np.random.default_rng(0)
    steps = iter(follow(run, steps))
    while True:
        twin.bit_generator.state = run.learner.rng.bit_generator.state
        t = next(steps, None)
        if t is None:
            return
        if t.starts:
            start(oracle, twin)
            check_action(best(oracle, t.xs, twin), t.a, twin)
        if learns_first:
            learn(oracle, t, twin)
        if t.xs_next.any():  # not after termination
            check_action(best(oracle, t.xs_next, twin), t.a_next, twin)
        if not learns_first:
            learn(oracle, t, twin)


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


def along(algorithm, hyper, state, oracle, stream):
    """Let a kernel and an oracle learn from one stream of transitions, as far as the caller goes on."""
    rng, d = np.random.default_rng(0), len(oracle.z)
    algorithm.start(state, hyper, rng)
    for xs, a, r, gamma, xs_next, a_next in stream:
        algorithm.update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)
        oracle.update(dense(xs, d)[a], r, gamma, dense(xs_next, d)[a_next])
        if gamma == 0.0:
            algorithm.start(state, hyper, rng)
            oracle.start()
        yield


def in_both_precisions(algorithm, hyper, steps, size=64, n_actions=2):
    """What is learned from one stream in float64, and in float32."""
    states = [algorithm.init(hyper, size, n_actions, 4, dtype) for dtype in (np.float64, np.float32)]
    rng = np.random.default_rng(3)
    for transition in random_stream(rng, size, n_actions, 4, steps):
        for state in states:
            algorithm.update(state, hyper, *transition, rng)
    return states


def check_looking(run, expected):
    """In random states of the unit square the interval is what `expected(xs)` says, and looking changes nothing.

    `expected` gets dense features, a row for each action, and gives the means and the radii.
    """
    before = run.learner.checkpoint()
    for s in np.random.default_rng(0).uniform(size=(20, 2)):
        found = run.learner.interval(s)
        xs = dense(run.learner._scratch, run.learner.coder.size)
        np.testing.assert_allclose(found, expected(xs), rtol=1e-8, atol=1e-10)
    after = run.learner.checkpoint()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def assert_close(mine, theirs, name, rtol=1e-8):
    """Arrays are equal, relative to the largest entry."""
    theirs = np.asarray(theirs)
    np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=rtol * np.abs(theirs).max() * 1e-2, err_msg=name)


def matrix(lazy):
    """The matrix with the changes that wait."""
    return lazy.M - lazy.left[: lazy.count[0]].T @ lazy.right[: lazy.count[0]]
