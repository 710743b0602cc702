"""An agent for any Gymnasium environment with discrete actions: learn, predict, inspect, save, load.

>>> import gymnasium, ucls
>>> agent = ucls.Agent(gymnasium.make("ucls/RiverSwim-v0"), seed=1)
>>> mean, radius = agent.learn(200).value_estimates([0.05])
>>> radius.shape
(2,)
"""

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np

from ucls._util.notebook import table
from ucls._util.randomness import spawn
from ucls.agent import callback_list, model_card
from ucls.agent.build import assemble, configure, in_saved_world, reassemble
from ucls.agent.episode_log import EpisodeRecorder, Last
from ucls.agent.logs import cautious
from ucls.agent.logs.learn import LearnsFromLogs
from ucls.agent.queries import AgentQueries
from ucls.agent.sharing.hub import OnHub
from ucls.agent.vector import VectorLearning
from ucls.core.advice import FIRST_LOOK, advise_on_radius
from ucls.core.config import Plan, brief, read_saved, whole
from ucls.core.history import TERMINATED, TRUNCATED, History
from ucls.core.learner import Learner, refuse_diverged
from ucls.core.progress import Progress
from ucls.core.protocol import content_of
from ucls.core.queries import FailedArithmetic
from ucls.core.saving import checkpoint
from ucls.envs import BuiltinEnv
from ucls.errors import UserError
from ucls.features import is_precomputed
from ucls.gym import observations, spaces
from ucls.gym.adapter import EnvAdapter
from ucls.gym.identity import described_in
from ucls.gym.origin import origin_of, tell_difference
from ucls.gym.registry import as_env
from ucls.gym.vector import VectorAdapter, is_vector, single_of

DISCOUNT = 0.99
LOOK = 64  # steps between checks of whether the agent can still be saved

Callback = Callable[["Agent"], bool | None]
Environment = gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]


