"""Runs in built-in environments: (environment, features, algorithm, number of steps) -> history.

>>> from ucls.core.run import make_run
>>> run = make_run("ucls/RiverSwim-v0", "ucls", seed=1, settings={"tilings": 4})
>>> happened = run.advance(100)
>>> len(happened.rewards), happened.diverged
(100, False)
"""

import copy
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ucls._util.randomness import from_words, generator, spawn, to_words
from ucls.algorithms import DEFAULT, algorithm_module
from ucls.core.advice import advise_on_cost
from ucls.core.calls.past import BROKEN, Copies, can_fail
from ucls.core.config import Plan, Resolved, choose, read_saved, suits, whole
from ucls.core.history import NOTHING, History, join
from ucls.core.learner import Learner, refuse_diverged, saved_learner
from ucls.core.memory import refuse_too_large
from ucls.core.protocol import content_of
from ucls.core.saving import checkpoint
from ucls.core.steps import compiled
from ucls.envs import BuiltinEnv, from_arrays, make_builtin, module_of, to_arrays
from ucls.errors import UserError
from ucls.features import features_module, is_discrete, name_of


class Run:
    """A learner in a built-in environment; `advance` it in any number of calls."""

    def __init__(self, world: BuiltinEnv, learner: Learner) -> None:
        check_builtin(world, learner)
        self.world, self.learner = world, learner
        self.s = np.zeros(len(learner.plan.low))
        self.clock = np.zeros(1, np.int64)
        self.steps = 0
        self.diverged = False
        self._parts = [NOTHING]  # of its history
        self.world_rng = generator(spawn(learner.plan.seed).world)
        self.loop = compiled(world.module, learner.algorithm, learner.features)

    @property
    def plan(self) -> Plan:
        """The configuration of its learner."""
        return self.learner.plan

    @property
    def history(self) -> History:
        """The history so far; a file that has none leaves out the steps before."""
        self._parts = [join(self._parts)]
        return self._parts[0]

    def advance(self, steps: int, seconds: float = math.inf) -> History:
        """Take some steps and return their history; a run whose values diverge stops and cannot continue.

        If the arithmetic of a kernel fails (`BROKEN`), the run has diverged too. The step at which it failed is neither
        counted nor in the history. The run is as it was before that step if the algorithm says that it can fail
        (`core.calls.past`); otherwise the learner may be half updated. In either case it can no longer be saved.

        `seconds` is for runs that can stop between two steps (`AnyRun`); the compiled loop cannot.
        """
        refuse_diverged(self.diverged)
        steps = whole("steps", steps)
        refuse_too_large(2 * steps, f"a history of {steps:,} steps")
        self.learner.refuse_growth(self.steps + steps)
        rewards, ends = np.full(steps, np.nan), np.zeros(steps, np.uint8)
        before = self._copies() if can_fail(self.learner.algorithm) else None
        try:
            taken, self.diverged = self._take(rewards, ends)
        except BROKEN:
            taken, self.diverged = self._counted(rewards), True
            if before is not None:
                self._come_back(before, taken)
        except Exception:  # of a plain algorithm: its state may be half updated, so the run cannot continue
            self.steps += self._counted(rewards)
            self.diverged = True
            raise
        self.steps += taken
        self.learner.tell(None if self.diverged else self.steps)
        self._parts.append(History(rewards[:taken], ends[:taken], self.diverged))
        return self._parts[-1]

    def _take(self, rewards: np.ndarray, ends: np.ndarray) -> tuple[int, bool]:
        """Take a step for each place, or up to that at which values diverge; return their number, and whether."""
        me, taken, healthy = self.learner, 0, True
        while healthy and taken < len(rewards):
            parts = me.hyper, me.coder, me.state, me.pending, me.rng
            world = self.world.env, self.s, self.clock, self.world_rng
            more, healthy, full = self.loop(*world, *parts, rewards[taken:], ends[taken:])
            taken += more
            if full:
                me.grow()
        return taken, not healthy

    @staticmethod
    def _counted(rewards: np.ndarray) -> int:
        return int(np.isfinite(rewards).sum())

    def _copies(self) -> tuple[Any, ...]:
        return Copies(self.learner), *copy.deepcopy((self.s, self.clock, self.world_rng))

    def _come_back(self, before: tuple[Any, ...], steps: int) -> None:
        """Restore the copies, and repeat so many steps."""
        learner, self.s, self.clock, self.world_rng = before
        learner.put_back(self.learner)
        self._take(np.empty(steps), np.zeros(steps, np.uint8))

    def save(self, path: str | Path) -> Path:
        """Write a checkpoint; a run loaded from it continues bit for bit."""
        return checkpoint.save(checkpoint.named(path), *content_of(self))

    def checkpoint(self) -> dict[str, np.ndarray]:
        """A copy of everything that the next step reads; refused if it could not be loaded."""
        refuse_diverged(self.diverged)
        self.learner.refuse_unsound()
        in_play = {"s": self.s.copy(), "clock": self.clock.copy(), "rng": to_words(self.world_rng)}
        return {**self.learner.checkpoint(), **to_arrays(in_play)}

    def restore(self, arrays: Mapping[str, np.ndarray], steps: int) -> None:
        """Return to a checkpoint that this run wrote after some steps; a refused one changes nothing."""
        saved = from_arrays(arrays)
        self.world.check_saved(saved)
        steps = whole("steps", steps)
        self.learner.restore(arrays)
        self.s, self.clock = saved["s"].copy(), saved["clock"].copy()
        self.steps, self.diverged = steps, False
        self._parts = [History.from_arrays(arrays, steps)]
        from_words(self.world_rng, saved["rng"])

    def about(self) -> dict[str, Any]:
        """A description of this run, as data."""
        env = {"env": self.world.id, "env_settings": self.world.settings}
        return {**env, "steps": self.steps, "plan": asdict(self.plan)}

    @classmethod
    def load(cls, path: str | Path, algorithm: Any = None, features: Any = None) -> "Run":
        """Continue from a checkpoint in a built-in environment."""
        about, arrays = checkpoint.load(path)
        if about.get("env") is None or "world.s" not in arrays:
            raise UserError(f"{path} contains no built-in environment: load it with Agent.load(path, env)")
        return cls.revive(about, arrays, algorithm, features)

    @classmethod
    def revive(
        cls, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], algorithm: Any = None, features: Any = None
    ) -> "Run":
        """Continue from the content of a checkpoint."""
        saved = read_saved(about)
        world = make_builtin(saved.env or "", saved.env_settings)
        run = cls(world, saved_learner(saved.plan, algorithm, arrays, features))
        run.restore(arrays, saved.steps)
        return run


