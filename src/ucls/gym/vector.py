"""Vectors of environments: the outcome of a step in every environment, whatever the autoreset mode.

A reset is not a transition: in mode NEXT_STEP the step that resets an environment only begins its next episode, in mode
SAME_STEP the last observation of an episode is `infos["final_obs"]`, and in mode DISABLED environments are reset here.
"""

from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from gymnasium.vector.utils import iterate

from ucls.core.config import brief
from ucls.errors import UserError
from ucls.gym.action_masks import KEY, MaskReader, mask_in
from ucls.gym.observations import Observed, Step, read_step

MODES = ("NextStep", "SameStep", "Disabled")


class Outcome(NamedTuple):
    """The outcome in one environment: a step, or the first state of an episode; and the mask of the new state."""

    stream: int
    step: Step | None
    first: np.ndarray | None
    mask: np.ndarray | None


def is_vector(env: Any) -> bool:
    """Whether this is a vector of environments."""
    return hasattr(env, "num_envs") and hasattr(env, "single_observation_space")


def autoreset_mode(envs: Any) -> str:
    """Return when a vector begins the next episode of one of its environments: "NextStep", "SameStep", or "Disabled" if
    its caller must. As Gymnasium's own wrappers do, assume the first if it does not say."""
    mode = (getattr(envs, "metadata", None) or {}).get("autoreset_mode", "NextStep")
    mode = getattr(mode, "value", mode)
    if mode not in MODES:
        raise UserError(f"autoreset_mode cannot be {mode!r}: give one of gymnasium.vector.AutoresetMode")
    return mode


def single_of(envs: Any) -> Any:
    """Return a single environment like those of a vector."""
    if not isinstance(envs, SyncVectorEnv | AsyncVectorEnv):
        raise UserError(
            f"an agent cannot learn in {brief(envs)}: give gymnasium.make_vec(id, num_envs=..., "
            'vectorization_mode="sync") or "async", and put wrappers around the single environments (`wrappers=`)'
        )
    return envs.env_fns[0]()


class VectorAdapter:
    """A vector of environments: the outcomes of all of them in a step, in their order."""

    def __init__(
        self, envs: Any, observed: Observed, n_actions: int, first_action: int, seed: int, masked: bool = False
    ) -> None:
        self.envs, self.n, self._observed = envs, envs.num_envs, observed
        self._first_action = first_action
        self._seed: int | None = seed
        self._mode = autoreset_mode(envs)
        self.masks = MaskReader(envs, n_actions, masked)
        self._over = np.zeros(self.n, bool)  # environments whose episode has ended, and that are reset next

    def reset(self) -> list[Outcome]:
        """Begin an episode in every environment; the first time with the seed of the run."""
        observations, infos = self.envs.reset(seed=self._seed)
        self._over, self.masks.mask = np.zeros(self.n, bool), None
        self._seed = None
        return self._begun(observations, infos, ~self._over)

    def step(self, actions: list[int]) -> list[Outcome]:
        """Take an action in every environment, numbered from 0; environments that are reset ignore theirs."""
        if self._mode == "Disabled" and self._over.any():
            begun, self._over = self._over, np.zeros(self.n, bool)
            observations, infos = self.envs.reset(options={"reset_mask": begun})
            return self._begun(observations, infos, begun)
        with _Fault(None):
            self.masks.refuse_changed_in_many(self._over)
        numbers = np.array(actions, np.int64) + self._first_action
        observations, rewards, terminated, truncated, infos = self.envs.step(numbers)
        ended = np.asarray(terminated, bool) | np.asarray(truncated, bool)
        masks = self._masks(observations, infos, np.asarray(terminated, bool) & (self._mode != "SameStep"))
        outcomes = []
        for i, observation in enumerate(iterate(self.envs.observation_space, observations)):
            mask = None if masks is None else masks[i]
            begins = self._over[i]  # which only NEXT_STEP leaves to this step
            if not begins:
                begins = bool(ended[i]) and self._mode == "SameStep"
                last = infos["final_obs"][i] if begins else observation
                step = self._step(i, last, rewards[i], terminated[i], truncated[i], infos)
                if begins and self.masks.gives:
                    mask = self._final_mask(i, last, infos, step.terminated)
                outcomes.append(Outcome(i, step, None, mask))
            if begins:
                outcomes.append(Outcome(i, None, self._read(observation), None if masks is None else masks[i]))
        self._over = np.zeros(self.n, bool) if self._mode == "SameStep" else ended & ~self._over
        return outcomes

    def _begun(self, observations: Any, infos: Any, begun: np.ndarray) -> list[Outcome]:
        masks = self._masks(observations, infos, ~begun, begun)
        firsts = enumerate(iterate(self.envs.observation_space, observations))
        read = ((i, self._read(observation)) for i, observation in firsts if begun[i])
        return [Outcome(i, None, s, None if masks is None else masks[i]) for i, s in read]

    def _step(self, i: int, observation: Any, r: Any, terminated: Any, truncated: Any, infos: Any) -> Step:
        told = infos.get("_discount", np.zeros(self.n, bool))[i]
        info = {"discount": infos["discount"][i]} if told else {}
        with _Fault(i):
            return read_step((observation, r, terminated, truncated, info), self._observed)

    def _read(self, observation: Any) -> np.ndarray:
        with _Fault(None):
            return self._observed.read(observation)

    def _masks(self, observations: Any, infos: Any, idle: Any, moved: Any = None) -> np.ndarray | None:
        with _Fault(None):
            return self.masks.read_many(observations, infos, idle, moved)

    def _final_mask(self, i: int, observation: Any, infos: Any, terminated: bool) -> np.ndarray:
        """The mask of the last state of an episode, of an environment that was reset in the same step."""
        if terminated:
            return np.ones(self.masks.n_actions, bool)
        given, info = mask_in(observation), infos.get("final_info", {})
        if given is None and info.get(f"_{KEY}", np.zeros(self.n, bool))[i]:
            given = info[KEY][i]
        with _Fault(i):
            if given is None:
                raise UserError(
                    "the last state of a truncated episode has no action mask: env.action_masks() is asked after the "
                    f"reset in AutoresetMode.SAME_STEP, so take NEXT_STEP, or return info[{KEY!r}]"
                )
            return self.masks.checked(given)


class _Fault:
    """Names the environment in which an error occurred."""

    def __init__(self, i: int | None) -> None:
        self._which = "one of the environments" if i is None else f"environment {i}"

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, UserError):
            raise UserError(f"{self._which} is at fault: {error}") from None
