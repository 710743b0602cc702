"""The contracts of algorithms, features and environments as checks that users can run on their own: `ucls check NAME`.

>>> from ucls.testing import check_environment
>>> check_environment("ucls/RiverSwim-v0")

A broken promise is a `UserError` of one line that says what to fix. The tests of this package make the same checks.
"""

from ucls.testing.algorithm import check_algorithm, examine_algorithm
from ucls.testing.environment import check_environment, examine_environment
from ucls.testing.features import check_features, examine_features
from ucls.testing.requirement import Requirement, Verdict
from ucls.testing.small import small_run, small_settings

__all__ = [
    "Requirement",
    "Verdict",
    "check_algorithm",
    "check_environment",
    "check_features",
    "examine_algorithm",
    "examine_environment",
    "examine_features",
    "small_run",
    "small_settings",
]
