"""The specification of a run as data. Its id is a digest of its content, so equal ones are the same run everywhere."""

import hashlib
import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ucls.algorithms import ALGORITHMS, DEFAULT, algorithm_module
from ucls.core.config import DTYPES
from ucls.diagnostics import DISTRIBUTIONS
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError, unknown
from ucls.features import FEATURES, features_module
from ucls.study.declaration.code import digest
from ucls.train.open_run import plan_anywhere

# Raised by every change that alters the results of runs, so that such results never share an id. If only those of one
# algorithm change, its own `RESULTS_VERSION` is raised instead.
RESULTS_VERSION = 1
BINS = 500
STEPS = 10**12  # maximum per run: the rewards of more would fill any memory

Pairs = tuple[tuple[str, Any], ...]


class RunSpec(NamedTuple):
    """One run as data.

    `settings` are all settings, resolved, as pairs of a name with its group (`agent.p`, `features.tilings`,
    `env.noise_std`) and a value. Rewards are stored as sums over `resolution` steps. `probe` names the state
    distribution under which the quantities of the Optimistic Values Theorem are measured during the run, `keep` saves
    the final learner, and `code` is the digest of an algorithm or features outside this package (`study.code`), or the
    results version of a built-in algorithm that has its own.

    In a third-party environment the settings are its keyword arguments. `low` and `high` are the observation bounds
    that were given or estimated, `discount` is the given one, `env_code` is the digest of the environment's code, and
    `action_masks` says whether it has masks, which earlier versions ignored.

    After a run with `n_eval_episodes` its greedy policy is evaluated in that many episodes, truncated after
    `eval_max_steps` if that is not 0, and its processor time is stored (`run_cell`).
    """

    agent: str
    env: str
    steps: int
    seed: int
    settings: Pairs
    features: str
    resolution: int
    dtype: str = "float64"
    probe: str = ""
    keep: bool = False
    code: str = ""
    numerics: int = RESULTS_VERSION
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    discount: float | None = None
    env_code: str = ""
    action_masks: bool = False
    n_eval_episodes: int = 0
    eval_max_steps: int = 0

    @property
    def id(self) -> str:
        """The digest of the content."""
        return hashlib.sha256(self.json().encode()).hexdigest()[:24]

    def json(self) -> str:
        """The content as canonical JSON, without empty fields."""
        kept = {"seed"} if self.discount is None else {"seed", "discount"}
        content = {name: value for name, value in self._asdict().items() if value or name in kept}
        return json.dumps({**content, "settings": dict(self.settings)}, sort_keys=True, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """Read the output of `json`."""
        content = json.loads(text)
        bounds = {name: tuple(content[name]) for name in ("low", "high") if name in content}
        return cls(**{**content, **bounds, "settings": tuple(sorted(content["settings"].items()))})

    @property
    def ours(self) -> bool:
        """Whether its environment is built in."""
        return self.env in ENVIRONMENTS


def make_run_specs(
    env: str,
    algorithm: str = DEFAULT,
    *,
    steps: int,
    seeds: Iterable[int],
    settings: Mapping[str, object] = {},
    features: str | None = None,
    dtype: str = "float64",
    resolution: int | None = None,
    probe: str = "",
    keep: bool = False,
    low: Sequence[float | None] | None = None,
    high: Sequence[float | None] | None = None,
    discount: float | None = None,
) -> tuple[RunSpec, ...]:
    """Make a run specification for each seed, with every setting checked and resolved once.

    A third-party environment is created for that; `ucls.gym.registry` says how to name one.

    >>> cells = make_run_specs("ucls/RiverSwim-v0", "ucls", steps=1000, seeds=range(2), settings={"p": 0.2})
    >>> dict(cells[1].settings)["agent.p"], cells[1].seed, cells[0].id == cells[1].id
    (0.2, 1, False)
    """
    if not 1 <= steps <= STEPS:
        raise UserError(f"a run cannot have {steps:,} steps: give 1 to {STEPS:,}")
    seeds = [operator.index(seed) for seed in seeds]
    if seeds and not 0 <= min(seeds) <= max(seeds) < 2**63:
        raise UserError("seeds must be integers from 0 to 2^63 - 1")
    if probe and probe not in DISTRIBUTIONS:
        raise unknown("probe", probe, DISTRIBUTIONS)
    if dtype not in DTYPES:
        raise UserError(f"dtype cannot be {dtype!r}: give one of {', '.join(DTYPES)}", "dtype")
    if env not in ENVIRONMENTS:
        from ucls.gym.registry import versioned

        env = versioned(env)
    around: dict[str, Any] = {"low": low, "high": high, "discount": discount}
    plan, world, found_low, found_high, masked = plan_anywhere(
        env, algorithm, settings=settings, features=features, dtype=dtype, **around
    )
    if probe and env not in ENVIRONMENTS:
        raise UserError(f"probe requires a known optimum, and {env} has none: remove it", "probe")
    groups = {"agent": plan.settings, "features": plan.feature_settings, "env": world}
    resolved = sorted((f"{group}.{name}", value) for group, named in groups.items() for name, value in named.items())
    resolution = resolution or max(1, -(-steps // BINS))
    one = RunSpec(
        algorithm,
        env,
        steps,
        0,
        tuple(resolved),
        plan.features,
        resolution,
        dtype,
        probe,
        keep,
        code_of(algorithm, plan.features),
        low=found_low,
        high=found_high,
        discount=None if discount is None else float(discount),
        env_code=env_code_of(env),
        action_masks=masked,
    )
    return tuple(one._replace(seed=seed) for seed in seeds)


def code_of(agent: str, features: str) -> str:
    """The digest of the code of algorithm and features outside this package, or of a built-in algorithm's own results
    version; empty if there is neither."""
    algorithm = algorithm_module(agent)
    version = getattr(algorithm, "RESULTS_VERSION", None) if agent in ALGORITHMS else None
    modules: list[Any] = [] if agent in ALGORITHMS else [algorithm]
    modules += [] if features in FEATURES else [features_module(features)]
    facts = [] if version is None else [f"{agent}, results version {version}"]
    return digest((module.__name__ for module in modules), *facts) if modules or facts else ""


def env_code_of(env: str) -> str:
    """The digest of the code that makes an environment, and of what its id is registered with; empty for a built-in."""
    if env in ENVIRONMENTS:
        return ""
    from ucls.gym import registry

    modules, registered = registry.makers(env)
    return digest(modules, registered)
