"""The algorithms: one file each, reading like its box in the paper.

An algorithm is a module with

- `Hyper`, a NamedTuple of settings (see `ucls.settings`), and `State`, a NamedTuple of arrays (or of such NamedTuples):
  a checkpoint is those arrays and nothing else, so any other field is refused. A field of whole numbers declares its
  range (`ranges`), because a checkpoint may come from anybody and kernels do not check indices:
  `Annotated[IntVector, FEATURE]` for indices of features, `Count("features")` for how many of them, `COUNT` for what
  is only counted. A learner whose state lacks one is refused when it is made. Numbers with a point need none: they
  must be finite. What no field can say alone is a method `fault()` of the NamedTuple;
- `init(hyper, size, n_actions, n_active, dtype) -> State`, for `size` features of which `n_active` are active;
- `room(hyper, size, n_actions, n_active) -> int`, how many numbers `init` makes room for, so that a plan which the
  machine has no memory for is refused before it is asked for; without it, 4 `size` squared;
- compiled kernels that change the state in place: `start(state, hyper, rng)` at the beginning of every episode, and
  `update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)`, where gamma is 0 if the episode terminated (then
  xs_next and a_next mean nothing); and `act(state, hyper, xs, rng) -> a`, which leaves the state as it is;
- compiled `value(state, hyper, x) -> mean`; one that keeps bounds also has `interval(state, hyper, x, rng) ->
  (mean, radius)`, which gets a generator of its own, so that looking does not change the run; and, if the agent
  maximizes something else than mean + radius, compiled `upper(state, hyper, x)`, which is that;
- compiled `parts(state, hyper, x) -> (unknown, noisy)`, if it can tell the two parts of its radius apart, and
  `unknown(state, x)`, from 0 to 1, if it can tell how much of a value no data have overruled;
- `inside(state, hyper) -> dict[str, float]`, if numbers of its own tell what its bounds are made of, each by the name
  that a person reads; and compiled `learned(state, hyper, x)`, from 0 to 1, if its squared radius is a start that fades
  and something learned: the part that was learned. `ucls diagnose` shows both along a run;
- `notices(state, hyper) -> list[str]`, if there are things a person should be told of what was learned;
- `reward_shift(hyper)`, if it learns the values of lower rewards than those it is given: by how much;
- one whose data grow has compiled `full(state)`, whether an update more might lack room, and `grow(state, hyper) ->
  State` with the same content in larger arrays, which is called then, between two steps; `init` makes the smallest
  arrays, and the room that there is must not change what is learned; fields of the state that grow
  declare it, `Annotated[Matrix, Grows(axis)]`, and those that grow together name one of them, `Grows(like="items")`;
- `estimated_return_max(state, hyper)`, not compiled, if it estimates the largest return that is possible: the estimate,
  or None where it was given or nothing is known;
- `FEATURES`, if it needs others than the environment's: their name and settings;
- `COMPILED = False`, if its functions are plain Python on NumPy arrays: nothing around them is compiled then, so they
  may use any library; environments and features stay compiled. If its state is more than a NamedTuple of arrays (a
  network, an optimizer), it also has `to_arrays(state) -> dict[str, np.ndarray]`, everything that the next step reads,
  and `from_arrays(state, arrays) -> State`, a state like `state` (which stays as it is) with that content; it raises
  ValueError if the arrays do not fit.

`xs` are the features of every action, `x` those of one (`kernels.Active`). The module's docstring starts with a line
for lists; in this package it ends with a paragraph "Departures".

`Algorithm` and `Extras` below are the same as signatures.

To add one: one file here, one line in `ALGORITHMS`, one box in tests/boxes.py. A module outside the package is named
by its import path.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from ucls._modules import imported
from ucls.errors import UserError

if TYPE_CHECKING:
    from numpy.random import Generator

    from ucls.kernels import Active

ALGORITHMS = {
    "ucls-exact": "ucls.algorithms.ucls_exact",
    "ucls": "ucls.algorithms.ucls",
    "ucls-l": "ucls.algorithms.ucls_l",
    "gv-ucb": "ucls.algorithms.gv_ucb",
    "ucbootstrap": "ucls.algorithms.ucbootstrap",
    "dgpq": "ucls.algorithms.dgpq",
    "lspi-rmax": "ucls.algorithms.lspi_rmax",
    "rlsvi": "ucls.algorithms.rlsvi",
    "sarsa": "ucls.algorithms.sarsa",
    "lstd-sm": "ucls.algorithms.lstd_sm",
    "lstd-cg": "ucls.algorithms.lstd_cg",
}

DEFAULT = "ucls-exact"  # the algorithm wherever none is named: the only such default in the package


class Algorithm(Protocol):
    """What every algorithm has; all of its functions but `init` are compiled, unless it says `COMPILED = False`."""

    __name__: str
    Hyper: type[Any]
    State: type[Any]

    def init(self, hyper: Any, size: int, n_actions: int, n_active: int, dtype: Any) -> Any: ...
    def start(self, state: Any, hyper: Any, rng: "Generator") -> None: ...
    def act(self, state: Any, hyper: Any, xs: "Active", rng: "Generator") -> int: ...
    def update(
        self,
        state: Any,
        hyper: Any,
        xs: "Active",
        a: int,
        r: float,
        gamma: float,
        xs_next: "Active",
        a_next: int,
        rng: "Generator",
    ) -> None: ...
    def value(self, state: Any, hyper: Any, x: "Active") -> float: ...


class Extras(Protocol):
    """What an algorithm may have besides: any of these, but `full` only with `grow`."""

    FEATURES: tuple[str, dict[str, Any]]

    def room(self, hyper: Any, size: int, n_actions: int, n_active: int) -> int: ...
    def interval(self, state: Any, hyper: Any, x: "Active", rng: "Generator") -> tuple[float, float]: ...
    def upper(self, state: Any, hyper: Any, x: "Active") -> float: ...
    def parts(self, state: Any, hyper: Any, x: "Active") -> tuple[float, float]: ...
    def inside(self, state: Any, hyper: Any) -> dict[str, float]: ...
    def learned(self, state: Any, hyper: Any, x: "Active") -> float: ...
    def notices(self, state: Any, hyper: Any) -> list[str]: ...
    def estimated_return_max(self, state: Any, hyper: Any) -> float | None: ...
    def reward_shift(self, hyper: Any) -> float: ...
    def to_arrays(self, state: Any) -> dict[str, Any]: ...
    def from_arrays(self, state: Any, arrays: dict[str, Any]) -> Any: ...
    def full(self, state: Any) -> bool: ...
    def grow(self, state: Any, hyper: Any) -> Any: ...


def is_compiled(module: Any) -> bool:
    """Whether the functions of an algorithm are compiled (`COMPILED`, true unless it says otherwise)."""
    return getattr(module, "COMPILED", True)


CONTRACT = ("Hyper", "State", "init", "start", "act", "update", "value")
GROWTH = ("full", "grow")


def name_of(module: Algorithm) -> str:
    """The name of an algorithm, or its import path outside the package.

    >>> name_of(algorithm_module("sarsa"))
    'sarsa'
    """
    return next((name for name, path in ALGORITHMS.items() if path == module.__name__), module.__name__)


def algorithm_module(name: str | ModuleType) -> Algorithm:
    """The module of an algorithm, by its name or, outside the package, by its import path; or that module itself."""
    if not isinstance(name, str):
        return _checked(name, getattr(name, "__name__", repr(name)))
    return _checked(imported("algorithm", name, ALGORITHMS.get(name, name), ALGORITHMS), name)


def _checked(module: ModuleType, name: str) -> Algorithm:
    grows = any(hasattr(module, part) for part in GROWTH)
    missing = [part for part in CONTRACT + GROWTH * grows if not hasattr(module, part)]
    if missing:
        raise UserError(f"module {name!r} is not an algorithm: it lacks {', '.join(missing)}")
    return cast(Algorithm, module)
