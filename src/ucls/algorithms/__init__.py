"""The algorithms: one file each, reading like the paper's pseudocode.

An algorithm is a module with

- `Settings`, a NamedTuple of settings (see `ucls.settings`);
- `State`, a NamedTuple of arrays, or of such NamedTuples. A checkpoint contains these arrays and nothing else, so any
  other field is refused. An integer field declares its range (`kernels.ranges`), because checkpoints may be untrusted
  and kernels do not check indices: `Annotated[IntVector, FEATURE]` for indices of features, `Count("features")` for
  the number of entries in use, `COUNT` for a plain counter. A state with an undeclared integer field is refused when
  the learner is made. Floating-point fields need no declaration: they must be finite. A condition that involves
  several fields is a method `fault()` of the NamedTuple, which returns what is wrong;
- `init(hyper, size, n_actions, n_active, dtype) -> State`, for `size` features of which `n_active` are active;
- compiled functions that change the state in place: `start(state, hyper, rng)` at the beginning of every episode, and
  `update(state, hyper, xs, a, r, gamma, xs_next, a_next, rng)`. After termination gamma is 0, and xs_next and a_next
  are meaningless;
- compiled `act(state, hyper, xs, rng) -> a`, which does not change the state;
- compiled `value(state, hyper, x) -> mean`.

Optional:

- `allocation(hyper, size, n_actions, n_active) -> int`, the number of array elements that `init` allocates, so that a
  configuration that exceeds the machine's memory is refused before anything is allocated. Without it, four times
  `size` squared is assumed. If its data grow, `allocation_at(hyper, size, n_actions, n_active, steps) -> int` is the
  number of all elements after so many steps. A run that would exceed the memory at its end is then refused before it
  begins;
- compiled `encode(state, hyper, x) -> Active`, if it learns its features: those of one action, made from what the
  coder gives, as many for every action. `act`, `value`, `interval`, `upper`, `radius_terms` and `learned` then get
  features that `encode` has just made, and `update` gets the coder's, so that it can learn `encode` too;
- compiled `interval(state, hyper, x, rng) -> (mean, radius)`, if the algorithm computes confidence bounds. It gets a
  separate generator, so that calling it does not change the run. If the agent maximizes something other than
  mean + radius, compiled `upper(state, hyper, x)` returns that;
- compiled `radius_terms(state, hyper, x) -> (prior, noise)`, if the radius can be split into a prior term and a noise
  term, and `prior_fraction(state, x)`, the prior's remaining weight in the value, from 0 to 1;
- `internals(state, hyper) -> dict[str, float]`, named quantities that explain the bounds, and compiled
  `learned(state, hyper, x)`, from 0 to 1, the learned fraction of the squared radius if the rest is a decaying initial
  variance. `ucls diagnose` shows both along a run;
- `export(state, hyper) -> dict[str, Any]`, not compiled, if its values and bounds have the form of `ucls.policy`: the
  arrays and numbers of that form, by name; and `random=True` if bounds are random. `agent.export` needs it;
- `notices(state, hyper) -> list[str]`, messages for the user about what was learned;
- `reward_shift(hyper)`, if it learns from rewards that are lowered by a constant: that constant;
- compiled `full(state)` and `grow(state, hyper) -> State`, if its data grow. `full` says whether the next update might
  exceed the arrays; `grow` then returns the same content in larger ones, between two steps. `init` allocates the
  smallest arrays, and the amount allocated must not affect what is learned. Fields that grow declare it,
  `Annotated[Matrix, Grows(axis)]`, and those that grow together name one of them, `Grows(like="items")`;
- `estimated_return_max(state, hyper)`, not compiled, if it estimates the maximum possible return: the estimate, or
  None if the return was given or nothing is known yet;
- `CAN_FAIL = True`, if its functions may raise `numpy.linalg.LinAlgError` or divide by zero. This is assumed if one of
  them calls linear algebra of `ucls.kernels`, NumPy or SciPy, directly or through other functions. Such a failure ends
  the run, which is then as it was before the step: the learner is copied from time to time and repeats the steps
  since. With `CAN_FAIL = False` it is not copied, and may be half updated after a failure;
- `STREAM`, the names of the fields of `State` that belong to one stream of experience: a trace and its discount, with
  dots within NamedTuples ("returns.count"). Only with it can the algorithm learn in a vector of environments, where
  each has its own copy of them. If these depend on what is learned, compiled `carry(state, hyper, x, gamma, x_next,
  other)` updates `other`, the first field as another stream keeps it, after every `update`. Compiled `switch(state)` is
  called before the steps of another stream;
- `FEATURES`, the name and settings of the features it needs, if not the environment's;
- `fit_features(features, dimensions) -> dict[str, Any]`, settings that it prefers to those which features of that name
  would choose for states with so many components;
- `DISCRETE = True`, if it learns a table: every state must have one feature of its own (`one_hot`), others are refused;
- `PAIRS`, if it has no matrix with one-hot features: the number of state-action pairs up to which states of several
  integers have them by default. Without it, that is `TABLE` for an algorithm that learns a table, otherwise `MATRIX`;
- `UPDATES_FIRST = True`, if it chooses the next action after it has learned from the last transition: `update` then
  comes before `act`, and its a_next is meaningless. So an algorithm can count the steps of an episode: `start` sets the
  counter to 0, `update` raises it, and `act` reads it. A setting that says `Follows("time_limit", otherwise=0)` is the
  largest number of steps of an episode, if that is known;
- `RESULTS_VERSION`, raised when the results of its runs change, so that stores do not take old ones for new;
- `COMPILED = False`, if its functions are plain Python on NumPy arrays. They may then use any library; environments
  and features stay compiled. If its state is more than a NamedTuple of arrays (a network, an optimizer), it also has
  `to_arrays(state) -> dict[str, np.ndarray]`, everything that the next step reads, and
  `from_arrays(state, arrays) -> State`, a new state like `state` with that content; it raises ValueError if the arrays
  do not fit.

`xs` are the features of every action, `x` those of one (`kernels.Active`). An algorithm need not know of action masks.
Where some actions are invalid, `act` gets the rows of valid ones only, and returns the number of a row. `update` gets a
row for every action, and a row of an invalid action repeats that of the first valid one, so that a maximum over rows
is one over valid actions. Only features tell which action a row is of: with built-in features, the remainder of their
indices by the number of actions. The first line of the module's docstring is
shown in lists; in this package the docstring ends with a paragraph "Deviations".

`Algorithm` and `Extras` below give the signatures.

To add one: one file here, one line in `ALGORITHMS`, and its pseudocode in tests/support/boxes.py. A module outside the
package is named by its import path.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from ucls._util.modules import imported
from ucls.errors import UserError, about, printable

if TYPE_CHECKING:
    from numpy.random import Generator

    from ucls.kernels import Active

ALGORITHMS = {
    "ucls-plan": "ucls.algorithms.ucls_plan",
    "ucls-deep": "ucls.algorithms.ucls_deep",
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
    "r-max": "ucls.algorithms.baselines.r_max",
    "oim": "ucls.algorithms.baselines.oim",
    "ucbvi": "ucls.algorithms.baselines.ucbvi",
    "ucrl2": "ucls.algorithms.baselines.ucrl2",
    "psrl": "ucls.algorithms.baselines.psrl",
    "ucb-q": "ucls.algorithms.baselines.ucb_q",
    "rlsvi-tabular": "ucls.algorithms.baselines.rlsvi_tabular",
    "lsvi-ucb": "ucls.algorithms.baselines.lsvi_ucb",
    "lsvi-phe": "ucls.algorithms.baselines.lsvi_phe",
}

DEFAULT = "ucls-plan"
LEARNED = "ucls-deep"  # the default in environments whose observations fixed features do not suit

MATRIX = 5000  # state-action pairs up to which one-hot features are a default for any algorithm
TABLE = 100_000  # the same for algorithms that learn a table


class Algorithm(Protocol):
    """The required members; all functions except `init` are compiled, unless the module declares `COMPILED = False`."""

    __name__: str
    Settings: type[Any]
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
    """The optional members; `full` and `grow` only together."""

    FEATURES: tuple[str, dict[str, Any]]
    PAIRS: int

    def allocation(self, hyper: Any, size: int, n_actions: int, n_active: int) -> int: ...
    def allocation_at(self, hyper: Any, size: int, n_actions: int, n_active: int, steps: int) -> int: ...
    def encode(self, state: Any, hyper: Any, x: "Active") -> "Active": ...
    def interval(self, state: Any, hyper: Any, x: "Active", rng: "Generator") -> tuple[float, float]: ...
    def upper(self, state: Any, hyper: Any, x: "Active") -> float: ...
    def radius_terms(self, state: Any, hyper: Any, x: "Active") -> tuple[float, float]: ...
    def internals(self, state: Any, hyper: Any) -> dict[str, float]: ...
    def learned(self, state: Any, hyper: Any, x: "Active") -> float: ...
    def export(self, state: Any, hyper: Any) -> dict[str, Any]: ...
    def fit_features(self, features: str, dimensions: int) -> dict[str, Any]: ...
    def notices(self, state: Any, hyper: Any) -> list[str]: ...
    def estimated_return_max(self, state: Any, hyper: Any) -> float | None: ...
    def reward_shift(self, hyper: Any) -> float: ...
    def to_arrays(self, state: Any) -> dict[str, Any]: ...
    def from_arrays(self, state: Any, arrays: dict[str, Any]) -> Any: ...
    def full(self, state: Any) -> bool: ...
    def grow(self, state: Any, hyper: Any) -> Any: ...


def is_compiled(module: Any) -> bool:
    """Whether the functions of an algorithm are compiled (`COMPILED`, true by default)."""
    return getattr(module, "COMPILED", True)


def needs_discrete(module: Any) -> bool:
    """Whether an algorithm learns a table, which needs discrete states (`DISCRETE`)."""
    return getattr(module, "DISCRETE", False)


def most_pairs(module: Any) -> int:
    """State-action pairs up to which states of several integers have one-hot features by default (`PAIRS`)."""
    return getattr(module, "PAIRS", TABLE if needs_discrete(module) else MATRIX)


CONTRACT = ("Settings", "State", "init", "start", "act", "update", "value")
GROWTH = ("full", "grow")
KERNELS = ("start", "act", "update", "value")  # compiled, unless the module declares `COMPILED = False`


def name_of(module: Algorithm) -> str:
    """The name of an algorithm, or its import path outside the package.

    >>> name_of(algorithm_module("sarsa"))
    'sarsa'
    """
    return next((name for name, path in ALGORITHMS.items() if path == module.__name__), module.__name__)


@about("algorithm")
def algorithm_module(name: str | ModuleType) -> Algorithm:
    """The module of an algorithm, by its name or, outside the package, by its import path; or that module itself."""
    if not isinstance(name, str):
        return _checked(name, getattr(name, "__name__", repr(name)))
    return _checked(imported("algorithm", name, ALGORITHMS.get(name, name), ALGORITHMS), name)


def algorithm_of_saved(saved: Any, named: str | None, where: Any) -> Algorithm:
    """The module of the algorithm that a file names. A module outside the package must be named again: a file never
    decides what is imported."""
    own = printable(saved)[:100]
    if named is None and not (isinstance(saved, str) and saved in ALGORITHMS):
        raise UserError(f"{where} uses the algorithm {own!r}: name its module with --algo")
    module = algorithm_module(saved if named is None else named)
    if saved not in (named or saved, name_of(module)):
        raise UserError(f"{where} uses the algorithm {own!r}, not {named!r}: remove --algo, or give --algo {own}")
    return module


def _checked(module: ModuleType, name: str) -> Algorithm:
    grows = any(hasattr(module, part) for part in GROWTH)
    missing = [part for part in CONTRACT + GROWTH * grows if not hasattr(module, part)]
    if missing:
        raise UserError(f"module {name!r} is not an algorithm: it lacks {', '.join(missing)}")
    if is_compiled(module):
        from ucls.kernels.compilation.jit import refuse_plain

        refuse_plain(module, name, KERNELS, "put @jit (from ucls.kernels) above it, or say COMPILED = False")
    if hasattr(module, "encode") and hasattr(module, "prior_fraction"):
        raise UserError(
            f"module {name!r} has `encode` and `prior_fraction`, which does not work with learned features: remove one"
        )
    return cast(Algorithm, module)
