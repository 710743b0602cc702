"""Features: from a state to the active features of every action.

A features module has

- `Settings`, a NamedTuple of settings (see `ucls.settings`);
- `room(settings, low, high, n_actions) -> Room`, how large the coder would be, or a `UserError` where none can be made:
  asked before `make`, so that nobody asks for memory that the machine does not have;
- `make(settings, low, high, n_actions) -> Coder` for states between `low` and `high`, and a NamedTuple `Coder` that
  starts with `size` (the number of features of all actions) and `n_active` (of one action), and may hold a table that
  fills as states are seen;
- compiled `encode(coder, s, xs)`, which writes indices and values for every action into `xs` (`kernels.Active`, a row
  an action), the same state features in the same order for each; and `look(coder, s, xs)`, which gives what `encode`
  would and leaves the table as it is;
- `fit(dimensions, n_actions)`, if its settings depend on how many numbers a state has: some that make at most `BUDGET`
  features, for environments that bring no settings of their own;
- `FACTS`, if some algorithms should take numbers of theirs as defaults, as they do from the `facts` of environments:
  `trace_decay` and `prior_visits`, of `one_hot`;
- `notices(coder, settings)`, if a person should know something of a table: lines to be said, once each.

The features of the actions are interleaved (index = feature of the state * number of actions + action) and features of
the state are numbered by first visit, so that what has been seen is a leading block, which is all that a learner
touches. A feature that would be active twice is active once; its other place has value 0.

`Features` below is the same as signatures.

To add one: one file here, one line in `FEATURES`; or a module of your own, by its import path.
"""

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from ucls._modules import imported
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.kernels import Active, Vector

FEATURES = ("tiles", "one_hot", "scaled", "fourier", "rbf", "given")
PRECOMPUTED = "given"  # the features used with a user's function or array
CONTRACT = ("Settings", "Coder", "room", "make", "encode", "look")
BUDGET = 2048  # features of all actions that `fit` makes at most: least squares takes time and room by their square
DENSE = 200  # features of a state, at most, where all of them are active
TILED = 3  # numbers of a state up to which tiles are the default: in CartPole's four, waves learn twice as fast


class Room(NamedTuple):
    """How many features there are, of all actions; how many active ones, of each; how many numbers the coder holds."""

    size: int
    n_active: int
    numbers: int


class Features(Protocol):
    """What every features module has; the two last are compiled."""

    __name__: str
    Settings: type[Any]
    Coder: type[Any]

    def room(self, settings: Any, low: Sequence[float], high: Sequence[float], n_actions: int) -> Room: ...
    def make(self, settings: Any, low: Sequence[float], high: Sequence[float], n_actions: int) -> Any: ...
    def encode(self, coder: Any, s: "Vector", xs: "Active") -> None: ...
    def look(self, coder: Any, s: "Vector", xs: "Active") -> None: ...


def fitting(dimensions: int, n_actions: int, discrete: bool = False) -> str:
    """The default features for states with this many components, or for a moderate number of discrete states.

    >>> [fitting(dimensions, n_actions=3) for dimensions in (2, 8, 28 * 28)], fitting(1, n_actions=3, discrete=True)
    (['tiles', 'fourier', 'rbf'], 'one_hot')
    """
    if discrete:
        return "one_hot"
    if dimensions <= TILED:
        return "tiles"
    return "fourier" if dimensions < min(DENSE, BUDGET // n_actions) else "rbf"


def features_module(name: str | ModuleType) -> Features:
    """The module of some features, by its name or, outside the package, by its import path; or that module itself."""
    if not isinstance(name, str):
        return _checked(name, getattr(name, "__name__", repr(name)))
    if name in FEATURES:
        return cast(Features, importlib.import_module(f"ucls.features.{name}"))
    return _checked(imported("features", name, name, FEATURES), name)


def name_of(module: str | ModuleType) -> str:
    """The name of some features: ours by their own, others by their import path."""
    name = module if isinstance(module, str) else module.__name__
    return name.removeprefix("ucls.features.")


def is_discrete(features: Any) -> bool:
    """Whether features are for integer states within bounds only (`DISCRETE`)."""
    return getattr(features, "DISCRETE", False)


def is_precomputed(name: str) -> bool:
    """Whether a learner with these features gets them precomputed, by a user's function or array."""
    return name == PRECOMPUTED


def _checked(module: ModuleType, name: str) -> Features:
    missing = [part for part in CONTRACT if not hasattr(module, part)]
    if missing:
        raise UserError(f"module {name!r} makes no features: it lacks {', '.join(missing)}")
    return cast(Features, module)
