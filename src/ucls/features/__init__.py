"""Features: from a state to the active features of every action.

A features module has

- `Settings`, a NamedTuple of settings (see `ucls.settings`);
- `allocation(settings, low, high, n_actions) -> Allocation`, the sizes of the coder, or a `UserError` if none can be
  made. It is called before `make`, so that no more memory is requested than the machine has;
- `make(settings, low, high, n_actions) -> Coder`, for states between `low` and `high`. `Coder` is a NamedTuple that
  starts with `size` (the number of features of all actions) and `n_active` (the number of active features per action),
  and may hold a table that fills as states are visited. Its arrays are saved in checkpoints, so integer ones declare
  their range as those of an algorithm's `State` do; `MADE` (`kernels.ranges`) says that an array is as `make` makes it;
- compiled `encode(coder, s, xs)`, which writes indices and values for every action into `xs` (`kernels.Active`, one row
  per action): the same state features in the same order for each action;
- compiled `lookup(coder, s, xs)`, which writes what `encode` would, without changing the table.

Optional:

- `DISCRETE = True`, if states must be integers within `low` and `high`. The bounds of the observations are then used
  exactly as they are, other states are refused, continuous environments are refused, and maps show one cell per state;
- `UNBOUNDED = True`, if they need no bounds: missing ones are then not estimated (`bounds_of` in `ucls.gym`);
- `fit(dimensions, n_actions)`, settings that depend on the number of components of a state, for environments that have
  no settings of their own for these features; they should give at most `BUDGET` features;
- `FACTS`, defaults for settings of algorithms, like the `facts` of environments: `one_hot` sets `trace_decay` and
  `prior_visits`; `planner_prior_visits` is set by both it and `tiles`, `planner_noise_scale` by `tiles`;
- `notices(coder, settings) -> list[str]`, messages for the user about the table, each shown once.

The features of the actions are interleaved (index = state feature * number of actions + action), and state features are
numbered by first visit: the features visited so far are a leading block, and a learner touches nothing else. A feature
that would be active twice is active once; its other entry has value 0.

`Features` below gives the signatures.

To add one: one file here and one line in `FEATURES`; or a module of your own, named by its import path. `ucls check
NAME` tests it. The features `PRECOMPUTED` are special: agents use them when the user gives a function of the
observation, or an array.
"""

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from ucls._util.modules import imported
from ucls.errors import UserError, about

if TYPE_CHECKING:
    from ucls.kernels import Active, Vector

FEATURES = ("tiles", "one_hot", "scaled", "observation", "fourier", "random_fourier", "precomputed")
PRECOMPUTED = "precomputed"  # the features used with a user's function or array
CONTRACT = ("Settings", "Coder", "allocation", "make", "encode", "lookup")
BUDGET = 2048  # features of all actions that `fit` makes at most: the cost of least squares is quadratic in them
DENSE = 200  # at most this many features of a state if all of them are active
TILED = 3  # components of a state up to which tiles are the default: in CartPole, Fourier features learn twice as fast


class Allocation(NamedTuple):
    """The number of features of all actions, of active features per action, and of array elements in the coder."""

    size: int
    n_active: int
    numbers: int


class Features(Protocol):
    """The required members; the last two are compiled."""

    __name__: str
    Settings: type[Any]
    Coder: type[Any]

    def allocation(self, settings: Any, low: Sequence[float], high: Sequence[float], n_actions: int) -> Allocation: ...
    def make(self, settings: Any, low: Sequence[float], high: Sequence[float], n_actions: int) -> Any: ...
    def encode(self, coder: Any, s: "Vector", xs: "Active") -> None: ...
    def lookup(self, coder: Any, s: "Vector", xs: "Active") -> None: ...


def fitting(dimensions: int, n_actions: int, discrete: bool = False) -> str:
    """The default features for states with this many components, or for a moderate number of discrete states.

    >>> [fitting(dimensions, n_actions=3) for dimensions in (2, 8, 28 * 28)], fitting(1, n_actions=3, discrete=True)
    (['tiles', 'fourier', 'random_fourier'], 'one_hot')
    """
    if discrete:
        return "one_hot"
    if dimensions <= TILED:
        return "tiles"
    return "fourier" if dimensions < min(DENSE, BUDGET // n_actions) else "random_fourier"


@about("features")
def features_module(name: str | ModuleType) -> Features:
    """The features module with a name or, outside the package, an import path; a module is checked and returned."""
    if not isinstance(name, str):
        return _checked(name, getattr(name, "__name__", repr(name)))
    if name in FEATURES:
        return cast(Features, importlib.import_module(f"ucls.features.{name}"))
    return _checked(imported("features", name, name, FEATURES), name)


def name_of(module: str | ModuleType) -> str:
    """The name of built-in features, or the import path of others."""
    name = module if isinstance(module, str) else module.__name__
    return name.removeprefix("ucls.features.")


def is_discrete(features: Any) -> bool:
    """Whether features are for integer states within bounds only (`DISCRETE`)."""
    return getattr(features, "DISCRETE", False)


def needs_bounds(features: Any) -> bool:
    """Whether features need bounds of every component, so that missing ones must be estimated."""
    return not getattr(features, "UNBOUNDED", False)


def is_precomputed(name: str) -> bool:
    """Whether a learner with these features gets them precomputed, by a user's function or array."""
    return name == PRECOMPUTED


def _checked(module: ModuleType, name: str) -> Features:
    missing = [part for part in CONTRACT if not hasattr(module, part)]
    if missing:
        raise UserError(f"module {name!r} is not a features module: it lacks {', '.join(missing)}")
    from ucls.kernels.compilation.jit import refuse_plain

    refuse_plain(module, name, ("encode", "lookup"), "put @exact (from ucls.kernels) above it")
    return cast(Features, module)
