"""The configuration of a learner as data: enough to recreate it. It is validated here, wherever it comes from."""

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ucls.algorithms import TABLE, algorithm_module, name_of, needs_discrete
from ucls.errors import UserError
from ucls.features import features_module, is_discrete
from ucls.features import name_of as features_name
from ucls.kernels.ranges import STEPS
from ucls.settings import distribute, resolve, shown

DTYPES = {"float64": np.float64, "float32": np.float32}
FAR = 1e30  # larger bounds count as missing


@dataclass(frozen=True)
class Plan:
    """The configuration of a learner: names, settings by name, the bounds of the state, and sizes."""

    agent: str
    settings: Mapping[str, Any]
    features: str
    feature_settings: Mapping[str, Any]
    low: list[float]
    high: list[float]
    n_actions: int
    seed: int
    dtype: str = "float64"

    def __post_init__(self) -> None:
        for name in ("agent", "features", "dtype"):
            if not isinstance(getattr(self, name), str):
                raise UserError(f"{name} cannot be {brief(getattr(self, name))}: give a name")
        for name in ("settings", "feature_settings"):
            given = getattr(self, name)
            if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
                raise UserError(f"{name.replace('_', ' ')} cannot be {brief(given)}: give values by name")
        if self.dtype not in DTYPES:
            raise UserError(f"dtype cannot be {self.dtype!r}: give one of {', '.join(DTYPES)}")
        low, high = numbers("low", self.low), numbers("high", self.high)
        if len(low) != len(high) or not len(low) or not all(a <= b for a, b in zip(low, high, strict=True)):
            raise UserError("low and high do not match: give lists of equal length, low nowhere above high")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "n_actions", whole("the number of actions", self.n_actions, 1))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, 2**128))


class Resolved(NamedTuple):
    """A configuration with every setting, the modules it names, and the settings as kernels take them."""

    plan: Plan
    algorithm: Any
    hyper: Any
    features: Any
    feature_settings: Any


def resolve_plan(plan: Plan, algorithm: Any = None, facts: Mapping[str, float] = {}, features: Any = None) -> Resolved:
    """Resolve the settings of a configuration; some defaults come from `facts` of the environment or the features."""
    algorithm = algorithm or algorithm_module(plan.agent)
    features = features or features_module(plan.features)
    if not suits(algorithm, features):
        raise UserError(
            f"{plan.agent} learns a table of discrete states, which {plan.features} features do not have: choose an "
            f"environment whose observations are integers (with more than {TABLE:,} pairs of a state and an action, "
            "give features=one_hot), or another algorithm"
        )
    hyper = resolve(algorithm.Settings, plan.settings, {**getattr(features, "FACTS", {}), **facts})
    settings = resolve(features.Settings, plan.feature_settings)
    complete = replace(plan, settings=shown(hyper), feature_settings=shown(settings))
    return Resolved(complete, algorithm, hyper, features, settings)


def suits(algorithm: Any, features: Any) -> bool:
    """Return whether an algorithm can learn with these features: some need discrete states."""
    return is_discrete(features) or not needs_discrete(algorithm)


class Chosen(NamedTuple):
    """An algorithm and features for an environment, and the given settings by their owner: agent, features or env.

    Settings of an environment may change its bounds, so the configuration is complete only once these are known. If
    features are `fitted`, settings that were not given depend on the number of components of a state.
    """

    algorithm: Any
    module: Any
    given: Mapping[str, Mapping[str, object]]
    fitted: bool = False

    @property
    def features(self) -> str:
        """The name of the features."""
        return features_name(self.module)

    def plan(
        self,
        bounds: tuple[Sequence[float], Sequence[float]],
        n_actions: int,
        facts: Mapping[str, float],
        seed: int,
        dtype: str,
    ) -> Resolved:
        """The configuration for states within these bounds."""
        low, high = ([float(number) for number in bound] for bound in bounds)
        agent, settings, features = name_of(self.algorithm), self.given["agent"], self.given["features"]
        fit = getattr(self.module, "fit", None)
        if self.fitted and fit is not None:
            preferred = getattr(self.algorithm, "fit_features", lambda *_: {})(self.features, len(low))
            features = {**fit(len(low), n_actions), **preferred, **features}
        plan = Plan(agent, settings, self.features, features, low, high, n_actions, seed, dtype)
        return resolve_plan(plan, self.algorithm, facts, self.module)


