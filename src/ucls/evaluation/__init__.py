"""Policy evaluation with confidence: LSTD(lambda) of a fixed policy, and the interval of Theorem 1.

`compare` answers from a log whether new policies are better than the one that made it; `read_log` and `check_log` read
and check such logs.

>>> from ucls.evaluation import LSTD
>>> lstd = LSTD(size=3, lambda_=0.5)
>>> lstd.observe_batch(x=[[0], [1], [0], [2]], reward=[0, 1, 0, 3], discount=[1, 0, 1, 0], x_next=[[1], [1], [2], [2]])
>>> round(lstd.value([1]), 6), round(lstd.value([2]), 6)
(1.0, 3.0)
>>> lstd.report().rank
3
"""

from ucls.evaluation.comparison import Candidate, Comparison, compare
from ucls.evaluation.estimators import (
    ESTIMATORS,
    BlockBootstrap,
    GlobalCorrected,
    GlobalPrinted,
    LeaveOneOut,
    LinearTD,
    Robust,
    Running,
    Sandwich,
)
from ucls.evaluation.logs import EpisodeLog, check_log, read_log
from ucls.evaluation.lstd import LSTD, Interval, Report

__all__ = [
    "ESTIMATORS",
    "LSTD",
    "BlockBootstrap",
    "Candidate",
    "Comparison",
    "EpisodeLog",
    "GlobalCorrected",
    "GlobalPrinted",
    "Interval",
    "LeaveOneOut",
    "LinearTD",
    "Report",
    "Robust",
    "Running",
    "Sandwich",
    "check_log",
    "compare",
    "read_log",
]
