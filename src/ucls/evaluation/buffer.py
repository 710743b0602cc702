"""Where transitions of a stream wait to be logged together: calling a kernel costs more than taking in a transition."""

from typing import Any

import numpy as np

ROOM = 1024


class Buffer:
    """Transitions with so many active features each, given by their indices."""

    def __init__(self, active: int, size: int):
        self.active, self.size, self.count = active, size, 0
        self.x, self.x_next = np.zeros((ROOM, active), np.int64), np.zeros((ROOM, active), np.int64)
        self.numbers = np.zeros((ROOM, 3))
        self.start = np.zeros(ROOM, bool)

    def takes(self, x: Any) -> bool:
        """Whether x is an array of as many valid indices; everything else goes the slower way, which has the errors."""
        if not (isinstance(x, np.ndarray) and x.ndim == 1 and x.dtype.kind in "iu" and len(x) == self.active):
            return False
        indices = x.tolist()
        return bool(indices) and min(indices) >= 0 and max(indices) < self.size

    def take(self, x: np.ndarray, reward: float, discount: float, x_next: np.ndarray, rho: float, start: bool) -> None:
        """Copy a transition; the caller has asked whether there is room."""
        i = self.count
        self.x[i], self.x_next[i], self.start[i] = x, x_next, start
        self.numbers[i] = reward, discount, rho
        self.count = i + 1

    def empty(self) -> tuple[Any, ...]:
        """What waits: x, reward, discount, x_next, rho and start; then nothing waits."""
        n, self.count = self.count, 0
        reward, discount, rho = self.numbers[:n].T
        return self.x[:n], reward, discount, self.x_next[:n], rho, self.start[:n]
