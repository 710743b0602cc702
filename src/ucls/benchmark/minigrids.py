"""MiniGrid's rooms with one fixed layout, as discrete states: position, direction, what is carried, and every door.

MiniGrid shows the cells in front of an agent, and draws a new layout for every episode. Here every episode has the
same layout, so that what was learned of one helps in the next, and the observation is what changes in it. The actions
are those that do something: left, right, forward, pick up, toggle and, where a ball is to be picked up, drop. Where a
dropped key lies is not shown. Rewards and ends are MiniGrid's.
"""

from typing import Any

import gymnasium
import minigrid  # registers its rooms  # pyright: ignore[reportMissingImports]
import numpy as np

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
OPEN, CLOSED, LOCKED = range(3)

assert minigrid


class Numbered(gymnasium.Wrapper[np.ndarray, Any, Any, Any]):
    """A room whose observation is its state as integers."""

    def __init__(self, env: gymnasium.Env[Any, Any], layout_seed: int) -> None:
        super().__init__(env)
        self.layout_seed = layout_seed
        env.reset(seed=layout_seed)
        room: Any = env.unwrapped
        self.doors = [at for at, thing in enumerate(room.grid.grid) if _is(thing, "door")]
        self.things = any(_is(thing, "key") or _is(thing, "ball") for thing in room.grid.grid)
        ball = any(_is(thing, "ball") for thing in room.grid.grid)
        extra = (PICK_UP,) * self.things + (TOGGLE,) * bool(self.doors) + (DROP,) * ball
        self.actions = (LEFT, RIGHT, FORWARD, *extra)
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))
        counts = [room.width, room.height, 4, *((2,) * self.things), *((3,) * len(self.doors))]
        self.observation_space = gymnasium.spaces.MultiDiscrete(counts)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in the same layout; nothing else is random."""
        _, info = self.env.reset(seed=self.layout_seed, options=options)
        return self.state(), info

    def step(self, action: int) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        """Take one of the actions that have an effect."""
        _, reward, terminated, truncated, info = self.env.step(self.actions[int(action)])
        return self.state(), reward, terminated, truncated, info

    def state(self) -> np.ndarray:
        """Return column, row and direction; whether something is carried; and the state of every door."""
        room: Any = self.unwrapped
        held = [int(room.carrying is not None)] * self.things
        return np.array([*room.agent_pos, room.agent_dir, *held, *(_state(room.grid.grid[at]) for at in self.doors)])

    def snapshot(self) -> tuple[Any, ...]:
        """Return everything that changes in an episode, in a form that can be compared except for the list of
        objects."""
        room: Any = self.unwrapped
        doors = tuple((room.grid.grid[at].is_open, room.grid.grid[at].is_locked) for at in self.doors)
        return tuple(map(int, room.agent_pos)), int(room.agent_dir), room.carrying, doors, list(room.grid.grid)

    def restore(self, snapshot: tuple[Any, ...], steps: int) -> None:
        """Return to a snapshot, taken after so many steps of an episode."""
        room: Any = self.unwrapped
        room.agent_pos, room.agent_dir, room.carrying, doors, things = snapshot
        room.grid.grid, room.step_count = list(things), steps
        for at, (is_open, is_locked) in zip(self.doors, doors, strict=True):
            room.grid.grid[at].is_open, room.grid.grid[at].is_locked = is_open, is_locked


def _is(thing: Any, kind: str) -> bool:
    return thing is not None and thing.type == kind


def _state(door: Any) -> int:
    return OPEN if door.is_open else LOCKED if door.is_locked else CLOSED


def room(id: str, layout_seed: int = 0) -> gymnasium.Env[Any, Any]:
    """A room by MiniGrid's id, in the layout of a seed."""
    return Numbered(gymnasium.make(id), layout_seed)
