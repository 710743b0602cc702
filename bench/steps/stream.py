"""A fixed stream of transitions, with sparse features like a tile coder's."""

from typing import NamedTuple

import numpy as np

N_ACTIVE, N_ACTIONS, LENGTH = 8, 4, 8192


class Stream(NamedTuple):
    """Transition t goes from features t to features t + 1; the last one leads back to the first."""

    d: int
    index: np.ndarray
    value: np.ndarray
    r: np.ndarray
    gamma: float


def make_stream(d: int, length: int = LENGTH) -> Stream:
    """Walk along a line covered by eight shifted tilings, with four actions that last a while.

    As in the domains of the paper, most tiles stay from one step to the next, so that about fifty traces are large at a
    time. The walk goes round, so that it comes back to every tile.
    """
    rng = np.random.default_rng(0)
    per_tiling = d // N_ACTIONS // N_ACTIVE
    place = np.cumsum(rng.integers(0, 2, length))
    action = np.cumsum(rng.random(length) < 0.06) % N_ACTIONS
    tiling = np.arange(N_ACTIVE)
    tile = tiling * per_tiling + (place[:, None] + tiling) // N_ACTIVE % per_tiling
    index = tile * N_ACTIONS + action[:, None]
    index = np.concatenate([index, index[:1]])
    return Stream(d, index, np.full(index.shape, 1 / N_ACTIVE), rng.normal(size=length), 0.99)
