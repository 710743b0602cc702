"""The names of the observation's components and of the actions in environments that come with Gymnasium.

Built-in environments declare theirs in their own modules (`OBSERVATIONS`, `ACTIONS`).
"""

from collections.abc import Sequence

COMPASS = ("left", "down", "right", "up")

# By the id of the environment, without its version.
COMPONENTS = {
    "MountainCar": ("position", "velocity"),
    "CartPole": ("position", "velocity", "angle", "angular velocity"),
    "Acrobot": ("cos 1", "sin 1", "cos 2", "sin 2", "angular velocity 1", "angular velocity 2"),
    "Pendulum": ("x", "y", "angular velocity"),
    "Blackjack": ("sum", "dealer", "usable ace"),
    "LunarLander": ("x", "y", "speed x", "speed y", "angle", "angular velocity", "left leg", "right leg"),
}
ACTIONS = {
    "MountainCar": ("push left", "coast", "push right"),
    "CartPole": ("push left", "push right"),
    "Acrobot": ("torque -1", "no torque", "torque +1"),
    "LunarLander": ("no engine", "left engine", "main engine", "right engine"),
    "FrozenLake": COMPASS,
    "FrozenLake8x8": COMPASS,
    "CliffWalking": ("up", "right", "down", "left"),
    "CliffWalkingSlippery": ("up", "right", "down", "left"),
    "Taxi": ("south", "north", "east", "west", "pick up", "drop off"),
    "Blackjack": ("stick", "hit"),
}


def names_of(id: str) -> Sequence[str]:
    """The names of the observation's components in a well-known environment; empty for any other.

    >>> names_of("MountainCar-v0")
    ('position', 'velocity')
    """
    return COMPONENTS.get(id.rpartition("-v")[0], ())


def actions_of(id: str) -> Sequence[str]:
    """The names of the actions in a well-known environment; empty for any other.

    >>> actions_of("CartPole-v1")
    ('push left', 'push right')
    """
    return ACTIONS.get(id.rpartition("-v")[0], ())
