"""Policy evaluation of a stream: a million transitions with 512 features, compared with loops in NumPy."""

from typing import Any

import numpy as np

from bench.harness import Effort, ratio, spread, took
from bench.steps.stream import N_ACTIVE, Stream, make_stream
from bench.tables import Table, number, within
from ucls.evaluation import LSTD

D, LAMBDA, DISCOUNT = 512, 0.9, 0.99
TURNS = 5


class NumpyLoop:
    """Loops over transitions: `textbook` is the straightforward one, `learn` touches only columns of active
    features."""

    def __init__(self, stream: Stream, d: int):
        self.stream, self.t, self.z = stream, 0, np.zeros(d)
        self.At, self.b, self.S, self.w = np.zeros((d, d)), np.zeros(d), np.zeros((d, d)), np.zeros(d)

    def learn(self, steps: int) -> None:
        """A <- A + z (x - gamma x')', b <- b + z r."""
        for x, r, x_next in self._transitions(steps):
            value = 1 / N_ACTIVE
            self.z *= LAMBDA * DISCOUNT
            self.z[x] += value
            self.b += r * self.z
            self.At[x] += value * self.z
            self.At[x_next] -= DISCOUNT * value * self.z

    def textbook(self, steps: int) -> None:
        """The same with dense features and an outer product."""
        for index, r, index_next in self._transitions(steps):
            x, x_next = np.zeros_like(self.z), np.zeros_like(self.z)
            x[index], x_next[index_next] = 1 / N_ACTIVE, 1 / N_ACTIVE
            self.z = LAMBDA * DISCOUNT * self.z + x
            self.b += r * self.z
            self.At += np.outer(x - DISCOUNT * x_next, self.z)

    def spread(self, steps: int) -> None:
        """S <- S + delta^2 z z'."""
        for x, r, x_next in self._transitions(steps):
            value = 1 / N_ACTIVE
            self.z *= LAMBDA * DISCOUNT
            self.z[x] += value
            delta = r + value * (DISCOUNT * self.w[x_next].sum() - self.w[x].sum())
            self.S += delta**2 * np.outer(self.z, self.z)

    def _transitions(self, steps: int) -> Any:
        last = len(self.stream.r)
        for _ in range(steps):
            yield self.stream.index[self.t], self.stream.r[self.t], self.stream.index[self.t + 1]
            self.t = (self.t + 1) % last


def measure(effort: Effort) -> dict[str, Any]:
    """Stream alternately with the loop; then compute one interval, and time the loop for it."""
    n, few = effort.of(1_000_000, 50_000) // TURNS, effort.of(2000, 200)
    stream = make_stream(D)
    times = np.arange(n) % len(stream.r)
    value = np.full((n, N_ACTIVE), 1 / N_ACTIVE)
    x, x_next = (stream.index[times], value), (stream.index[times + 1], value)
    lstd, loop = LSTD(D, LAMBDA), NumpyLoop(stream, D)

    def learn() -> None:
        lstd.observe_batch(x, stream.r[times], DISCOUNT, x_next)
        lstd.fit()

    warm = LSTD(D, LAMBDA)
    warm.observe_batch([[0]], [1.0], DISCOUNT, [[1]])
    warm.spread("sandwich")
    single, rows = LSTD(D, LAMBDA), list(stream.index)

    def observe(steps: int) -> None:
        for i in range(steps):
            single.observe(rows[i], stream.r[i], DISCOUNT, rows[i + 1])

    ours, theirs, textbook, each = np.empty(TURNS), np.empty(TURNS), np.empty(TURNS), np.empty(TURNS)
    observe(1024)
    for turn in range(TURNS):
        ours[turn] = 1e6 * took(learn) / n
        each[turn] = 1e6 * took(observe, 5 * 1024) / (5 * 1024)
        theirs[turn] = 1e6 * took(loop.learn, few) / few
        textbook[turn] = 1e6 * took(loop.textbook, few // 10) / (few // 10)
    interval = 1e6 * took(lstd.spread, "sandwich") / len(lstd)
    loops = np.array([1e6 * took(loop.spread, few // 10) / (few // 10) for _ in range(TURNS)])
    return {
        "n": len(lstd),
        "d": D,
        "us": {"learn": spread(ours), "stream": spread(ours + each), "interval": interval},
        "numpy": {"learn": spread(theirs), "textbook": spread(textbook), "interval": spread(loops)},
        "times": {
            "learn": ratio(theirs, ours),
            "stream": ratio(theirs, ours + each),
            "textbook": ratio(textbook, ours),
            "interval": spread(loops / interval),
        },
        "seconds": (ours.mean() * len(lstd) + interval * len(lstd)) / 1e6,
    }


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds per transition, and the ratio to a NumPy loop."""
    us, loop, times = found["us"], found["numpy"], found["times"]
    rows = [
        ["batch, w after every fifth transition", within(us["learn"]), within(loop["learn"]), within(times["learn"])],
        ["the same, one transition at a time", within(us["stream"]), within(loop["learn"]), within(times["stream"])],
        [
            "batch, compared with outer products in NumPy",
            within(us["learn"]),
            within(loop["textbook"]),
            within(times["textbook"]),
        ],
        [
            "interval: S = mean of delta^2 z z'",
            number(us["interval"]),
            within(loop["interval"]),
            within(times["interval"]),
        ],
    ]
    return [
        Table(
            f"Policy evaluation: {found['n']:,} transitions, d = {found['d']}, {N_ACTIVE} active",
            ["operation", "µs per transition", "NumPy loop, µs", "ratio"],
            rows,
            f"Values and one interval took {found['seconds']:.1f} s; the NumPy loop was timed on fewer transitions.",
        )
    ]
