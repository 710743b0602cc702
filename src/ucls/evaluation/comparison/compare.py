"""Compare new policies with the one that made a log: values over the start states, and their difference."""

from collections.abc import Mapping, Sequence
from typing import Any

from ucls.errors import UserError
from ucls.evaluation.comparison.comparer import Comparer
from ucls.evaluation.comparison.policies import (
    listed,
    reserved_columns,
)
from ucls.evaluation.comparison.result import Comparison
from ucls.evaluation.logs.episodes import EpisodeLog, read_log
from ucls.evaluation.logs.tables import read_table


def compare(
    log: Any,
    policies: Any,
    *,
    gamma: float | None = None,
    confidence: float = 0.9,
    features: Any = None,
    at: Sequence[Sequence[float]] = (),
    columns: Mapping[str, Any] = {},
    ends: str | None = None,
) -> Comparison:
    """Compare new policies with the one that made a log.

    Parameters
    ----------
    log: a file, DataFrame, mapping of arrays or `EpisodeLog`; see `read_log` for `gamma`, `columns` and `ends`.
    policies: one policy, a list, or a mapping of names to policies; see `ucls.evaluation.comparison.policies`.
    confidence: of the intervals. A verdict of "better" is wrong with probability at most (1 - confidence) / 2.
    features: a name from `ucls features`, a module, or a function from states to a matrix; chosen by default.
    at: states at which to report values too.
    """
    if not 0.5 <= confidence < 1:
        raise UserError(f"confidence must be at least 0.5 and below 1, not {confidence:g}")
    named = listed(policies)
    if not isinstance(log, EpisodeLog):
        reserved: list[str] = []
        if any(isinstance(policy, str) and policy.startswith("columns:") for policy in named.values()):
            table, _ = read_table(log)
            reserved = reserved_columns(named, list(table))
            log = table if not isinstance(log, str) else log
        log = read_log(log, gamma, columns, ends, reserved)
    elif gamma is not None and gamma != log.gamma:
        raise UserError("the log was read with another gamma: give it to read_log")
    return Comparer(log, confidence, features, at).run(named)
