"""UCLS-Deep: a small network learns the features, its last layer is solved exactly, and the bound is on top.

    network: s normalized -> twice Linear, LayerNorm, ReLU: phi -> two linear heads per action, for mean and upper bound
    every 2 steps:                  one step of Adam on the Huber loss of the heads against the stored targets yw, yu
    every 100 steps, plus 1% of those so far:
        v0, vmin <- the largest and the smallest possible value    (kernels.network.levels)
        freeze phi, and count visits and residuals in random partitions    (kernels.network.partitions)
        repeat 10 times:
            U  = v0 + x'tu + cu;  U <- U + (v0 - U) q/(1 + q) + noise_scale noise;  W = min(0, v0) + x'tw + cw
            yu = R + g clip(max U(s'), vmin, v0);  yw = R + g clip(max W(s'), vmin, v0)    R, g: over 3 steps
            tu, tw <- ridge regressions of yu and yw on x = (phi, 1), toward v0 and min(0, v0)
        copy tu and tw into the heads
    act: argmax min(v0, U), or argmax <W> in greedy periods;  evaluate: argmax <W>

< > is the mean over the last 5 solutions.

If `return_max` is not given and the guess is that the largest reward comes with every step, v0 is an extrapolation,
which may be far too high. The agent is then greedy in a growing fraction of the episodes, or of periods of `PERIOD`
steps: of n, about sqrt(3 / n) are optimistic. UCLS-Plan does the same, for longer.

Deviations: the paper has no learned features. Its bound has the covariance of the weights of the features; here it has
visits and residuals in random partitions of the state space, which stay the same while features change.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import active as la
from ucls.kernels import ranges
from ucls.kernels.arrays import IntScalar, Matrix, Scalar, Vector
from ucls.kernels.linear_algebra.threads import one_thread
from ucls.kernels.network import last_layer as ll
from ucls.kernels.network import layers as ly
from ucls.kernels.network import levels as lv
from ucls.kernels.network import network as nw
from ucls.kernels.network import partitions as pt
from ucls.kernels.network import replay as rp
from ucls.kernels.network import solutions as so
from ucls.kernels.planning.value_range import ReturnMax
from ucls.settings import NOT_NEGATIVE, POSITIVE, UNIT, Choice, Whole

COMPILED = False  # products of matrices by NumPy, loops by kernels
CAN_FAIL = False  # matrices are positive definite, and what is not finite is noticed in the values
FEATURES = ("observation", {})
STREAM = ("current", "clock", "greedy")
RESULTS_VERSION = 2  # raised when the results of its runs change
PERIOD = 500  # steps after which the choice between exploring and exploiting is made again within an episode
OPTIMISTIC = 3  # periods that are optimistic at first; of n periods, about sqrt(OPTIMISTIC / n) are
EXACT = 0  # the number of this choice
FIRST = 100  # steps before the first solve
silent = np.errstate(all="ignore")  # what is not finite is noticed in the values


class Settings(NamedTuple):
    """The settings of UCLS-Deep."""

    return_max: ReturnMax = np.nan
    prior_visits: Annotated[float, NOT_NEGATIVE, "visits that the prior is worth"] = 0.1
    noise_scale: Annotated[float, NOT_NEGATIVE, "noise term in standard errors"] = 0.5
    epsilon: Annotated[float, UNIT, "probability of a random action"] = 0.0
    hidden: Annotated[int, Whole(2, 4096), "units of a layer"] = 128
    learning_rate: Annotated[float, POSITIVE, "step size of Adam"] = 1e-3
    batch: Annotated[int, Whole(1, 100_000), "examples per gradient step"] = 128
    train_every: Annotated[int, Whole(1), "steps per gradient step"] = 2
    huber: Annotated[float, POSITIVE, "errors beyond this part of the targets' size count linearly"] = 0.01
    n_steps: Annotated[int, Whole(1, 1000), "steps whose rewards a target adds up"] = 3
    averaged: Annotated[int, Whole(1, 1000), "solutions of which the value estimate is the mean"] = 5
    ridge: Annotated[float, POSITIVE, "regularization of the last layer"] = 1.0
    shrink: Annotated[float, POSITIVE, "visits that a correction of 0 is worth"] = 1.0
    rounds: Annotated[int, Whole(1, 1000), "regressions in a solve"] = 10
    spacing: Annotated[float, NOT_NEGATIVE, "solves come every 100 steps, and this part of the steps so far"] = 0.01
    last_layer: Annotated[int, Choice("exact", "gradient"), "exact, or as the gradient steps leave it"] = 0
    partitions: Annotated[int, Whole(1, 64), "random partitions that visits are counted in"] = 8
    width: Annotated[float, POSITIVE, "side of a square of a partition, in standard deviations of the state"] = 0.375
    cells: Annotated[int, Whole(1, 2**20), "cells of a partition, which squares share by hashing"] = 2048
    limit: Annotated[int, Whole(1000, 2**31 - 1), "states that are remembered, at most"] = 100_000


class State(NamedTuple):
    """Weights and their moments; the last solutions, the newest one of both heads, and the scale of targets; what is
    remembered, seen and counted; how observations are normalized. For each stream: its row, the steps of its episode,
    and whether it is greedy; `periods` counts the choices whether to be so."""

    weights: Vector
    first: Vector
    second: Vector
    recent: so.Solutions
    solution: Matrix
    scale: Scalar
    memory: rp.Replay
    parts: pt.Partitions
    seen: lv.Seen
    center: Vector
    spread: Vector
    steps: Annotated[IntScalar, ranges.COUNT]
    updates: Annotated[IntScalar, ranges.COUNT]
    due: Annotated[IntScalar, ranges.COUNT]
    doubled: Annotated[IntScalar, ranges.COUNT]
    longest: Annotated[IntScalar, ranges.COUNT]
    current: Annotated[IntScalar, ranges.Within(-1, 2**31)]
    clock: Annotated[IntScalar, ranges.COUNT]
    greedy: Annotated[IntScalar, ranges.FLAG]
    periods: Annotated[IntScalar, ranges.COUNT]

    def fault(self) -> str:
        """The stream is at a row in use from which no transition was made yet."""
        at = int(self.current[0])
        known = at < int(self.memory.used[0]) and (at < 0 or self.memory.action[at] < 0)
        return "" if known else "the current state is not remembered"


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """Numbers of 8 bytes that `init` allocates."""
    return allocation_at(hyper, size, n_actions, n_active, 0)


def allocation_at(hyper: Settings, size: int, n_actions: int, n_active: int, steps: int) -> int:
    """The same after so many steps; a solve takes as much again as the rows and their features."""
    rows = min(hyper.limit, max(rp.ROWS, 4 * steps))
    fixed = 2 * nw.size(n_active, hyper.hidden, n_actions) + 2 * n_actions * (hyper.hidden + 1) + 2 * n_active
    fixed += so.room(hyper.averaged, hyper.partitions, hyper.cells, n_active, hyper.hidden, n_actions)
    parts = pt.room(hyper.partitions, hyper.cells, n_active, n_actions)
    return fixed + parts + rp.room(n_active, n_actions, rows) + (2 * rows * hyper.hidden if steps else 0)


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """Start without data; weights are drawn when the first episode begins."""
    vectors = [np.zeros(nw.size(n_active, hyper.hidden, n_actions), np.float32) for _ in range(3)]
    parts = pt.partitions(hyper.partitions, hyper.cells, n_active, n_actions)
    return State(
        *vectors,
        recent=so.solutions(hyper.averaged, parts, n_active, hyper.hidden, n_actions),
        solution=np.zeros((2 * n_actions, hyper.hidden + 1)),
        scale=np.ones(1),
        memory=rp.replay(n_active, n_actions, hyper.limit),
        parts=parts,
        seen=lv.seen(),
        center=np.zeros(n_active),
        spread=np.ones(n_active),
        steps=np.zeros(1, np.int64),
        updates=np.zeros(1, np.int64),
        due=np.full(1, FIRST),
        doubled=np.zeros(1, np.int64),
        longest=np.zeros(1, np.int64),
        current=np.full(1, -1),
        clock=np.zeros(1, np.int64),
        greedy=np.zeros(1, np.uint8),
        periods=np.zeros(1, np.int64),
    )


def full(state: State) -> bool:
    """Whether another transition might not fit."""
    return bool(rp.full(state.memory))


def grow(state: State, hyper: Settings) -> State:
    """Double the memory."""
    return state._replace(memory=rp.grow(state.memory))


def start(state, hyper, rng):
    """Begin an episode."""
    state.current[0], state.clock[0] = -1, 0
    if not state.parts.directions.any():
        nw.draw(layers(state, state.weights), rng)
        pt.draw(state.parts, hyper.width, rng)
        state.recent.weights[0], state.recent.base[0] = state.weights, min(0.0, highest(state, hyper))
    begin_period(state, hyper, rng)


def begin_period(state: State, hyper: Settings, rng: np.random.Generator) -> None:
    """Decide whether to explore or to exploit until the end of the episode, or for `PERIOD` steps."""
    state.greedy[0] = 0
    if np.isnan(hyper.return_max) and lv.extrapolates(state.seen, int(state.longest[0])):
        state.periods[0] += 1
        state.greedy[0] = rng.random() > np.sqrt(OPTIMISTIC / state.periods[0])


def layers(state: State, weights: np.ndarray) -> nw.Layers:
    """The layers of a vector of weights, or of each row of a matrix."""
    n_actions, hidden = len(state.solution) // 2, state.solution.shape[1] - 1
    return nw.layers_of(weights, len(state.center), hidden, n_actions)


def normalized(state: State, states: np.ndarray) -> np.ndarray:
    """States with mean 0 and standard deviation 1."""
    return so.normalized(states, state.center, state.spread)


def highest(state: State, hyper: Settings) -> float:
    """v0 as of the last solve; before it, what was given."""
    known = state.seen.best[0] == lv.NONE and not np.isnan(hyper.return_max)
    return float(hyper.return_max if known else state.seen.v0[0])


@silent
@one_thread
def upper_at(state: State, hyper: Settings, s: np.ndarray, noise_scale: float) -> np.ndarray:
    """U of every action in one state, with this much noise."""
    z, n_actions = normalized(state, s[None]), len(state.solution) // 2
    out = ll.times(nw.features(layers(state, state.recent.weights[0]), so.inputs_of(z)), state.solution)
    cells, q = pt.cells_of(state.parts, z), np.empty((1, n_actions))
    pt.visits_of_prior(state.parts, cells, hyper.prior_visits, q)
    ll.bounded(out, cells, q, state.parts, highest(state, hyper), noise_scale)
    return out[0, n_actions:]


@silent
@one_thread
def value_at(state: State, s: np.ndarray) -> np.ndarray:
    """The value estimate of every action in one state: W, as a mean over the last solutions."""
    return so.value(state.recent, state.parts, s)


def actions_of(state: State, index: np.ndarray) -> np.ndarray:
    """The actions that rows of features belong to."""
    return index[..., 0] % (len(state.solution) // 2)


def value(state, hyper, x):
    """The estimated action value, without optimism."""
    return float(value_at(state, x.value)[actions_of(state, x.index)])


def upper(state, hyper, x):
    """What the agent maximizes: the upper bound, and v0 at most."""
    top = upper_at(state, hyper, x.value, hyper.noise_scale)[actions_of(state, x.index)]
    return min(highest(state, hyper), float(top))


def radius_terms(state, hyper, x):
    """The prior term and the noise term of the radius."""
    a = actions_of(state, x.index)
    without = upper_at(state, hyper, x.value, 0.0)[a]
    top = upper_at(state, hyper, x.value, hyper.noise_scale)[a]
    return max(0.0, float(without) - value(state, hyper, x)), float(top - without)


def interval(state, hyper, x, rng):
    """The estimated action value, and the radius of its bound."""
    prior, noise = radius_terms(state, hyper, x)
    return value(state, hyper, x), prior + noise


def prior_fraction(state, x):
    """The prior's weight in the value if it is worth a tenth of a visit; 1 without data."""
    cells, q = pt.cells_of(state.parts, normalized(state, x.value[None])), np.empty((1, len(state.solution) // 2))
    pt.visits_of_prior(state.parts, cells, 0.1, q)
    left = float(q[0, actions_of(state, x.index)])
    return left / (1.0 + left)


@one_thread
def act(state, hyper, xs, rng):
    """The action with the largest upper bound, or in a greedy period with the largest estimate."""
    if hyper.epsilon > 0.0 and rng.random() < hyper.epsilon:
        return int(rng.random() * len(xs.index))
    if state.greedy[0]:
        scores = value_at(state, xs.value[0])
    else:
        scores = np.minimum(upper_at(state, hyper, xs.value[0], hyper.noise_scale), highest(state, hyper))
    return la.argmax(scores[actions_of(state, xs.index)], rng)


@silent
@one_thread
def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """Remember a transition; take a gradient step, or solve, where it is time."""
    memory = state.memory
    row = state.current[0]
    if row < 0:
        row = rp.add(memory, xs.value[0], xs.index)
    to = rp.add(memory, xs_next.value[0], xs_next.index) if gamma > 0.0 else -1
    rp.connect(memory, row, a, r, gamma, to)
    state.current[0] = to
    state.steps[0] += 1
    state.clock[0] += 1
    state.longest[0] = max(state.longest[0], state.clock[0])
    lv.observe(state.seen, r, gamma)
    if state.clock[0] % PERIOD == 0:
        begin_period(state, hyper, rng)
    pt.visit(state.parts, pt.cells_of(state.parts, normalized(state, memory.states[row][None]))[0], a)
    if state.steps[0] >= state.due[0]:
        solve(state, hyper)
        state.due[0] = state.steps[0] + FIRST + int(hyper.spacing * state.steps[0])
    elif state.steps[0] > FIRST and state.steps[0] % hyper.train_every == 0:
        train(state, hyper, rng)


def train(state: State, hyper: Settings, rng: np.random.Generator) -> None:
    """One gradient step on a batch of remembered transitions that have targets."""
    memory, v0 = state.memory, highest(state, hyper)
    rows = rp.sample(memory, hyper.batch, rng)
    weight = memory.fitted[rows].astype(np.float32) / np.float32(hyper.batch)
    targets = ((memory.targets[rows] - [min(0.0, v0), v0]) / state.scale[0]).astype(np.float32)
    inputs, gradient = so.inputs_of(normalized(state, memory.states[rows])), np.empty_like(state.weights)
    actions = np.maximum(memory.action[rows], 0)
    into = layers(state, gradient)
    nw.gradient(layers(state, state.weights), into, inputs, actions, targets, weight, hyper.huber)
    if hyper.last_layer == EXACT:  # the heads stay what they were solved to be
        into.heads[:], into.offsets[:] = 0.0, 0.0
    state.updates[0] += 1
    ly.adam(state.weights, gradient, state.first, state.second, hyper.learning_rate, state.updates[0])


def solve(state: State, hyper: Settings) -> None:
    """Freeze the network, and solve its last layer; now and then, first normalize anew what is remembered."""
    memory, n = state.memory, int(state.memory.used[0])
    if state.steps[0] >= 2 * state.doubled[0]:
        state.doubled[0] = state.steps[0]
        state.center[:] = memory.states[:n].mean(axis=0, dtype=np.float64)
        spread = memory.states[:n].std(axis=0, dtype=np.float64)
        state.spread[:] = np.where(spread > 1e-6, spread, 1.0)
        recount(state)
    before = highest(state, hyper)
    v0, vmin = lv.look_back(state.seen, memory, hyper.return_max, int(state.longest[0]))
    level = ll.Levels(v0, vmin, hyper.noise_scale)
    net, z = layers(state, state.weights), normalized(state, memory.states[:n])
    phi, cells = nw.features(net, so.inputs_of(z)), pt.cells_of(state.parts, z)
    R, g, to = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    rp.returns_over(memory, hyper.n_steps, R, g, to)
    q = np.empty((n, memory.valid.shape[1]))
    pt.visits_of_prior(state.parts, cells, hyper.prior_visits, q)
    work = ll.prepare(phi, cells, memory.action[:n], memory.valid[:n], (R, g, to), q, hyper.ridge)
    state.solution[:, :-1], state.solution[:, -1] = net.heads * state.scale[0], net.offsets * state.scale[0]
    state.solution[:, -1] += np.repeat([min(0.0, before) - min(0.0, v0), before - v0], len(state.solution) // 2)
    exact = hyper.last_layer == EXACT
    ll.solve(work, state.parts, state.solution, memory.targets, level, hyper.rounds if exact else 0, hyper.shrink)
    taken = memory.action[:n] >= 0
    memory.fitted[:n] = taken
    errors = memory.targets[:n][taken] - [min(0.0, v0), v0]
    state.scale[0] = max(np.sqrt(np.mean(errors**2)), 1e-6)
    net.heads[:], net.offsets[:] = state.solution[:, :-1] / state.scale[0], state.solution[:, -1] / state.scale[0]
    keep(state, v0)


def keep(state: State, v0: float) -> None:
    """Remember the solution among the last ones."""
    recent = state.recent
    so.push(recent)
    recent.weights[0], recent.last[0] = state.weights, state.solution[: len(state.solution) // 2]
    recent.corrections[0], recent.base[0] = state.parts.mean, min(0.0, v0)
    recent.center[0], recent.spread[0] = state.center, state.spread


def recount(state: State) -> None:
    """Count the visits of what is remembered, in the cells of its new normalization."""
    memory, n = state.memory, int(state.memory.used[0])
    state.parts.visits[:] = 0.0
    cells = pt.cells_of(state.parts, normalized(state, memory.states[:n]))
    for i in np.flatnonzero(memory.action[:n] >= 0):
        pt.visit(state.parts, cells[i], memory.action[i])


def export(state: State, hyper: Settings) -> dict[str, Any]:
    """The last solutions and the partitions, for `ucls.policy`, which does not know of greedy periods."""
    recent, parts = state.recent, state.parts
    k = max(1, int(recent.used[0]))
    nets = layers(state, recent.weights[:k])._asdict()
    return {
        **{name: part for name, part in nets.items() if name not in ("heads", "offsets")},
        **{name: getattr(recent, name)[:k] for name in ("last", "corrections", "base", "center", "spread")},
        **{name: getattr(parts, name) for name in ("directions", "shifts", "visits", "squares")},
        "last_upper": state.solution[len(state.solution) // 2 :],
        "correction_upper": parts.upper,
        "clip": so.CLIP,
        "tiny": ly.EPSILON,
        "v0": highest(state, hyper),
        "prior_visits": hyper.prior_visits,
        "noise_scale": hyper.noise_scale,
        "epsilon": hyper.epsilon,
    }


def estimated_return_max(state: State, hyper: Settings) -> float | None:
    """v0 where it was not given, and rewards other than 0 were seen."""
    return float(state.seen.v0[0]) if np.isnan(hyper.return_max) and state.seen.varied[0] else None


def notices(state: State, hyper: Settings) -> list[str]:
    """Say that return_max is too low."""
    if state.seen.best[0] > hyper.return_max:
        return [f"return_max={hyper.return_max:g} is too low: a higher return was observed, and raises it"]
    return []
