"""What a learner is, as data: enough to make it again. Checked here, once, whether a person wrote it or a file."""

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ucls.algorithms import algorithm_module, name_of
from ucls.errors import UserError
from ucls.features import features_module
from ucls.features import name_of as features_name
from ucls.kernels.ranges import STEPS
from ucls.settings import distribute, resolve, shown

DTYPES = {"float64": np.float64, "float32": np.float32}
FAR = 1e30  # bounds beyond this are none
SPARE = 2**29  # bytes that a learner may take whose file is small: its matrices are trimmed there


@dataclass(frozen=True)
class Plan:
    """What a learner is: names, settings by name, the bounds of the observed numbers, and the sizes."""

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
            raise UserError("low and high must be as many numbers each, every one in low not above its one in high")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "n_actions", whole("the number of actions", self.n_actions, 1))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0, 2**128))


class Resolved(NamedTuple):
    """A plan with every setting in it, and what it names: the modules, and the settings as kernels take them."""

    plan: Plan
    algorithm: Any
    hyper: Any
    features: Any
    feature_settings: Any


def resolve_plan(plan: Plan, algorithm: Any = None, facts: Mapping[str, float] = {}, features: Any = None) -> Resolved:
    """Read the settings of a plan; some follow `facts`, numbers of the environment, or those of the features."""
    algorithm = algorithm or algorithm_module(plan.agent)
    features = features or features_module(plan.features)
    hyper = resolve(algorithm.Hyper, plan.settings, {**getattr(features, "FACTS", {}), **facts})
    settings = resolve(features.Settings, plan.feature_settings)
    complete = replace(plan, settings=shown(hyper), feature_settings=shown(settings))
    return Resolved(complete, algorithm, hyper, features, settings)


class Chosen(NamedTuple):
    """An algorithm and features for an environment, and the settings given: for them and for it, by the owner's name.

    Settings of an environment may move its bounds, so that a plan can be made only when they are known. Features are
    `fitted` to how many numbers a state has, in what nobody set, if the environment brings no settings for them.
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
        """The plan for states within these bounds."""
        low, high = ([float(number) for number in bound] for bound in bounds)
        agent, settings, features = name_of(self.algorithm), self.given["agent"], self.given["features"]
        fit = getattr(self.module, "fit", None)
        if self.fitted and fit is not None:
            features = {**fit(len(low), n_actions), **features}
        plan = Plan(agent, settings, self.features, features, low, high, n_actions, seed, dtype)
        return resolve_plan(plan, self.algorithm, facts, self.module)


def choose(
    agent: str | ModuleType,
    own: tuple[str, Mapping[str, object] | None],
    settings: Mapping[str, object],
    features: str | ModuleType | None = None,
    env: type | None = None,
) -> Chosen:
    """Choose features, and give every setting to its owner.

    `own` are the features of the environment and their settings, which serve unless the algorithm has its own or
    others are named; settings tuned for some features are for no others. Without settings (None) features are fitted.
    `env` declares the environment's settings.
    """
    algorithm: Any = algorithm_module(agent)
    default, tuned = getattr(algorithm, "FEATURES", own)
    module = features_module(features or default)
    owners = {"agent": algorithm.Hyper, "features": module.Settings}
    given = distribute(settings, owners if env is None else {**owners, "env": env})
    if module is features_module(default) and tuned is not None:
        given["features"] = {**tuned, **given["features"]}
    return Chosen(algorithm, module, given, fitted=own[1] is None)


@dataclass(frozen=True)
class Saved:
    """What a checkpoint says of itself: the plan, the steps so far, and the environment, one of ours or None."""

    plan: Plan
    steps: int
    discount: float | None
    env: str | None
    env_settings: Mapping[str, Any]


def read_saved(about: Mapping[str, Any]) -> Saved:
    """Read what a checkpoint says of itself, or say in one line why that cannot be."""
    plan, env, env_settings = about.get("plan"), about.get("env"), about.get("env_settings", {})
    names = [field.name for field in fields(Plan)]
    if not isinstance(plan, Mapping) or set(plan) - set(names) or set(names[:-1]) - set(plan):
        raise UserError("the checkpoint does not say what it holds: its plan is missing, or not one of this ucls")
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
    except Exception:  # whatever the object of a stranger raises
        number = -1.0
    if isinstance(discount, bool | str) or not 0 <= number <= 1:
        raise UserError(f"discount cannot be {brief(discount)}: give a number from 0 to 1")
    return number


def whole(name: str, value: Any, at_least: int = 0, at_most: int = STEPS) -> int:
    """A whole number within limits, whatever type it has; True and 3.0 are none."""
    try:
        number = operator.index(value)
    except Exception:  # whatever the object of a stranger raises
        number = None
    if number is None or isinstance(value, bool | np.bool_) or not at_least <= number <= at_most:
        raise UserError(f"{name} cannot be {brief(value)}: give a whole number >= {at_least}")
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
    """A value in one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the repr of a stranger's object
        text = f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def refuse_too_large(amount: int, what: str, file: int | None = None) -> None:
    """Refuse to ask for more numbers of 8 bytes than the machine has memory for, or than could come from a file.

    The arrays of a learner that takes more than `SPARE` bytes are stored whole, so ten times the size of its file is
    more than it can need.
    """
    if file is not None and 8 * amount > 10 * file + SPARE:
        raise UserError(f"the checkpoint cannot be right: {what} does not fit in {file:,} bytes")
    if 8 * amount > (room := machine_memory()):
        raise UserError(f"{what} needs {8 * amount / 2**30:,.1f} GB of memory, this machine has {room / 2**30:,.1f}")


def machine_memory() -> int:
    """The memory of this machine, or of the container that this is, in bytes; 64 GB where the system does not say."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        machine = 2**36
    try:
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (ValueError, OSError):  # "max", or no such thing
        return machine
