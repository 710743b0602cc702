"""Check while an agent learns, at almost no cost, whether it can still be saved.

Squares of huge rewards and features overflow to infinity in a learner's state while its values are still finite. Such
a state cannot be saved. That is reported when it happens, not when the agent is saved.
"""

import math
import time
import warnings
from typing import Any, Protocol

from ucls.errors import UclsWarning, UserError

WHILE, AFTER = 0.01, 0.03  # fractions of the time that checks may take: while learning, and after a call of learn
ADVICE = "scale the rewards or features down (below 1e100)"


class Learns(Protocol):
    """An object that knows whether it can be saved."""

    def refuse_unsound(self) -> None:
        """Refuse to be saved if it could not be loaded again."""
        ...


class Saveable:
    """Checks a learner's state now and then, and warns once when it can no longer be saved."""

    def __init__(self) -> None:
        self._last, self._cost, self._told = -math.inf, math.inf, False

    def look(self, learner: Learns, steps: int, share: float) -> None:
        """Warn if the state can no longer be saved; do nothing if a check would take more than this fraction of the
        time since the last one."""
        now = time.perf_counter()
        if self._told or share * (now - self._last) < self._cost < math.inf:
            return
        fault = fault_of(learner)
        self._last = time.perf_counter()
        self._cost = min(self._cost, self._last - now)
        if fault:
            self._told = True
            warnings.warn(f"after step {steps} the agent can no longer be saved: {fault}", UclsWarning, stacklevel=4)


def fault_of(learner: Any) -> str:
    """Why a learner's state cannot be saved, and what to do; nothing if it can."""
    try:
        learner.refuse_unsound()
    except UserError as error:
        return str(error)
    return ""
