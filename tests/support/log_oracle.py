"""Estimators of a policy's value from a log as plain loops, straight from their formulas; and a small log to try."""

import numpy as np

from ucls.evaluation.logs import read_log

GAMMA = 0.9


def small_table(episodes=12, seed=0, columns=True):
    """A log over the states 0 to 3 with two actions; episodes terminate or are truncated, after 1 to 6 steps."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(episodes):
        s, length = int(rng.integers(4)), int(rng.integers(1, 7))
        for t in range(length):
            p = 0.3 + 0.1 * s
            a = int(rng.random() < p)
            after = int((s + 1 + a * rng.integers(3)) % 4)
            last = t == length - 1
            rows.append((i, t, s, a, p if a else 1 - p, rng.normal() + s * a, last and i % 2 == 0))
            s = after
    names = ("episode", "t", "place", "action", "propensity", "reward", "truncated")
    return dict(zip(names, np.array(rows, float).T, strict=True))


def small_log(episodes=12, seed=0):
    return read_log(small_table(episodes, seed), gamma=GAMMA)


def new_policy(states):
    """Probabilities of both actions, by state."""
    p = 0.8 - 0.15 * states[:, 0]
    return np.column_stack([1 - p, p])


def episodes_of(log):
    """Each episode as a list of (s, a, r, gamma, s', known, p), gamma being 0 at a termination."""
    for i in range(log.n_episodes):
        rows = range(log.first[i], log.first[i + 1])
        yield [
            (log.states[t], log.action[t], log.reward[t], log.discount[t], log.next_states[t],
             bool(log.has_next[t] or log.discount[t] == 0), log.probability[t])
            for t in rows
        ]  # fmt: skip


def phi(basis, s, a, n_actions):
    """x(s, a): the state features in the block of the action."""
    x = np.zeros((n_actions, basis.size))
    rows = basis.rows(np.asarray(s, float)[None])
    x[a] = rows[0] if isinstance(rows, np.ndarray) else rows.toarray()[0]
    return x.ravel()


def mean_phi(basis, s, policy, n_actions):
    return sum(policy(np.asarray(s, float)[None])[0][a] * phi(basis, s, a, n_actions) for a in range(n_actions))


def system(log, basis, policy, weights=None, without=None):
    """The sums S, b and the mean features m of the start states; episodes have weights, and one may be left out."""
    d = basis.size * len(log.actions)
    S, b, m, total = np.zeros((d, d)), np.zeros(d), np.zeros(d), 0.0
    for i, steps in enumerate(episodes_of(log)):
        w = 1.0 if weights is None else weights[i]
        if i == without:
            continue
        for s, a, r, gamma, after, known, _ in steps:
            if known:
                x = phi(basis, s, a, len(log.actions))
                follows = gamma * mean_phi(basis, after, policy, len(log.actions)) if gamma else 0 * x
                S += w * np.outer(x, x - follows)
                b += w * x * r
        m += w * mean_phi(basis, steps[0][0], policy, len(log.actions))
        total += w
    return S, b, m / total


def lstd_q(log, basis, policy, weights=None):
    S, b, m = system(log, basis, policy, weights)
    return m @ np.linalg.pinv(S) @ b


def per_decision(log, policy):
    values = []
    for steps in episodes_of(log):
        total, w, discount = 0.0, 1.0, 1.0
        for s, a, r, _, _, _, p in steps:
            w *= policy(s[None])[0][a] / p
            total += discount * w * r
            discount *= log.gamma
        values.append(total)
    return np.array(values)


def weighted(log, policy, weights=None):
    """Weighted per-decision importance sampling, over all times; an ended episode keeps its weight and earns 0."""
    weights = np.ones(log.n_episodes) if weights is None else weights
    histories = []
    for steps in episodes_of(log):
        w, found = 1.0, []
        for s, a, r, _, _, _, p in steps:
            w *= policy(s[None])[0][a] / p
            found.append((w, r))
        histories.append(found)
    value = 0.0
    for t in range(max(map(len, histories))):
        pairs = [h[t] if t < len(h) else (h[-1][0], 0.0) for h in histories]
        w = weights * np.array([pair[0] for pair in pairs])
        value += log.gamma**t * (w @ [pair[1] for pair in pairs]) / w.sum()
    return value


def doubly_robust(log, basis, policy, folds):
    """The terms of all episodes, each with values fitted to the other folds."""
    n_actions, values = len(log.actions), []
    every = list(episodes_of(log))
    for i, steps in enumerate(every):
        kept = [float(j % folds != i % folds) for j in range(len(every))]
        S, b, _ = system(log, basis, policy, kept)
        theta = np.linalg.pinv(S, rcond=1e-10) @ b
        total = mean_phi(basis, steps[0][0], policy, n_actions) @ theta
        w, discount = 1.0, 1.0
        for s, a, r, gamma, after, known, p in steps:
            w *= policy(s[None])[0][a] / p
            if known:
                follows = gamma * (mean_phi(basis, after, policy, n_actions) @ theta) if gamma else 0.0
                total += discount * w * (r + follows - phi(basis, s, a, n_actions) @ theta)
            discount *= log.gamma
        values.append(total)
    return np.array(values)


def lstd_q_lambda(log, basis, policy, lambda_, without=None):
    """LSTD-Q with tree-backup traces; one episode may be left out. Returns m'theta of all start states."""
    d, n_actions = basis.size * len(log.actions), len(log.actions)
    S, b = np.zeros((d, d)), np.zeros(d)
    for i, steps in enumerate(episodes_of(log)):
        z, before = np.zeros(d), 0.0
        for s, a, r, gamma, after, known, _ in steps if i != without else []:
            x = phi(basis, s, a, n_actions)
            z = before * lambda_ * policy(s[None])[0][a] * z + x
            if known:
                follows = gamma * mean_phi(basis, after, policy, n_actions) if gamma else 0 * x
                S += np.outer(z, x - follows)
                b += z * r
            before = gamma
    m = np.mean([mean_phi(basis, s, policy, n_actions) for s in log.starts], axis=0)
    return m @ np.linalg.solve(S, b)
