"""A learner's steps with action masks, and the masks it has met."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ucls.core.masked_steps import MaskedKernels
from ucls.errors import UserError
from ucls.kernels.masks import VALID

MET = "masks.met"  # the name in checkpoints


class Masks:
    """The steps of a learner with masks, and for every feature whether its action was valid when it was active.

    `bound` makes a kernel callable with the parts of the learner.
    """

    def __init__(self, kernels: MaskedKernels, met: np.ndarray, n_actions: int, bound: Callable[[Any], Any]) -> None:
        self.met = met
        self._mask = np.ones(n_actions, np.uint8)  # what kernels read, copied from any mask
        self._begin, self._advance = bound(kernels.begin), bound(kernels.advance)

    def begin(self, parts: tuple[Any, ...], s: np.ndarray, mask: Any) -> None:
        """Begin an episode in state s."""
        self._mask[:] = mask
        self._begin((*parts, self.met), s, self._mask)
        _refuse_no_row(parts)

    def advance(
        self, parts: tuple[Any, ...], r: float, gamma: float, s_next: np.ndarray, terminated: bool, mask: Any
    ) -> Any:
        """Learn from a step, as `advance` of `steps.kernels` does."""
        self._mask[:] = mask
        done = self._advance((*parts, self.met), r, gamma, s_next, terminated, self._mask)
        _refuse_no_row(parts)
        return done


def _refuse_no_row(parts: tuple[Any, ...]) -> None:
    """Refuse an algorithm that returned no row of the features it was given."""
    pending = parts[3]
    if pending.a[0] < 0:
        pending.a[0] = 0
        raise UserError(
            "`act` of the algorithm must return the index of a row of xs, which has a row for each valid action"
        )


def checked_met(arrays: Mapping[str, np.ndarray], size: int) -> np.ndarray | None:
    """Return the masks met according to a checkpoint, or None."""
    met = arrays.get(MET)
    if met is not None and (met.dtype != np.uint8 or met.shape != (size,) or (met.size and met.max() > VALID)):
        raise UserError(f"the checkpoint cannot be right: {MET!r} must be {size} numbers from 0 to {VALID}")
    return None if met is None else met.copy()
