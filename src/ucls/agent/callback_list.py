"""Calling callbacks; see `ucls.callbacks` for their contract."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ucls.core.config import brief
from ucls.errors import UserError


def listed(given: Any) -> list[Any]:
    """Return the given callbacks, one, several or none, as a list."""
    if given is None:
        return []
    callbacks = list(given) if isinstance(given, Iterable) and not callable(given) else [given]
    for callback in callbacks:
        if isinstance(callback, type) or not callable(callback):
            raise UserError(f"a callback cannot be {brief(callback)}: give a callable that takes the agent")
    return callbacks


def refuse_within(agent: Any, what: str) -> None:
    """Refuse to change an agent while it learns."""
    if agent.learning:
        raise UserError(f"{what} cannot be called while the agent learns, as in a callback: return False there to stop")


@contextmanager
def begun(callbacks: Sequence[Any], agent: Any) -> Iterator[None]:
    """Call `begin` of every callback, and finally `end` of those that began, in reverse order, even after an error."""
    with ExitStack() as stack:
        agent.learning = True
        stack.callback(setattr, agent, "learning", False)
        for callback in callbacks:
            if begin := getattr(callback, "begin", None):
                begin(agent)
            if end := getattr(callback, "end", None):
                stack.callback(end, agent)
        yield


def call_all(callbacks: Sequence[Any], agent: Any) -> bool:
    """Call all callbacks after a step; return False if one of them returned False."""
    stops = False
    for callback in callbacks:
        answer = callback(agent)
        stops = stops or answer is False or (isinstance(answer, np.bool_) and not answer)
    return not stops