class Agent(LearnsFromLogs, AgentQueries, OnHub):
    """A learner in a Gymnasium environment."""

    def __init__(
        self,
        env: Environment | str,
        algorithm: str | ModuleType | None = None,
        *,
        seed: int | None = 0,
        discount: float | None = None,
        features: Any = None,
        low: Any = None,
        high: Any = None,
        dtype: str = "float64",
        **settings: Any,
    ) -> None:
        """Create an agent for an environment.

        Parameters
        ----------
        env: the environment, a vector of them, or its name (see `ucls.gym.registry`); then its keyword arguments are
            `settings={"env.is_slippery": False}`.
        algorithm: its name (`ucls algorithms` lists them), or your own module or its import path. By default
            "ucls-plan", and "ucls-deep", which learns its features, for images and more than three numbers that are not
            all integers.
        seed: of the agent, and of the environment's first reset; None draws one, available as `agent.seed`.
        discount: of every step, also accepted as `gamma`. By default the environment's own, `info["discount"]`, or
            else 0.99.
        features: "tiles", the default for up to three components; "fourier" and "random_fourier" for more; "one_hot"
            for a moderate number of discrete states; "scaled", the observation itself (see `ucls features`). An
            algorithm may have its own default. Settings that are not given depend on the numbers of components and
            actions. Or your own: a function of the observation, an array with a row for each discrete state, a module.
        low, high: bounds of the observation, for environments without finite ones. Missing bounds (None in a list
            leaves a component to its environment) are estimated from 1,000 random steps, see `ucls.gym.bounds`.
        dtype: "float64" or "float32".
        settings: of the algorithm and the features, by name (`p=0.05, tilings=16`; `settings={"lambda": 0.8}` for a
            name that Python reserves).
        """
        single = single_of(env) if is_vector(env) else env
        self._adopt(*assemble(configure(single, algorithm, seed, discount, features, low, high, dtype, settings)))
        self._learn_in(env)

    def _learn_in(self, env: Any) -> None:
        """Learn in a vector of environments, if it is one."""
        self.vector = None
        if is_vector(env):
            stage, seed = self._stage, spawn(self.plan.seed).world
            parts = stage.observed, self.plan.n_actions, stage.first_action, seed, stage.masked
            self.vector = VectorLearning(self.learner, VectorAdapter(env, *parts))

    def _adopt(self, learner: Learner, stage: EnvAdapter, discount: float | None) -> None:
        self.learner, self._stage, self.discount = learner, stage, discount
        self.vector: VectorLearning | None = None
        self.steps = 0
        self.diverged = self.learning = False
        self._next_look = FIRST_LOOK
        self.s = np.zeros(len(learner.plan.low))  # the current state
        self._diary = EpisodeRecorder()
        self._named: Any = None  # how an environment was made that was not given
        self.noted: dict[str, tuple[float, int]] = {}
        self._logged, self._cautious = [], None

    @property
    def plan(self) -> Plan:
        """The configuration of its learner."""
        return self.learner.plan

    @property
    def seed(self) -> int:
        """The seed it was created with, given or drawn."""
        return self.plan.seed

    @property
    def world(self) -> BuiltinEnv | None:
        """The built-in environment it learns in; None for any other, or if a wrapper may change it."""
        ours = self._stage.ours
        return ours and ours.world

    @property
    def env(self) -> Any:
        """The environment; None after `load` without the third-party environment that the agent learned in."""
        return self._stage.env

    @env.setter
    def env(self, env: Any) -> None:
        """Move the agent to another environment, or vector of them, with the same spaces; it begins a new episode."""
        single = spaces.with_discrete_actions(single_of(env) if is_vector(env) else as_env(env))
        self.check_fit(single.action_space, single.observation_space)
        self._stage = self._stage.on(single, self.plan)
        self._diary.cut_off()
        self._learn_in(env)

    def check_fit(self, actions: Any, space: Any) -> None:
        """Refuse spaces that are not those of its environment."""
        if not hasattr(actions, "start"):
            raise UserError(f"the agent has {self.plan.n_actions} actions, not {brief(actions)}: wrap the environment")
        own = None if is_precomputed(self.plan.features) else spaces.describe(space)
        observations.check_fit(actions, own, self.plan, self._stage.space)

    def learn(
        self,
        total_timesteps: float,
        callback: Callback | Iterable[Callback] | None = None,
        progress_bar: bool = False,
    ) -> "Agent":
        """Learn for some more steps, continuing where the last call stopped.

        `callback(agent)`, or each of several, is called after every step, and stops learning by returning False; see
        `ucls.callbacks`. If the values diverge, learning stops with a warning, `diverged` becomes true, and the agent
        can no longer be used.
        """
        exact = isinstance(total_timesteps, float) and total_timesteps.is_integer()
        steps = whole("total_timesteps", int(total_timesteps) if exact else total_timesteps)
        self._take(steps, callback_list.listed(callback), progress_bar)
        self.learner.tell(None if self.diverged else self.steps)
        if self.steps >= self._next_look:
            self._next_look = 2 * self.steps
            advise_on_radius(self)
        if self.diverged:
            warnings.warn(f"the values diverged at step {self.steps}: learning stopped", RuntimeWarning, stacklevel=2)
        return self

    def advance(self, steps: int, seconds: float = math.inf) -> History:
        """Learn for some more steps and return their history; it stops if the values diverge.

        It also stops after the step at which `seconds` have passed.
        """
        before, over = len(self._diary.ends), time.perf_counter() + seconds
        self._take(whole("steps", steps), [lambda _: time.perf_counter() < over])
        self.learner.tell(None if self.diverged else self.steps)
        return self._since(before)

    def _take(self, steps: int, callbacks: Sequence[Callback] = (), progress_bar: bool = False) -> None:
        callback_list.refuse_within(self, "learn or advance")
        refuse_diverged(self.diverged)
        if self.env is None:
            raise UserError(
                "the agent has no environment to learn in: set agent.env = ..., or give it to load(path, env)"
            )
        self.learner.refuse_growth(self.steps + steps)
        diary = self._diary
        with Progress(steps, wanted=progress_bar) as bar, diary.timing(), callback_list.begun(callbacks, self):
            reward, before = 0.0, diary.episodes
            for done in range(1, steps + 1):
                reward += self._step()
                bar.update(done, diary.episodes - before, reward)
                if not callback_list.call_all(callbacks, self) or self.diverged:
                    break
                if done % LOOK == 0:
                    self.learner.look(self.steps)

    def _step(self) -> float:
        """Take a step and return its reward; after a failed step the next one begins a new episode.

        If the arithmetic of the algorithm fails, the values have diverged, and the step does not count.
        """
        if self.vector is not None:
            return self._step_in(self.vector)
        stage = self._stage
        try:
            if stage.between_episodes:
                self.learner.begin(stage.reset(self.steps), stage.mask)
            step = stage.step(self.learner.action, self.steps + 1)
            own = DISCOUNT if step.discount is None else step.discount
            gamma = own if self.discount is None else self.discount
            healthy = self.learner.advance(step.reward, gamma, step.s, step.terminated, stage.mask)
        except FailedArithmetic:  # when the episode began
            healthy = step = None
        except BaseException:
            stage.between_episodes = True
            self._diary.cut_off()
            raise
        self.diverged = not healthy
        if healthy is None or step is None:
            return 0.0
        self.steps += 1
        self.s = step.s
        self._diary.note(step.reward, TERMINATED if step.terminated else TRUNCATED if step.truncated else 0)
        return step.reward

    def _step_in(self, vector: VectorLearning) -> float:
        """Take a step in one of several environments, like `_step`."""
        try:
            step, outcome = vector.take()
            self._stage.note_masks(vector.adapter.masks)
            own = DISCOUNT if step.discount is None else step.discount
            healthy = vector.learn(outcome, own if self.discount is None else self.discount)
        except BaseException:
            vector.restart()
            raise
        self.diverged = not healthy
        if healthy is None:
            return 0.0
        self.steps += 1
        self.s = step.s
        vector.record(self._diary, outcome)
        return step.reward

    @property
    def history(self) -> History:
        """The history so far."""
        return self._since(0)

    def _since(self, first: int) -> History:
        return self._diary.since(first, self.diverged)

    @property
    def episodes(self) -> int:
        """The number of finished episodes in the history."""
        return self._diary.episodes

    def last_episodes(self, episodes: int = 100) -> Last:
        """The returns and lengths of the last finished episodes."""
        return self._diary.last(whole("episodes", episodes))

    def __getstate__(self) -> dict[str, Any]:
        """For `copy` and `pickle`: a copy made by a callback is not learning."""
        return {**self.__dict__, "learning": False}

    def __repr__(self) -> str:
        plan, where = self.plan, "no environment" if self.env is None else self.env
        return f"Agent({plan.agent} on {where}, seed {plan.seed}, after {self.steps} steps)"

    def _repr_html_(self) -> str:
        """For notebooks: the table of its model card, and its returns."""
        return table(model_card.facts_of(self.about(), self.last_episodes())) + self.history._repr_html_()

    @property
    def metrics(self) -> dict[str, float]:
        """Statistics of the last 100 episodes and the speed, under the names that Stable-Baselines3 uses."""
        noted = {name: value for name, (value, _) in self.noted.items()}
        return {**self._diary.metrics(), "time/total_timesteps": float(self.steps), **noted}

    def log_metrics(self, metrics: Mapping[str, float]) -> None:
        """Add values to `metrics`, for callbacks that measure something; `noted` records the step of each."""
        self.noted |= {str(name): (float(value), self.steps) for name, value in metrics.items()}

    def about(self) -> dict[str, Any]:
        """A description of this agent and its environment, as data; a third-party environment is described in words."""
        named = self._named if self.env is None else origin_of(self.env)
        more = {} if named is None or self.world is not None else {"named": named}
        mine = {"steps": self.steps, "discount": self.discount, "plan": asdict(self.plan)}
        return {**self._stage.about(), **mine, **more}

    def checkpoint(self) -> dict[str, np.ndarray]:
        """A copy of everything that the next step reads, without the state of an external environment; refused if it
        could not be loaded again."""
        refuse_diverged(self.diverged)
        self.learner.refuse_unsound()
        solution = self.cautious_solution()
        more = {} if solution is None else solution.to_arrays()
        return {**self.learner.checkpoint(), **self._stage.checkpoint(), **more}

    def restore(self, arrays: Mapping[str, np.ndarray], steps: int) -> None:
        """Return to a checkpoint that this agent wrote after some steps; a refused one changes nothing.

        In a third-party environment it begins a new episode.
        """
        callback_list.refuse_within(self, "restore")
        steps = whole("steps", steps)
        self._stage.check(arrays)
        solution = cautious.from_arrays(arrays, self.learner)
        self.learner.restore(arrays)
        self._logged, self._cautious = [], solution
        self._stage.restore(arrays)
        if self.vector is not None:
            self.vector.restart()
        self.steps, self.diverged = steps, False
        self._diary.recall(History.from_arrays(arrays, steps))
        if self._stage.between_episodes:
            self._diary.cut_off()

    def save(self, path: str | Path) -> Path:
        """Write the agent to a file and return its path; `.safetensors` is added to a name without a suffix.

        The state of a built-in environment is saved too, so that learning continues bit for bit; that of any other, or
        of a wrapper, is not. A model card, NAME.card.md, is written beside the file.
        """
        path, (about, arrays) = checkpoint.named(path), content_of(self)
        checkpoint.save(path, about, arrays)
        model_card.write(path, about, self.last_episodes(), claimed=self.env is None)
        return path

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: Environment | str | None = None,
        algorithm: Any = None,
        features: Any = None,
    ) -> "Agent":
        """Read an agent from a file. The file runs no code: your own `algorithm` and `features` must be given again.

        A built-in environment is recreated if `env` is not given, and learning continues in it bit for bit. In any
        other, or in a built-in one whose wrappers change it, the agent continues with a new episode, and a warning says
        if it is not the environment that the agent learned in. A wrapped built-in environment must be given. Without a
        third-party environment the agent can predict, but not learn. Without your features function it takes the
        features themselves for observations.
        """
        return cls.revive(*checkpoint.load(path), env, algorithm, features)

    @classmethod
    def revive(
        cls,
        about: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        env: Environment | str | None = None,
        algorithm: Any = None,
        features: Any = None,
    ) -> "Agent":
        """Continue from the content of a file, as `load` does."""
        saved = read_saved(about)
        agent = cls.__new__(cls)
        single = single_of(env) if is_vector(env) else env
        agent._adopt(*reassemble(saved, about, arrays, single, algorithm, features))
        if not in_saved_world(agent.world, saved):  # the state of another environment means nothing here
            arrays = {name: array for name, array in arrays.items() if not name.startswith("world.")}
        agent.restore(arrays, saved.steps)
        agent._learn_in(env)
        agent._named = described_in(about)
        tell_difference(about, agent.env)
        return agent