def choose(
    agent: str | ModuleType,
    own: tuple[str, Mapping[str, object] | None],
    settings: Mapping[str, object],
    features: str | ModuleType | None = None,
    env: type | None = None,
) -> Chosen:
    """Choose features, and assign every setting to its owner.

    `own` are the environment's features and their settings: the default, unless the algorithm has its own or others
    are named. Their settings apply to these features only; if they are None, features are fitted. `env` declares the
    environment's settings.
    """
    algorithm: Any = algorithm_module(agent)
    default, tuned = getattr(algorithm, "FEATURES", own)
    module = features_module(features or default)
    owners = {"agent": algorithm.Settings, "features": module.Settings}
    given = distribute(settings, owners if env is None else {**owners, "env": env})
    if module is features_module(default) and tuned is not None:
        given["features"] = {**tuned, **given["features"]}
    return Chosen(algorithm, module, given, fitted=own[1] is None)


@dataclass(frozen=True)
class Saved:
    """The description in a checkpoint: the configuration, the steps so far, and the built-in environment or None."""

    plan: Plan
    steps: int
    discount: float | None
    env: str | None
    env_settings: Mapping[str, Any]


def read_saved(about: Mapping[str, Any]) -> Saved:
    """Read the description in a checkpoint; a `UserError` says in one line what is wrong with it."""
    plan, env, env_settings = about.get("plan"), about.get("env"), about.get("env_settings", {})
    names = [field.name for field in fields(Plan)]
    if not isinstance(plan, Mapping) or set(plan) - set(names) or set(names[:-1]) - set(plan):
        raise UserError("the checkpoint has no valid plan: it is corrupted, or from another version of ucls")
    if env is not None and not isinstance(env, str):
        raise UserError(f"the checkpoint cannot be right: its environment is {brief(env)}")
    if not isinstance(env_settings, Mapping):
        raise UserError(f"the checkpoint cannot be right: the settings of its environment are {brief(env_settings)}")
    return Saved(
        plan=Plan(**plan),
        steps=whole("steps", about.get("steps")),
        discount=checked_discount(about.get("discount")),
        env=env,
        env_settings=env_settings,
    )


def checked_discount(discount: Any) -> float | None:
    """A discount, or None for the environment's own."""
    if discount is None:
        return None
    try:
        number = float(discount)
    except Exception:  # a third-party object may raise anything
        number = -1.0
    if isinstance(discount, bool | str) or not 0 <= number <= 1:
        raise UserError(f"discount cannot be {brief(discount)}: give a number from 0 to 1", "discount")
    return number


def whole(name: str, value: Any, at_least: int = 0, at_most: int = STEPS) -> int:
    """An integer within limits, of any integer type; True and 3.0 are refused."""
    try:
        number = operator.index(value)
    except Exception:  # a third-party object may raise anything
        number = None
    if number is None or isinstance(value, bool | np.bool_) or not at_least <= number <= at_most:
        raise UserError(f"{name} cannot be {brief(value)}: give an integer >= {at_least}")
    return number


def numbers(name: str, values: Any) -> list[float]:
    """A list of finite numbers."""
    try:
        found = np.array(values)
    except ValueError:
        found = np.array(None)
    if found.ndim != 1 or found.dtype.kind not in "iuf" or not (np.abs(found) <= FAR).all():
        raise UserError(f"{name} cannot be {brief(values)}: give a list of numbers between -{FAR:g} and {FAR:g}")
    return found.astype(np.float64).tolist()


def brief(value: Any, most: int = 60) -> str:
    """The repr of a value in one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # from the repr of a third-party object
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."
