"""The built-in environments: one file each, compiled; `gym.py` makes any of them a Gymnasium environment.

An environment is a module with

- `Settings`, a NamedTuple of numeric settings (see `ucls.settings`), among them `discount` and `time_limit` (the number
  of steps after which an episode is truncated; 0 for never);
- `ACTIONS`, the names of the actions;
- `LOW` and `HIGH`, the bounds of the state, which is also the observation (and `bounds(env)`, if settings change them);
- `reset(env, s, rng)` and `step(env, s, a, rng) -> (reward, discount, terminated)`, compiled by `exact` (from
  `kernels.compilation.jit`), where `s` is a float64 array that is changed in place; the discount is 0 after
  termination;
- `FEATURES`, the name and settings of the features that the paper uses for it;
- `facts(env)`, defaults for settings of algorithms: `reward_max`, `return_max`; and `time_limit`, the number of steps
  of the longest episode, if that is less than the setting `time_limit`;
- `metric(env)`, the name of the metric that runs are compared by (see `core.metrics.Metrics`): the total reward or,
  if every step costs and the number of steps is fixed, the mean return of an episode;
- `problem(env) -> Problem` (from `kernels.dynamic_programming`), the input of planning: the bounds, a number of grid
  points for each component, the noise as `nodes`, and two more compiled functions, `move(env, s, a, u, n)`, a step with
  its noise given, and `over(env, s)`, whether an episode ends in `s` (None if none ever does);
- `optimal(env) -> Optimal`, what an optimal policy achieves: `plan(env, problem(env))`;
- `draw(env, s, canvas)`, which draws the state.

Optional:

- `OBSERVATIONS`, the names of the state's components, which label the axes of maps.

`Environment` below gives the signatures.

To add one: one file here, one line in `ENVIRONMENTS`, and what `optimal` returns in `KNOWN`.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from ucls.errors import UserError, unknown
from ucls.settings import describe, resolve, shown

if TYPE_CHECKING:  # these are slow to import, and a list of ids needs none of them
    import numpy as np

    from ucls._util.canvas import Canvas
    from ucls.kernels import Vector
    from ucls.kernels.dynamic_programming import Optimal, Problem

ENVIRONMENTS: dict[str, tuple[str, dict[str, object]]] = {
    "ucls/RiverSwim-v0": ("river_swim", {}),
    "ucls/PuddleWorld-v0": ("puddle_world", {}),
    "ucls/SparseMountainCar-v0": ("mountain_car", {"reward": "sparse", "discount": 0.998}),
    "ucls/MountainCar-v0": ("mountain_car", {}),
    "ucls/OneState-v0": ("one_state", {}),
    "ucls/DeepSea-v0": ("deep_sea", {}),
    "ucls/TrapChain-v0": ("trap_chain", {}),
    "ucls/KeyGrid-v0": ("key_grid", {}),
    "ucls/TabularRiverSwim-v0": ("tabular_river_swim", {}),
    "ucls/SixArms-v0": ("six_arms", {}),
}


class Best(NamedTuple):
    """The performance of an optimal policy: reward per step and, if episodes terminate, an episode's return and
    length."""

    reward_rate: float
    episode_return: float | None = None
    episode_steps: float | None = None


KNOWN = {  # what `optimal` returns for the default settings and a few others; a test compares them
    ("ucls/RiverSwim-v0", ()): Best(0.22260210954856502),
    ("ucls/RiverSwim-v0", (("probabilities", "osband"),)): Best(0.42775950496580606),
    ("ucls/PuddleWorld-v0", ()): Best(-1.115120150565455, -36.666790799379754, 32.88153524924372),
    ("ucls/PuddleWorld-v0", (("noise_std", 0.01),)): Best(-1.0009053946640916, -32.0729610236194, 32.043948473098986),
    ("ucls/SparseMountainCar-v0", ()): Best(0.0102345, 1.0, 97.7077776149299),
    ("ucls/MountainCar-v0", ()): Best(-1.0, -97.70943156557637, 97.70943156557637),
    ("ucls/OneState-v0", ()): Best(2.0),
    ("ucls/DeepSea-v0", ()): Best(0.099, 0.99, 10.0),
    ("ucls/TrapChain-v0", ()): Best(0.09, 1.0, 100 / 9),
    ("ucls/KeyGrid-v0", ()): Best(0.07595563687114085, 1.0, 13.165579819909027),
    ("ucls/TabularRiverSwim-v0", ()): Best(0.4286224337994643),
    ("ucls/TabularRiverSwim-v0", (("time_limit", 20),)): Best(0.16986319795754215, 3.397263959150843, 20.0),
    ("ucls/TabularRiverSwim-v0", (("size", 12),)): Best(0.4285714290049142),
    ("ucls/TabularRiverSwim-v0", (("size", 20),)): Best(3 / 7),
    ("ucls/TabularRiverSwim-v0", (("probabilities", "strehl_littman"),)): Best(0.06688073394495415),
    ("ucls/SixArms-v0", ()): Best(6000.0),
}


# state, number of steps in the current episode (0 between episodes), generator
IN_PLAY = ("s", "clock", "rng")


class Environment(Protocol):
    """The required members; `reset` and `step` are compiled."""

    __name__: str
    Settings: type[Any]

    @property
    def ACTIONS(self) -> tuple[str, ...]: ...
    @property
    def LOW(self) -> tuple[float, ...]: ...
    @property
    def HIGH(self) -> tuple[float, ...]: ...
    @property
    def FEATURES(self) -> tuple[str, dict[str, Any]]: ...

    def reset(self, env: Any, s: "Vector", rng: "np.random.Generator") -> None: ...
    def step(self, env: Any, s: "Vector", a: int, rng: "np.random.Generator") -> tuple[float, float, bool]: ...
    def facts(self, env: Any) -> dict[str, float]: ...
    def metric(self, env: Any) -> str: ...
    def problem(self, env: Any) -> "Problem": ...
    def optimal(self, env: Any) -> "Optimal": ...
    def draw(self, env: Any, s: "Vector", canvas: "Canvas") -> None: ...


class BuiltinEnv(NamedTuple):
    """A built-in environment with its settings: the functions of its module, called with these settings."""

    id: str
    module: Any
    env: Any

    @property
    def settings(self) -> dict[str, Any]:
        """The settings, as a user writes them."""
        return shown(self.env)

    @property
    def features(self) -> tuple[str, dict[str, Any]]:
        """The name and settings of the features that the paper uses for it."""
        return self.module.FEATURES

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return len(self.module.ACTIONS)

    @property
    def observations(self) -> tuple[str, ...]:
        """The names of the state's components; empty if the environment does not declare them."""
        return getattr(self.module, "OBSERVATIONS", ())

    @property
    def time_limit(self) -> int:
        """The number of steps after which an episode is truncated; 0 for never."""
        return self.env.time_limit

    def reset(self, s: "np.ndarray", rng: "np.random.Generator") -> None:
        """Start an episode: write its first state into `s`."""
        self.module.reset(self.env, s, rng)

    def step(self, s: "np.ndarray", a: int, rng: "np.random.Generator") -> tuple[float, float, bool]:
        """Take an action, change `s` to the next state; return the reward, the discount and whether it terminated."""
        return self.module.step(self.env, s, a, rng)

    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The bounds of the state, which may depend on settings."""
        module = self.module
        return module.bounds(self.env) if hasattr(module, "bounds") else (module.LOW, module.HIGH)

    def facts(self) -> dict[str, float]:
        """Defaults for settings of algorithms; `time_limit` only if episodes have one."""
        limit = {"time_limit": float(self.time_limit)} if self.time_limit else {}
        return {**limit, **self.module.facts(self.env)}

    def metric(self) -> str:
        """The name of the metric that runs are compared by."""
        return self.module.metric(self.env)

    def problem(self) -> "Problem":
        """The input of planning."""
        return self.module.problem(self.env)

    def optimal(self) -> "Optimal":
        """Return the performance of an optimal policy; may take time to plan."""
        return self.module.optimal(self.env)

    def best(self) -> Best:
        """Return the performance of an optimal policy; needs no planning with default settings (`KNOWN`)."""
        for (id, settings), best in KNOWN.items():
            if id == self.id and self.env == make_builtin(id, dict(settings)).env:
                return best
        found = self.optimal()
        return Best(found.reward_rate, found.episode_return, found.episode_steps)

    def draw(self, s: "np.ndarray", canvas: "Canvas") -> None:
        """Draw a state."""
        self.module.draw(self.env, s, canvas)

    def check_saved(self, saved: "Mapping[str, np.ndarray]") -> None:
        """Refuse an environment state that this environment cannot have saved."""
        from ucls._util.randomness import check_words

        low, high = self.bounds()
        s, clock = saved.get("s"), saved.get("clock")
        if s is None or clock is None or s.shape != (len(low),) or clock.shape != (1,):
            raise UserError(f"this is not a checkpoint of {self.id}: create one with checkpoint()")
        if s.dtype != "float64" or clock.dtype != "int64" or not ((s >= low) & (s <= high)).all():
            raise UserError(f"the checkpoint cannot be right: its state is not one of {self.id}")
        if clock[0] < 0 or clock[0] >= (self.time_limit or 2**53):
            raise UserError("the checkpoint cannot be right: its episode is longer than the time limit")
        check_words(saved.get("rng"))

    def __reduce__(self) -> tuple[Any, tuple[str, dict[str, object]]]:
        """For `copy` and `pickle`: by its id and settings."""
        return make_builtin, (self.id, self.settings)


def module_of(id: str) -> Environment:
    """The module of a registered environment."""
    if id not in ENVIRONMENTS:
        raise unknown("environment", id, ENVIRONMENTS)
    return cast(Environment, importlib.import_module(f"ucls.envs.{ENVIRONMENTS[id][0]}"))


def to_arrays(in_play: "Mapping[str, np.ndarray]") -> "dict[str, np.ndarray]":
    """The environment state, under its names in the checkpoint of a run."""
    return {f"world.{name}": in_play[name] for name in IN_PLAY}


def from_arrays(arrays: "Mapping[str, np.ndarray]") -> "dict[str, np.ndarray]":
    """The environment state in the checkpoint of a run, if it has one; `BuiltinEnv.check_saved` checks it."""
    return {name: arrays[f"world.{name}"] for name in IN_PLAY if f"world.{name}" in arrays}


def make_builtin(id: str, given: Mapping[str, object] = {}) -> BuiltinEnv:
    """Make an environment by its id, with settings by name.

    >>> make_builtin("ucls/RiverSwim-v0", {"noise_std": 0}).settings["noise_std"]
    0.0
    """
    module = module_of(id)
    return BuiltinEnv(id, module, resolve(module.Settings, {**ENVIRONMENTS[id][1], **given}))


def default_metric(id: str, given: Mapping[str, object] = {}) -> str:
    """The default metric that runs in an environment are compared by; settings of algorithm and features are ignored.

    In a third-party environment it is the mean return of the last episodes.

    >>> default_metric("ucls/RiverSwim-v0", {"p": 0.1, "env.noise_std": 0.0}), default_metric("FrozenLake-v1")
    ('reward', 'final_return')
    """
    if id not in ENVIRONMENTS:
        return "final_return"
    named = {name.removeprefix("env."): value for name, value in given.items()}
    known = [setting.name for setting in describe(module_of(id).Settings)]
    world = make_builtin(id, {name: named[name] for name in known if name in named})
    return world.metric()
