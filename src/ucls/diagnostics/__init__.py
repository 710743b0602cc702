"""Diagnosis of a run: is it optimistic, do its bounds shrink, do its values converge, and what is its regret?

These are the conditions of the paper's Optimistic Values Theorem, measured on a grid of states where the optimum and
the value of any policy can be computed (`dynamic_programming`). Of a third-party environment neither is known:
`visited` reads an agent where it has been, and holds that against what it earned. Looking never changes a run.

>>> from ucls.diagnostics import probe_run, verdict
>>> from ucls.core.run import make_run
>>> history, readings = probe_run(make_run("ucls/OneState-v0", "ucls", seed=1), 8000, measurements=4)
>>> readings["step"].tolist()
[0, 500, 2000, 4500, 8000]
>>> verdict(readings).word
'near-optimal'
"""

from ucls.diagnostics.diagnose import (
    COLUMNS,
    VISITED,
    Counts,
    Diagnosis,
    as_data,
    counts,
    default_distribution,
    diagnose,
    headline,
)
from ucls.diagnostics.internals import internals
from ucls.diagnostics.policies import Policies, policies
from ucls.diagnostics.probe import DISTRIBUTIONS, optimal_values, probe, probe_run
from ucls.diagnostics.verdict import Verdict, verdict

__all__ = [
    "COLUMNS",
    "DISTRIBUTIONS",
    "VISITED",
    "Counts",
    "Diagnosis",
    "Policies",
    "Verdict",
    "as_data",
    "counts",
    "default_distribution",
    "diagnose",
    "headline",
    "internals",
    "optimal_values",
    "policies",
    "probe",
    "probe_run",
    "verdict",
]