def check_builtin(world: BuiltinEnv, learner: Learner) -> None:
    """Refuse a learner for other states or actions than the environment's: its kernels would not fit."""
    plan = learner.plan
    sizes = world.n_actions, *(list(map(float, bound)) for bound in world.bounds())
    if sizes != (plan.n_actions, plan.low, plan.high):
        raise UserError(f"the learner does not fit {world.id}: it was made for other states or actions")
    _check_features(learner.features, world.features[0])


def _check_features(features: Any, own: str) -> None:
    """Refuse features for discrete states in an environment whose own features are for continuous ones."""
    if is_discrete(features) and not is_discrete(features_module(own)):
        raise UserError(f"{name_of(features)} features need states that are integers: use the features 'tiles'")


def suits_env(algorithm: str | ModuleType, env: str) -> bool:
    """Whether an algorithm can learn in a built-in environment with its own features."""
    return suits(algorithm_module(algorithm), features_module(module_of(env).FEATURES[0]))


def plan_run(
    env: str,
    algorithm: str | ModuleType = DEFAULT,
    *,
    seed: int = 0,
    settings: Mapping[str, object] = {},
    features: str | None = None,
    dtype: str = "float64",
) -> tuple[BuiltinEnv, Resolved]:
    """The environment and the configuration of a run, with every setting resolved; `settings` may be those of the
    algorithm, the features and the environment."""
    environment: Any = module_of(env)
    chosen = choose(algorithm, environment.FEATURES, settings, features, environment.Settings)
    _check_features(chosen.module, environment.FEATURES[0])
    world = make_builtin(env, chosen.given["env"])
    return world, chosen.plan(world.bounds(), world.n_actions, world.facts(), seed, dtype)


def make_run(
    env: str,
    algorithm: str | ModuleType = DEFAULT,
    *,
    seed: int = 0,
    settings: Mapping[str, object] = {},
    features: str | None = None,
    dtype: str = "float64",
) -> Run:
    """Create the run that `plan_run` describes."""
    world, resolved = plan_run(env, algorithm, seed=seed, settings=settings, features=features, dtype=dtype)
    run = Run(world, Learner(resolved))
    advise_on_cost(run.learner, stacklevel=3)
    return run
