"""Discrete actions for environments with others: a grid over a Box, or all combinations of choices.

>>> import gymnasium
>>> env = DiscreteActions(gymnasium.make("Pendulum-v1"), bins=5)
>>> env.action_space
Discrete(5)
>>> [float(env.action(a)[0]) for a in range(5)]
[-2.0, -1.0, 0.0, 1.0, 2.0]
"""

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ucls.core.config import FAR, brief, whole
from ucls.errors import UserError
from ucls.gym.spaces import refuse_none

BINS = 3  # the two ends, and the middle between them
MANY = 10_000  # an agent tries every action


class DiscreteActions(gymnasium.ActionWrapper[Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """An environment with numbered actions: those of a grid in a Box, or of all combinations of choices."""

    def __init__(self, env: gymnasium.Env[Any, Any], bins: Any = None, low: Any = None, high: Any = None) -> None:
        """Number the actions of an environment.

        Parameters
        ----------
        env: its actions are numbers: Box, Discrete, MultiDiscrete, MultiBinary, or Tuple or Dict of them.
        bins: values of each number in a Box, evenly from its lowest to its highest (3; of 1, the middle); one for all,
            or one for each.
        low, high: where these values lie, for a Box that has no bounds or is wider than it needs to be; one number for
            all, or one for each, None for the Box's own.
        """
        refuse_none(env)
        gymnasium.utils.RecordConstructorArgs.__init__(self, bins=bins, low=low, high=high)
        gymnasium.ActionWrapper.__init__(self, env)
        grid = _Grid(env.action_space, bins, low, high)
        self._choices = list(_choices(env.action_space, grid))
        grid.refuse_unused()
        self._shape = tuple(len(choices) for choices in self._choices)
        if not 0 < math.prod(self._shape) <= MANY:
            shape = " x ".join(str(n) for n in self._shape[:8]) + (" x ..." if len(self._shape) > 8 else "")
            how = "give fewer bins" if grid.size else "wrap the environment to offer fewer"
            raise UserError(f"there are {shape or 'no'} actions, but an agent can try 1 to {MANY:,}: {how}")
        self.action_space = spaces.Discrete(math.prod(self._shape))

    def action(self, action: Any) -> Any:
        """The action of the environment that has this number."""
        if not self.action_space.contains(action):
            last = int(self.action_space.n) - 1  # pyright: ignore[reportAttributeAccessIssue]
            raise UserError(f"action cannot be {brief(action)}: give an integer from 0 to {last}")
        index = np.unravel_index(int(action), self._shape)
        numbers = (choices[int(i)] for choices, i in zip(self._choices, index, strict=True))
        return _build(self.env.action_space, numbers)

    def number_mask(self, mask: Any) -> Any:
        """Return the mask of the numbered actions if `mask` has an entry for every value of each choice, as in
        sb3-contrib; return any other mask unchanged."""
        values = np.ravel(mask)
        if len(self._shape) < 2 or values.dtype.kind not in "biuf" or len(values) != sum(self._shape):
            return mask
        parts = np.split(values != 0, np.cumsum(self._shape)[:-1])
        return functools.reduce(np.logical_and.outer, parts).ravel()

    def get_action_meanings(self) -> list[str]:
        """Return the names of the actions: the numbers that each stands for."""
        return [self._meaning(a) for a in range(math.prod(self._shape))]

    def _meaning(self, a: int) -> str:
        index = np.unravel_index(a, self._shape)
        return ", ".join(f"{choices[int(i)]:g}" for choices, i in zip(self._choices, index, strict=True))


class _Grid:
    """The bins and bounds of the numbers in boxes, handed out one after the other."""

    def __init__(self, space: Any, bins: Any, low: Any, high: Any) -> None:
        self.size = _boxed(space)
        self._given = any(value is not None for value in (bins, low, high))
        counts = _each("bins", BINS if bins is None else bins, self.size, object)
        self._bins = [min(whole("bins", n, 1), MANY + 1) for n in counts]
        self._low, self._high = (
            _each(name, np.nan if given is None else given, self.size, np.float64)
            for name, given in (("low", low), ("high", high))
        )
        self._next = 0

    def values(self, box: spaces.Box) -> Iterator[np.ndarray]:
        """The values of each number of a box."""
        for own_low, own_high in zip(box.low.ravel().tolist(), box.high.ravel().tolist(), strict=True):
            i, self._next = self._next, self._next + 1
            low = own_low if np.isnan(self._low[i]) else float(self._low[i])
            high = own_high if np.isnan(self._high[i]) else float(self._high[i])
            if not (abs(low) <= FAR and abs(high) <= FAR):
                raise UserError(
                    f"number {i} of the actions has no bounds: DiscreteActions(env, low=..., high=...) gives some, "
                    f"one for all numbers or {self.size}"
                )
            if not own_low <= low <= high <= own_high:
                raise UserError(
                    f"number {i} of the actions cannot go from {low:g} to {high:g}: "
                    f"give low and high within {own_low:g} and {own_high:g}"
                )
            n = self._bins[i]
            values = np.linspace(low, high, n) if n > 1 else np.array([low + (high - low) / 2])
            yield np.unique(np.rint(values) if box.dtype.kind in "iu" else values).astype(box.dtype)

    def refuse_unused(self) -> None:
        """Refuse bins and bounds where there is no box."""
        if self._given and not self.size:
            raise UserError("bins, low and high are for actions in a Box: these are integers, leave them out")


def _each(name: str, given: Any, size: int, dtype: Any) -> np.ndarray:
    """A value for each number: the same one, or one each."""
    try:
        values = np.asarray(given, dtype)
    except (ValueError, TypeError, OverflowError):
        raise UserError(f"{name} cannot be {brief(given)}: give one number, or {size}") from None
    if values.shape != () and values.size != size:
        raise UserError(f"{name} cannot be {brief(given)}: give one number, or {size}")
    return np.broadcast_to(values.ravel() if values.shape else values, (size,))


def _boxed(space: Any) -> int:
    """Return the number of action components in a Box."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        return sum(_boxed(part) for part in _parts(space))
    return space.low.size if isinstance(space, spaces.Box) else 0


def _parts(space: Any) -> list[Any]:
    return list(space.spaces.values()) if isinstance(space, spaces.Dict) else list(space.spaces)


def _choices(space: Any, grid: _Grid) -> Iterator[Sequence[Any] | np.ndarray]:
    """The values of every number of an action."""
    if isinstance(space, spaces.Discrete):
        yield range(int(space.start), int(space.start + space.n))
    elif isinstance(space, spaces.MultiDiscrete):
        starts, counts = space.start.ravel().tolist(), space.nvec.ravel().tolist()
        yield from (range(first, first + n) for first, n in zip(starts, counts, strict=True))
    elif isinstance(space, spaces.MultiBinary):
        yield from ([0, 1] for _ in range(math.prod(space.shape)))
    elif isinstance(space, spaces.Box):
        yield from grid.values(space)
    elif isinstance(space, spaces.Tuple | spaces.Dict):
        for part in _parts(space):
            yield from _choices(part, grid)
    else:
        raise UserError(f"the actions are {brief(space)}: only numbers can be discretized, wrap the environment")


def _build(space: Any, numbers: Iterator[Any]) -> Any:
    """An action of a space, from its numbers."""
    if isinstance(space, spaces.Discrete):
        return np.int64(next(numbers))
    if isinstance(space, spaces.Tuple):
        return tuple(_build(part, numbers) for part in space.spaces)
    if isinstance(space, spaces.Dict):
        return {key: _build(part, numbers) for key, part in space.spaces.items()}
    return np.array([next(numbers) for _ in range(math.prod(space.shape))], space.dtype).reshape(space.shape)
