"""Upper-Confidence Least-Squares: exploration by optimism, with bounds whose width depends on the state.

Importing this registers the environments with Gymnasium; `Agent` and the rest of the machinery load when first used.

>>> import ucls
>>> ucls.__version__
'0.1.0'
"""

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium as _gymnasium

from ucls.envs import ENVIRONMENTS as _ENVIRONMENTS
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.runs.agent import Agent
    from ucls.runs.loop import Run, make_run

__all__ = ["Agent", "Run", "UserError", "__version__", "make_run"]
__version__ = "0.1.0"

_LAZY = {"Agent": "ucls.runs.agent", "Run": "ucls.runs.loop", "make_run": "ucls.runs.loop"}
_ROOMS = (
    "algorithms",
    "checkpoint",
    "diagnostics",
    "envs",
    "evaluation",
    "explain",
    "features",
    "figures",
    "kernels",
    "paper",
    "planning",
    "runs",
    "stats",
    "study",
)

for _id in _ENVIRONMENTS:
    if _id not in _gymnasium.registry:
        _gymnasium.register(_id, entry_point="ucls.envs.gym:GymWorld", kwargs={"id": _id})


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"ucls.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'ucls' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_ROOMS})
