"""MiniGrid's rooms as whole numbers, for agents that learn from tables or linear features.

MiniGrid shows the seven by seven cells in front of an agent, as codes of objects, colors and states. What one has to
know is less: where the agent is and looks, and in a room with a door where the key is, where the door, and how it is.
Those are the observations here. The actions are those that do something: left, right and forward, and with a door also
to pick up and to toggle. Rewards, ends and layouts, drawn for every episode, are MiniGrid's.

    ucls train minigrids:door_key --steps 20000
"""

from typing import Any

import gymnasium
import minigrid  # registers its rooms
import numpy as np

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = range(7)
EMPTY = (LEFT, RIGHT, FORWARD)
DOOR_KEY = (LEFT, RIGHT, FORWARD, PICK_UP, TOGGLE)
OPEN, CLOSED, LOCKED = range(3)

assert minigrid


class Told(gymnasium.Wrapper[np.ndarray, int, Any, int]):
    """A room that tells its state in whole numbers, and takes the actions that matter in it."""

    def __init__(self, env: gymnasium.Env[Any, Any], actions: tuple[int, ...], counts: list[int]) -> None:
        super().__init__(env)
        self.actions = actions
        self.action_space = gymnasium.spaces.Discrete(len(actions))
        self.observation_space = gymnasium.spaces.MultiDiscrete(counts)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode."""
        _, info = self.env.reset(seed=seed, options=options)
        return self.state(), info

    def step(self, action: int) -> tuple[np.ndarray, Any, bool, bool, dict[str, Any]]:
        """Take one of the actions that matter."""
        _, reward, terminated, truncated, info = self.env.step(self.actions[action])
        return self.state(), reward, terminated, truncated, info

    def state(self) -> np.ndarray:
        """Column and row inside the walls, and the direction."""
        room: Any = self.unwrapped
        return np.array([room.agent_pos[0] - 1, room.agent_pos[1] - 1, room.agent_dir])


class ToldDoor(Told):
    """Tells also of the key (0 if carried, else its row inside the walls, from 1) and of the door (row and state)."""

    def state(self) -> np.ndarray:
        """Where the agent, the key and the door are, and how the door is."""
        room: Any = self.unwrapped
        key, door, is_door = 0, 0, OPEN
        for i, thing in enumerate(room.grid.grid):
            if thing is not None and thing.type == "key":
                key = i // room.width
            elif thing is not None and thing.type == "door":
                door = i // room.width - 1
                is_door = OPEN if thing.is_open else LOCKED if thing.is_locked else CLOSED
        return np.concatenate([super().state(), [key, door, is_door]])


def empty(size: int = 5) -> gymnasium.Env[Any, Any]:
    """The empty room of 5, 6, 8 or 16 cells a side: 4 (size - 2)^2 states."""
    inner = size - 2
    return Told(gymnasium.make(f"MiniGrid-Empty-{size}x{size}-v0"), EMPTY, [inner, inner, 4])


def door_key(size: int = 5) -> gymnasium.Env[Any, Any]:
    """The room with a locked door and its key, of 5, 6, 8 or 16 cells a side; nobody can drop the key.

    The wall with the door is always the same in the smallest, and only there the state says everything.
    """
    inner = size - 2
    counts = [inner, inner, 4, inner + 1, inner - 1, 3]
    return ToldDoor(gymnasium.make(f"MiniGrid-DoorKey-{size}x{size}-v0"), DOOR_KEY, counts)
