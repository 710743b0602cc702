"""What tests of studies share: a runner that runs nothing."""

import numpy as np

from ucls.core.history import History
from ucls.study import Member, Study
from ucls.study.outcome import Outcome
from ucls.study.storage.result import Circumstance, summarize

ABOUT = Circumstance(2.0, 500.0, "here", "ucls 0", "now")


def pretend(value=lambda cell: float(cell.seed), fail=lambda cell: False, log=None):
    """A runner that runs nothing: each cell earns `value` a step for ten steps."""

    def runner(cells, checkpoints, stop):
        for cell in cells:
            if log is not None:
                log.append(cell.id)
            if fail(cell):
                yield Outcome(cell.id, error="ValueError: no", traceback="Traceback ...")
            else:
                history = History(np.full(10, value(cell)), np.zeros(10, np.uint8))
                yield Outcome(cell.id, summarize(history, 1), ABOUT)

    return runner


def study_of(cells, label="a", name="s"):
    return Study(name, tuple(Member(label, cell) for cell in cells))
