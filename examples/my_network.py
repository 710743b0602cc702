"""An algorithm in plain Python: Sarsa with a small neural network.

`COMPILED = False` asks for the plain engine: the functions below are called as they are, so they may use any library
and hold any object. Environments and features stay compiled. Because the state is more than a NamedTuple of arrays, two
functions turn it into arrays and back, so that it can be saved, resumed and sent to other processes:

    PYTHONPATH=examples ucls train CartPole-v1 --algo my_network --steps 2000

The hidden layer computes features that are learned (`encode`), and values are linear in them. They are computed anew
whenever they are used, because every update changes them.

Deviations: none, it is not in the paper.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.kernels import Active, epsilon_greedy, of_action
from ucls.settings import UNIT, Whole

COMPILED = False
FEATURES = ("scaled", {})  # the observation itself, scaled to [0, 1]: the network makes its own features
STREAM = ()  # no trace: it can learn in several environments at once


class Settings(NamedTuple):
    """Settings, as in every algorithm."""

    alpha: Annotated[float, UNIT, "step size, as the fraction of the error that one step removes"] = 0.1
    epsilon: Annotated[float, UNIT, "probability of a random action"] = 0.1
    hidden: Annotated[int, Whole(1, 1000), "units in the hidden layer"] = 64


class State:
    """The network: the weights of its layers, and how many updates it has had."""

    def __init__(self, weights: list[np.ndarray], n_updates: int = 0) -> None:
        self.weights, self.n_updates = weights, n_updates

    def hidden(self, inputs: np.ndarray) -> np.ndarray:
        """The activations of the hidden layer."""
        W1, b1, _ = self.weights
        return np.tanh(W1 @ inputs + b1)


def to_arrays(state: State) -> dict[str, np.ndarray]:
    """Everything the next step needs, as arrays by name."""
    W1, b1, W2 = state.weights
    return {"W1": W1, "b1": b1, "W2": W2, "n_updates": np.array([state.n_updates])}


def from_arrays(state: State, arrays: dict[str, np.ndarray]) -> State:
    """A state like `state` with this content. A file may come from anybody, so check what it contains."""
    weights = [arrays[name] for name in ("W1", "b1", "W2")]
    if [w.shape for w in weights] != [w.shape for w in state.weights]:
        raise ValueError("the layers have other sizes")
    return State(weights, int(arrays["n_updates"].item()))


def allocation(hyper: Settings, size: int, n_actions: int, n_active: int) -> int:
    """How many numbers `init` allocates."""
    return hyper.hidden * (n_active + 1 + n_actions)


def init(hyper: Settings, size: int, n_actions: int, n_active: int, dtype: Any = np.float64) -> State:
    """A network with random weights in its first layer, whose values are all 0."""
    rng = np.random.default_rng(0)
    W1 = rng.normal(0.0, 5.0, (hyper.hidden, n_active)).astype(dtype)
    b1 = -np.sum(W1 * rng.random(W1.shape), axis=1)  # every unit changes sign somewhere within the bounds
    return State([W1, b1.astype(dtype), np.zeros((n_actions, hyper.hidden), dtype)])


def start(state, hyper, rng):
    """Begin an episode: nothing to reset."""


def encode(state, hyper, x):
    """The learned features of one action, which is the remainder of the indices of its inputs."""
    hidden, n_actions = state.hidden(x.value), len(state.weights[2])
    return Active(x.index[0] % n_actions * len(hidden) + np.arange(len(hidden)), hidden)


def value(state, hyper, x):
    """The value of one action, linear in its learned features."""
    return float(x.value @ state.weights[2].ravel()[x.index])


def act(state, hyper, xs, rng):
    """An epsilon-greedy action; ties are broken at random."""
    values = np.array([value(state, hyper, of_action(xs, a)) for a in range(len(xs.index))])
    return epsilon_greedy(values, hyper.epsilon, rng)


def update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng):
    """One step of semi-gradient Sarsa from the inputs; `alpha` is the fraction of the error that a step removes."""
    W1, b1, W2 = state.weights
    inputs = xs.value[0]
    hidden = state.hidden(inputs)
    target = r + gamma * W2[a_next] @ state.hidden(xs_next.value[0]) if gamma > 0 else r
    slope = W2[a] * (1.0 - hidden**2)
    size = 1.0 + hidden @ hidden + (slope @ slope) * (1.0 + inputs @ inputs)
    step = hyper.alpha * (target - W2[a] @ hidden) / size
    W2[a] += step * hidden
    W1 += step * np.outer(slope, inputs)
    b1 += step * slope
    state.n_updates += 1
