"""Action masks of environments: `env.action_masks()` as in sb3-contrib, the key "action_mask" of Dict observations, or
`info["action_mask"]` as in Gymnasium's Taxi, whichever is found first.

A mask has a number for every action: 1 (or True) if it is valid in the current state, otherwise 0.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucls.core.config import brief
from ucls.errors import UserError
from ucls.gym.layout import real_numbers
from ucls.gym.wrapping import layers

KEY = "action_mask"
METHOD = "action_masks"


def checked_mask(given: Any, n_actions: int) -> np.ndarray:
    """A mask as an array of booleans, or an error that says what is wrong with it.

    >>> checked_mask([0, 1, 1], 3)
    array([False,  True,  True])
    """
    numbers = real_numbers(given)
    if numbers is None or numbers.shape != (n_actions,):
        raise UserError(f"an action mask cannot be {brief(given)}: it has a 0 or 1 for each of the {n_actions} actions")
    mask = numbers != 0
    if not (mask == numbers).all():
        raise UserError(f"an action mask cannot be {brief(given)}: it has only 0 and 1, or False and True")
    if not mask.any():
        raise UserError("an action mask cannot be all 0: at least one action must be valid until the episode ends")
    return mask


def checked_masks(given: Any, many: int, n_actions: int) -> np.ndarray:
    """The masks of a batch, one row per observation; one mask serves for all."""
    numbers = real_numbers(given)
    if numbers is not None and numbers.ndim == 1:
        return np.tile(checked_mask(given, n_actions), (many, 1))
    if numbers is None or numbers.shape != (many, n_actions):
        raise UserError(f"action_masks cannot be {brief(given)}: give {many} rows of {n_actions} numbers, 0 or 1")
    return np.array([checked_mask(row, n_actions) for row in numbers]).reshape(many, n_actions)


def is_masked_space(space: Any) -> bool:
    """Whether observations are mappings with an action mask and something else."""
    parts = getattr(space, "spaces", None)
    return isinstance(parts, Mapping) and KEY in parts and len(parts) > 1


def without_mask(observation: Any) -> Any:
    """An observation without its action mask: the other part, or the mapping of the others if there are several."""
    if not isinstance(observation, Mapping) or KEY not in observation or len(observation) < 2:
        return observation
    others = {key: part for key, part in observation.items() if key != KEY}
    return next(iter(others.values())) if len(others) == 1 else others


def mask_in(observation: Any) -> Any:
    """The action mask in an observation, or None."""
    return (
        observation[KEY] if isinstance(observation, Mapping) and len(observation) > 1 and KEY in observation else None
    )


def has_masks(env: Any) -> bool:
    """Return whether an environment provides action masks, according to its next reset; False if that fails."""
    try:
        observation, info = env.reset(seed=0)
        return MaskReader(env, int(env.action_space.n)).look(observation, info) is not None
    except Exception:  # third-party code: a run in this environment will say what is wrong
        return False


class MaskReader:
    """Reads the masks of an environment. The first one read decides whether it has any: `gives` is None before.

    With `needed`, an environment without masks is refused.
    """

    def __init__(self, env: Any, n_actions: int, needed: bool = False) -> None:
        self.n_actions, self._needed = n_actions, needed
        self._method, self._number = _methods(env)
        self.gives: bool | None = None
        self._given: Any = None
        self.mask: np.ndarray | None = None  # the last one

    def read(self, observation: Any, info: Any, reset: bool = False) -> np.ndarray | None:
        """The mask of the current state, by what `reset` or `step` returned; None if the environment has no masks."""
        given = self.look(observation, info)
        self._note(given)
        if self.gives == (given is None):
            where = ("reset()", "step()") if reset == self.gives else ("step()", "reset()")
            raise UserError(f"there is an action mask after {where[1]}, but none after {where[0]}: give one after both")
        self._given = given
        self.mask = None if given is None else self.checked(given)
        return self.mask

    def _note(self, given: Any) -> None:
        """Note whether there are masks, the first time."""
        if self.gives is None:
            self.gives = given is not None
            if self._needed and not self.gives:
                raise UserError(
                    f"the agent learned with action masks, but there are none: return info[{KEY!r}], define "
                    f"env.{METHOD}(), or give the environment that it learned in"
                )

    def read_many(
        self, observations: Any, infos: Any, idle: np.ndarray, moved: np.ndarray | None = None
    ) -> np.ndarray | None:
        """The masks of the environments of a vector, one row for each; None without masks.

        Those that are `idle` need no action: all of theirs are valid. Those that have not `moved` keep their masks.
        """
        given = self.look(observations, infos)
        self._note(given)
        if not self.gives:
            if given is not None:
                raise UserError("there is an action mask after step(), but none after reset(): give one after both")
            return None
        many = len(idle)
        moved = np.ones(many, bool) if moved is None else moved
        told = infos.get(f"_{KEY}", np.ones(many, bool)) if given is infos.get(KEY) else np.ones(many, bool)
        rows = np.ones((many, self.n_actions), bool) if self.mask is None else self.mask.copy()
        for i in np.flatnonzero(moved):
            if not idle[i] and (given is None or not told[i]):
                raise UserError(f"environment {i} gives no action mask, but others do: give one after every step()")
            rows[i] = True if idle[i] else self.checked(given[i])
        self.mask = rows
        return rows

    def refuse_changed_in_many(self, idle: np.ndarray) -> None:
        """Refuse masks of a vector that are not what they were when the actions were chosen."""
        if self._method is None or self.mask is None:
            return  # whatever a vector returns is a copy
        given = self._method()
        for i in np.flatnonzero(~idle):
            self._refuse_other(self.mask[i], self.checked(given[i]))

    def checked(self, given: Any) -> np.ndarray:
        """A mask as an array, or an error that says what is wrong with it."""
        return checked_mask(given if self._number is None else self._number(given), self.n_actions)

    def look(self, observation: Any, info: Any) -> Any:
        """The mask as it is given, or None."""
        if self._method is not None:
            return self._method()
        inside = mask_in(observation)
        return info.get(KEY) if inside is None and isinstance(info, Mapping) else inside

    def refuse_changed(self) -> None:
        """Refuse a mask that is not what it was when the action was chosen."""
        given = self._given if self._method is None else self._method()
        self._refuse_other(self.mask, None if given is None else self.checked(given))

    def _refuse_other(self, chosen: np.ndarray | None, taken: np.ndarray | None) -> None:
        before, now = (None if each is None else each.astype(int).tolist() for each in (chosen, taken))
        if before != now:
            raise UserError(
                f"the action mask was {brief(before)} when the action was chosen and is {brief(now)} when it is taken: "
                "let it change only in reset() and step()"
            )


def _methods(env: Any) -> tuple[Any, Any]:
    """The methods of an environment, or of those of a vector: `action_masks`, and that of `DiscreteActions` which
    numbers the actions of a mask; None for those that it lacks."""
    if env is None:
        return None, None
    if not hasattr(env, "num_envs"):
        return _found(env, METHOD), _found(env, "number_mask")
    if getattr(env, "envs", None):
        one = env.envs[0]
        return (lambda: env.call(METHOD)) if _found(one, METHOD) else None, _found(one, "number_mask")
    if not getattr(env, "env_fns", None):
        return None, None
    one = env.env_fns[0]()  # its environments are in other processes, which a question that fails would end
    try:
        return (lambda: env.call(METHOD)) if _found(one, METHOD) else None, _found(one, "number_mask")
    finally:
        one.close()


def _found(env: Any, name: str) -> Any:
    """The method of an environment or of one of its wrappers, the outermost that has one; None without one."""
    methods = (getattr(layer, name, None) for layer in layers(env))
    return next((method for method in methods if callable(method)), None)
