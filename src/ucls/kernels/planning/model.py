"""A tabular model of an environment, as the transitions say, and what algorithms with one-hot features plan with it.

A cell is a state as the features number it, a pair is `cell * n_actions + action`. The model is the number of visits of
every pair and its moves (`moves`): the frequencies of the next cells, mean rewards, mean discounts. A plan has a value
of every pair for every step of an episode of `horizon` steps, or for one step if it does not depend on the time.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ucls.kernels.arrays import IntArray, IntScalar, Vector
from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import moves as mv
from ucls.kernels.ranges import COUNT, FLAG, MADE, NOT_NEGATIVE, STEPS
from ucls.settings import POSITIVE, Follows, Whole

SWEEPS = 20_000  # of value iteration, at most

# Settings:
Horizon = Annotated[
    int, Whole(0, 10_000), Follows("time_limit", otherwise=0), "steps per episode; 0: the average reward instead"
]
RewardMax = Annotated[float, POSITIVE, Follows("reward_max", otherwise=1.0), "the maximum reward of a step"]


class Model(NamedTuple):
    """Moves; of pairs, the visits and whether the action is invalid; how many cells are known, the cell in which the
    episode began, the step of the episode, and the steps of all."""

    moves: mv.Moves
    visits: Annotated[Vector, NOT_NEGATIVE]
    invalid: Annotated[IntArray, FLAG]
    known: Annotated[IntScalar, COUNT]
    first: Annotated[IntScalar, COUNT]
    step: Annotated[IntScalar, COUNT]
    steps: Annotated[IntScalar, COUNT]
    n_actions: Annotated[IntScalar, MADE]

    def fault(self) -> str:
        """There are no more cells than features for them."""
        n_cells = len(self.moves.first_into)
        return "" if self.known[0] <= n_cells and self.first[0] < n_cells else "there are not as many cells"


def model(size: int, n_actions: int) -> Model:
    """Nothing known, of so many pairs."""
    return Model(
        moves=mv.moves(size // n_actions, n_actions),
        visits=np.zeros(size),
        invalid=np.zeros(size, np.uint8),
        known=np.zeros(1, np.int64),
        first=np.zeros(1, np.int64),
        step=np.zeros(1, np.int64),
        steps=np.zeros(1, np.int64),
        n_actions=np.array([n_actions]),
    )


def room(size: int, n_actions: int) -> int:
    """Numbers that `model` makes room for."""
    return mv.room(size // n_actions, n_actions) + 2 * size + 5


def more(old: Model) -> Model:
    """The same with room for twice as many moves."""
    return old._replace(moves=mv.more_moves(old.moves))


@jit
def full(model):
    """Whether another transition might not fit."""
    return mv.full(model.moves)


@jit
def observe(model, xs, a, r, gamma, xs_next):
    """Count a transition of an episode; return its pair, and the next cell, or -1 after termination."""
    pair, n_actions = xs.index[a, 0], model.n_actions[0]
    cell, cell_next = pair // n_actions, -1
    note_mask(model, xs)
    if gamma > 0.0:
        cell_next = xs_next.index[0, 0] // n_actions
        note_mask(model, xs_next)
    if model.step[0] == 0:
        model.first[0] = cell
    model.known[0] = max(model.known[0], cell + 1, cell_next + 1)
    mv.record(model.moves, pair, cell_next, r, gamma, model.visits, STEPS)
    model.visits[pair] += 1.0
    model.step[0] += 1
    model.steps[0] += 1
    return pair, cell_next


@jit
def note_mask(model, xs):
    """Remember which actions are invalid in a cell: their rows repeat that of another (`kernels.masks`)."""
    n_actions = model.n_actions[0]
    first = xs.index[0, 0] - xs.index[0, 0] % n_actions
    for a in range(n_actions):
        model.invalid[first + a] = 1 if xs.index[a, 0] != first + a and model.visits[first + a] == 0.0 else 0


@jit
def value_of(model, q, cell):
    """The largest value of the valid actions in a cell, where `q` has that of every pair."""
    first, best = cell * model.n_actions[0], -np.inf
    for pair in range(first, first + model.n_actions[0]):
        if model.invalid[pair] == 0:
            best = max(best, q[pair])
    return best


@jit
def take_best(model, q, v):
    """Take the largest value of every cell for `v`."""
    for cell in range(len(v)):
        v[cell] = value_of(model, q, cell)


@jit
def best_of(model, q, cell):
    """The first pair of a cell with the largest value."""
    first = cell * model.n_actions[0]
    best = -1
    for pair in range(first, first + model.n_actions[0]):
        if model.invalid[pair] == 0 and (best < 0 or q[pair] > q[best]):
            best = pair
    return best


@jit
def greedy(q, xs):
    """The first row with the largest value."""
    best = 0
    for a in range(len(xs.index)):
        if q[xs.index[a, 0]] > q[xs.index[best, 0]]:
            best = a
    return best


@jit
def mean_reward(model, pair):
    """The mean reward of a pair that was visited."""
    moves, total = model.moves, 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        total += moves.visits[move] * moves.reward[move]
        move = moves.out[move]
    return total / model.visits[pair]


@jit
def reward_deviation(model, pair):
    """The summed squared deviations of the rewards of a pair that was visited from their mean."""
    moves, mean, total = model.moves, mean_reward(model, pair), 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        total += moves.deviation[move] + moves.visits[move] * (moves.reward[move] - mean) ** 2
        move = moves.out[move]
    return total


@jit
def doubled(model, before, q, cell):
    """Whether the best pair of a cell was visited as often since a plan as before it; where an episode has ended, the
    task begins again where it began."""
    pair = best_of(model, q, cell if cell >= 0 else model.first[0])
    return model.visits[pair] - before[pair] >= max(1.0, before[pair])


@jit
def expectation(model, pair, v, end):
    """The mean value of the next cell after a pair that was visited, where `v` has that of every cell and termination
    is worth `end`."""
    moves, total = model.moves, 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell = moves.table.rows[move, 1]
        total += moves.visits[move] * (v[cell] if cell >= 0 else end)
        move = moves.out[move]
    return total / model.visits[pair]


@jit
def variance(model, pair, v):
    """The variance of the value of the next cell; termination is worth 0."""
    moves, mean, total = model.moves, expectation(model, pair, v, 0.0), 0.0
    move = mv.first_of(moves, pair)
    while move >= 0:
        cell = moves.table.rows[move, 1]
        apart = (v[cell] if cell >= 0 else 0.0) - mean
        total += moves.visits[move] * apart * apart
        move = moves.out[move]
    return total / model.visits[pair]


@jit
def optimistic_expectation(model, pair, v, end, top, radius):
    """The largest mean value of the next cell, over all chances within a radius (L1) of the frequencies: half of it
    is moved to the best cell, worth `top`, from the worst ones (Jaksch et al. 2010, figure 2)."""
    if model.visits[pair] == 0.0:
        return top
    moves, left, total, worst = model.moves, min(1.0, 0.5 * radius), 0.0, -np.inf
    total = left * top
    while True:
        least, mass = np.inf, 0.0
        move = mv.first_of(moves, pair)
        while move >= 0:
            cell = moves.table.rows[move, 1]
            worth = v[cell] if cell >= 0 else end
            if worst < worth < least:
                least, mass = worth, 0.0
            if worth == least:
                mass += moves.visits[move] / model.visits[pair]
            move = moves.out[move]
        if least == np.inf:
            return total
        kept = max(0.0, mass - left)
        total += kept * least
        left = max(0.0, left - mass)
        worst = least


@jit
def average_rewards(model, reward, first, cell, chance, v, q, tolerance):
    """Relative value iteration for the largest average reward, on chances of next cells that are given: those of a
    pair are `chance[first[pair] : first[pair + 1]]`, of the cells in `cell`. After termination the task begins again
    where the last episode began. Stops when all values change by the same, or after `SWEEPS`."""
    n_actions = model.n_actions[0]
    for _ in range(SWEEPS):
        for pair in range(len(q)):
            q[pair] = reward[pair]
            for i in range(first[pair], first[pair + 1]):
                q[pair] += chance[i] * v[cell[i] if cell[i] >= 0 else model.first[0]]
        if advance(model, q, v, len(q) // n_actions) < tolerance:
            return


@jit
def advance(model, q, v, n_cells):
    """Take the largest value of every cell, less the smallest of them, for `v`; return by how much changes differ."""
    least, most, base = np.inf, -np.inf, np.inf
    for cell in range(n_cells):
        new = value_of(model, q, cell)
        least, most, base = min(least, new - v[cell]), max(most, new - v[cell]), min(base, new)
        v[cell] = new
    for cell in range(n_cells):
        v[cell] -= base
    return most - least
