"""The adapter between an agent and its Gymnasium environment: it resets, steps, reads and observes it."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ucls._util.randomness import spawn
from ucls.core.config import Plan
from ucls.envs import from_arrays, to_arrays
from ucls.envs.gym import BuiltinGymEnv
from ucls.errors import UserError
from ucls.features import is_precomputed
from ucls.gym import observations, spaces
from ucls.gym.action_masks import KEY, MaskReader
from ucls.gym.feature_functions import FeaturesError, Mapped
from ucls.gym.wrapping import own_builtin


class Observer(Protocol):
    """An object that is called after every reset and step of an adapter; it must not change what it is given."""

    def on_reset(self, s: np.ndarray) -> None:
        """An episode has begun in state `s`."""

    def on_step(self, action: int, step: observations.Step) -> None:
        """An action, numbered from 0, has led to `step`."""


class EnvAdapter:
    """A Gymnasium environment as an agent sees it; `observers` are called after every reset and step.

    `env` is None for an agent that was loaded without its environment: observations can be read, but no steps taken.
    """

    def __init__(
        self,
        env: Any,
        plan: Plan,
        discrete: bool,
        space: Any = None,
        first_action: int = 0,
        reader: Mapped | None = None,
        masked: bool = False,
    ) -> None:
        """Adapt an environment to a learner's configuration.

        `discrete` says whether its features are for integer states; `reader` applies a user's features function;
        `masked` says that the agent has learned with action masks.
        """
        self.env, self._plan, self._discrete, self.reader = env, plan, discrete, reader
        if env is None:
            self.space, self.first_action = space, first_action
        else:
            self.space = None if is_precomputed(plan.features) else spaces.describe(env.observation_space)
            self.first_action = int(env.action_space.start)
        self.observed = reader or observations.observed(self.space, plan, discrete)
        self.masks = MaskReader(env, plan.n_actions, masked)
        self._masked = masked
        self.between_episodes = True
        self._seed: int | None = spawn(plan.seed).world
        self.observers: list[Observer] = []

    def on(self, env: Any, plan: Plan) -> "EnvAdapter":
        """Return an adapter like this for another environment."""
        return EnvAdapter(env, plan, self._discrete, reader=self.reader, masked=self.masked)

    @property
    def masked(self) -> bool:
        """Whether the environment has action masks, as far as known: before the first step, according to the agent's
        file."""
        return self._masked if self.masks.gives is None else self.masks.gives

    def note_masks(self, masks: MaskReader) -> None:
        """Note whether environments like this one have masks."""
        self._masked = self._masked or bool(masks.gives)

    @property
    def mask(self) -> np.ndarray | None:
        """The valid actions in the current state; None without masks."""
        return self.masks.mask

    @property
    def ours(self) -> BuiltinGymEnv | None:
        """The built-in environment, if this is one and no wrapper changes it."""
        return own_builtin(self.env)

    def reset(self, after: int) -> np.ndarray:
        """Begin an episode when the agent has taken `after` steps; the first one uses the seed of the run."""
        given = self.env.reset(seed=self._seed)
        self._seed = None
        self.between_episodes = False
        try:
            s = observations.read_reset(given, self.observed)
            self.masks.read(*given, reset=True)
        except UserError as fault:
            raise _at_fault(f"after step {after}", fault) from None
        for observer in self.observers:
            observer.on_reset(s)
        return s

    def step(self, action: int, number: int) -> observations.Step:
        """Take an action, numbered from 0; `number` is the number of the step, for error messages."""
        masks = self.masks
        if masks.gives:
            try:
                masks.refuse_changed()
            except UserError as fault:
                raise _at_fault(f"at step {number}", fault) from None
        given = self.env.step(action + self.first_action)
        try:
            step = observations.read_step(given, self.observed)
            if (masks.gives or KEY in given[4]) and not step.terminated:
                masks.read(given[0], given[4])
        except UserError as fault:
            raise _at_fault(f"at step {number}", fault) from None
        self.between_episodes = step.terminated or step.truncated
        for observer in self.observers:
            observer.on_step(action, step)
        return step

    def about(self) -> dict[str, Any]:
        """A description of the environment, as data."""
        ours = self.ours
        env = {"env": None} if ours is None else {"env": ours.world.id, "env_settings": ours.world.settings}
        more = {"action_masks": True} if self.masked else {}
        return {**env, "space": self.space, "first_action": self.first_action, **more}

    def checkpoint(self) -> dict[str, np.ndarray]:
        """The environment state: of a built-in environment, once an episode has begun; otherwise empty."""
        ours = self.ours
        if ours is None or self._seed is not None:
            return {}
        in_play = ours.checkpoint()
        if self.between_episodes:  # after a failed step the environment may still be in its episode
            in_play["clock"] = np.zeros(1, np.int64)
        return to_arrays(in_play)

    def check(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Refuse an invalid state of a built-in environment."""
        ours = self.ours
        if ours is not None and "world.rng" in arrays:
            ours.world.check_saved(from_arrays(arrays))

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore the state of a built-in environment; any other begins a new episode."""
        ours = self.ours
        self.between_episodes, self._seed = True, spawn(self._plan.seed).world
        if ours is not None and "world.rng" in arrays:
            in_play = from_arrays(arrays)
            self.env.reset()
            ours.restore(in_play)
            self._seed = None
            self.between_episodes = int(in_play["clock"][0]) == 0


def _at_fault(when: str, fault: UserError) -> UserError:
    """An error for invalid output of the environment, or of the user's features function."""
    if isinstance(fault, FeaturesError):
        return UserError(f"{when}, {fault}")
    return UserError(f"the environment is at fault, {when}: {fault}")
