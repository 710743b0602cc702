"""What baselines share that is no part of their papers: room for more data, and plans by the step of an episode."""

from typing import Any

from ucls.kernels.compilation.jit import jit
from ucls.kernels.planning import lsvi as ls
from ucls.kernels.planning import model as md


@jit
def full_model(state):
    """Whether another transition might not fit into `model`."""
    return md.full(state.model)


def grow_model(state: Any, hyper: Any) -> Any:
    """Double the room for moves."""
    return state._replace(model=md.more(state.model))


@jit
def full_memory(state):
    """Whether another transition might not fit into `memory`."""
    return ls.full(state.memory)


def grow_memory(state: Any, hyper: Any) -> Any:
    """Double what is full."""
    return state._replace(memory=ls.grow(state.memory))


@jit
def value_at_first(state, hyper, x):
    """The value of a pair in the first step of an episode."""
    return state.q[0, x.index[0]]


@jit
def act_by_step(state, hyper, xs, rng):
    """The action with the largest value in this step of an episode."""
    return md.greedy(state.q[state.model.step[0] % len(state.q)], xs)
