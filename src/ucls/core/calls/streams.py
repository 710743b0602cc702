"""Several streams of transitions for one learner, as from a vector of environments.

What an algorithm learns is shared. What belongs to one stream, its trace and its pending transition, is kept for each
and put in place before a step of that stream: `STREAM` of an algorithm names the fields of its state.
"""

from typing import Any

import numpy as np

from ucls.errors import UserError
from ucls.kernels.active import Active

PENDING = ("xs", "a")


class Streams:
    """The streams of a learner; the first one is stored in the learner itself."""

    def __init__(self, learner: Any, n: int) -> None:
        names = getattr(learner.algorithm, "STREAM", None)
        if names is None:
            raise UserError(
                f"{learner.plan.agent} cannot learn in a vector of environments: declare STREAM = (...), the names "
                "of the fields of State that hold a trace"
            )
        self._learner, self._names, self._now = learner, names, 0
        self._kept = [[part.copy() for part in self._parts()] for _ in range(n)]

    def _parts(self) -> list[np.ndarray]:
        """Return the arrays of the current stream."""
        found: list[np.ndarray] = []
        for name in self._names:
            part = self._learner.state
            for word in name.split("."):
                part = getattr(part, word)
            found += _arrays(part)
        return found + [array for name in PENDING for array in _arrays(getattr(self._learner.pending, name))]

    def switch(self, stream: int) -> None:
        """Make a stream the current one."""
        if stream == self._now:
            return
        parts = self._parts()
        for part, old, new in zip(parts, self._kept[self._now], self._kept[stream], strict=True):
            old[...] = part
            part[...] = new
        self._now = stream
        if hasattr(self._learner.algorithm, "switch"):
            self._learner.algorithm.switch(self._learner.state)

    def action(self, stream: int) -> int:
        """The action that a stream has chosen."""
        return self._learner.action if stream == self._now else int(self._kept[stream][-1][0])

    def advance(
        self, stream: int, r: float, gamma: float, s_next: np.ndarray, terminated: bool, mask: np.ndarray | None
    ) -> bool | None:
        """Learn from a step of a stream, as `Learner.advance` does."""
        self.switch(stream)
        me, carry = self._learner, getattr(self._learner.algorithm, "carry", None)
        if carry is None:
            return me.advance(r, gamma, s_next, terminated, mask)
        x = _row(me.pending)
        healthy = me.advance(r, gamma, s_next, terminated, mask)
        if healthy:
            x_next, gamma = (x, 0.0) if terminated else (_row(me.pending), gamma)
            for other in self.others(me.algorithm.STREAM[0]):
                carry(me.state, me.hyper, x, float(gamma), x_next, other)
        return healthy

    def others(self, name: str) -> list[np.ndarray]:
        """Return an array of the state for each stream that is not the current one."""
        at = 0
        for field in self._names:
            if field == name:
                return [kept[at] for i, kept in enumerate(self._kept) if i != self._now]
            part = self._learner.state
            for word in field.split("."):
                part = getattr(part, word)
            at += len(_arrays(part))
        raise KeyError(name)


def _row(pending: Any) -> Active:
    """A copy of the features of the pending action."""
    return Active(pending.xs.index[pending.a[0]].copy(), pending.xs.value[pending.a[0]].copy())


def _arrays(part: Any) -> list[np.ndarray]:
    """The arrays of a field, which is one or a NamedTuple of them."""
    return [part] if isinstance(part, np.ndarray) else [array for field in part for array in _arrays(field)]
