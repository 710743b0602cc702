"""Upper-Confidence Least-Squares: exploration by optimism, with bounds whose width depends on the state.

Importing this registers the environments with Gymnasium, at once or as soon as Gymnasium is imported too; `Agent` and
the rest of the machinery load when first used.

>>> import ucls
>>> ucls.__version__
'0.3.0'
"""

import importlib
import importlib.util
import sys as _sys
from typing import TYPE_CHECKING, Any

from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.agent.agent import Agent
    from ucls.agent.evaluate import Evaluation, evaluate_policy
    from ucls.core.run import Run, make_run
    from ucls.gym.discrete_actions import DiscreteActions

__all__ = ["Agent", "DiscreteActions", "Evaluation", "Run", "UserError", "__version__", "evaluate_policy", "make_run"]
__version__ = "0.3.0"

_LAZY = {
    "Agent": "ucls.agent.agent",
    "DiscreteActions": "ucls.gym.discrete_actions",
    "Evaluation": "ucls.agent.evaluate",
    "Run": "ucls.core.run",
    "evaluate_policy": "ucls.agent.evaluate",
    "make_run": "ucls.core.run",
}
_SUBPACKAGES = (
    "agent",
    "algorithms",
    "callbacks",
    "core",
    "diagnostics",
    "envs",
    "evaluation",
    "features",
    "gym",
    "kernels",
    "paper",
    "stats",
    "study",
    "testing",
    "train",
)


def _register(gymnasium: Any) -> None:
    from ucls.envs import ENVIRONMENTS

    for id in ENVIRONMENTS:
        if id not in gymnasium.registry:
            gymnasium.register(id, entry_point="ucls.envs.gym:BuiltinGymEnv", kwargs={"id": id})


class _Watch:
    """Registers the environments once Gymnasium is imported: importing it here would take most of a second."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Find Gymnasium as usual, and let its import register the environments; find nothing else."""
        if fullname != "gymnasium":
            return None
        _sys.meta_path.remove(self)
        spec: Any = importlib.util.find_spec(fullname)
        if spec is not None:
            execute = spec.loader.exec_module
            spec.loader.exec_module = lambda module: (execute(module), _register(module))
        return spec


if "gymnasium" in _sys.modules:
    _register(_sys.modules["gymnasium"])
else:
    _sys.meta_path.insert(0, _Watch())


def __getattr__(name: str) -> Any:
    if name in _SUBPACKAGES:
        return importlib.import_module(f"ucls.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'ucls' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES])
