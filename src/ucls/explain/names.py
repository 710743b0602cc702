"""What the observed numbers and the actions of well-known environments are called."""

from collections.abc import Sequence

CAR = ("position", "velocity")
COMPASS = ("left", "down", "right", "up")

# By the id of an environment without its version: the numbers of an observation, and the actions.
NUMBERS = {
    "ucls/RiverSwim": ("position",),
    "ucls/PuddleWorld": ("x", "y"),
    "ucls/MountainCar": CAR,
    "ucls/SparseMountainCar": CAR,
    "MountainCar": CAR,
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
    """What the numbers of an observation are called in an environment that is known here; nothing elsewhere.

    >>> names_of("MountainCar-v0")
    ('position', 'velocity')
    """
    return NUMBERS.get(id.rpartition("-v")[0], ())


def actions_of(id: str) -> Sequence[str]:
    """What the actions are called in an environment that is known here; nothing elsewhere.

    >>> actions_of("CartPole-v1")
    ('push left', 'push right')
    """
    return ACTIONS.get(id.rpartition("-v")[0], ())
