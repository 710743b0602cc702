"""A runner of the paper's cells that runs nothing."""

import numpy as np

from ucls.core.history import History
from ucls.paper.runs.domains import CLASSIC, PUDDLE, RIVER
from ucls.study.outcome import Outcome
from ucls.study.storage.result import Circumstance, summarize

ABOUT = Circumstance(1.0, 1000.0, "here", "ucls 0", "now")


def pretend(cells, checkpoints, stop):
    """Runs of episodes that get shorter, UCLS's the shortest: nothing is learned here."""
    for cell in cells:
        steps = min(cell.steps, 3000)
        rng = np.random.default_rng(cell.seed)
        rewards, ends = rng.random(steps) * (0.3 if cell.agent == "ucls" else 0.1), np.zeros(steps, np.uint8)
        if cell.env not in (RIVER, "ucls/OneState-v0"):
            ends[np.unique(np.minimum(np.cumsum(rng.integers(20, 200, 80)), steps - 1))] = 1
            rewards = -np.ones(steps) if cell.env in (PUDDLE, CLASSIC) else ends.astype(float)
        more = {}
        if cell.probe:
            names = ("step", "optimism", "radius", "value_error", "regret", "optimistic", "holds")
            more = {f"probe.{name}": np.arange(5.0) for name in names}
        yield Outcome(cell.id, summarize(History(rewards, ends), cell.resolution, more), ABOUT)
