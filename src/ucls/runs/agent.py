"""An agent for any Gymnasium environment with discrete actions: learn, predict, look inside, save, load.

>>> import gymnasium, ucls
>>> agent = ucls.Agent(gymnasium.make("ucls/RiverSwim-v0"), seed=1)
>>> mean, radius = agent.learn(200).interval([0.05])
>>> radius.shape
(2,)
"""

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import gymnasium
import numpy as np

from ucls import checkpoint
from ucls.algorithms import DEFAULT, algorithm_module
from ucls.envs import World, make_world
from ucls.envs.gym import GymWorld
from ucls.errors import UserError
from ucls.kernels.ranges import STEPS
from ucls.randomness import spawn
from ucls.runs import inputs, run_folder, spaces
from ucls.runs.history import NOTHING, TERMINATED, TRUNCATED, History
from ucls.runs.learner import Learner, Uncertainty, refuse_diverged, saved_learner
from ucls.runs.plan import checked_discount, choose, read_saved, whole
from ucls.runs.progress import Progress

DISCOUNT = 0.99

T = TypeVar("T")
Callback = Callable[["Agent"], bool | None]


class Agent:
    """A learner in a Gymnasium environment."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any] | str,
        agent: str | ModuleType = DEFAULT,
        *,
        seed: int = 0,
        discount: float | None = None,
        features: str | None = None,
        low: Any = None,
        high: Any = None,
        dtype: str = "float64",
        **settings: Any,
    ) -> None:
        """Put an agent on an environment.

        Parameters
        ----------
        env: the environment, or its id.
        agent: the name of the algorithm (`ucls agents` lists them), or a module of your own or its import path.
        seed: of the agent, and of the environment's first reset.
        discount: of every step, or `gamma`. If not given, the environment's own, `info["discount"]`, or else 0.99.
        features: "tiles" for observations in a box (the default there), "one_hot" for discrete ones, "scaled" for the
            observation itself; an algorithm may have its own default.
        low, high: bounds of the observation, for an environment that does not give finite ones.
        dtype: "float64" or "float32".
        settings: of the algorithm and the features, by name (`p=0.05, tilings=16`; `settings={"lambda": 0.8}` works for
            a name that Python reserves).
        """
        self._env: Any = spaces.with_discrete_actions(env)
        settings |= settings.pop("settings", {})
        algorithm: Any = algorithm_module(agent)
        if "gamma" in settings and discount is None and "gamma" not in algorithm.Hyper._fields:
            discount = settings.pop("gamma")
        world, space = self.world, self._env.observation_space
        bounds, facts = spaces.bounds(space, low, high), world.facts() if world else {}
        chosen = choose(algorithm, spaces.own_features(space, world), settings, features)
        spaces.refuse_blind_optimism(chosen.given["agent"], facts)
        resolved = chosen.plan(bounds, int(self._env.action_space.n), facts, seed, dtype)
        self._adopt(Learner(resolved), checked_discount(discount))
        self._describe()

    def _adopt(self, learner: Learner, discount: float | None) -> None:
        self.learner = learner
        self.discount = discount
        self.steps = 0
        self.diverged = False
        self._rewards: list[float] = []
        self._ends: list[int] = []
        self._seconds = 0.0
        self._between_episodes = True
        self._seed: int | None = spawn(learner.plan.seed).world

    def _describe(self) -> None:
        """Note what the environment shows and takes."""
        self._space = inputs.describe(self._env.observation_space)
        self._observed = inputs.observed(self._env.observation_space, self.learner.plan)
        self._first_action = int(self._env.action_space.start)

    @property
    def env(self) -> Any:
        """The environment; None after `load` of an agent whose environment is not ours, until it is given one."""
        return self._env

    @env.setter
    def env(self, env: Any) -> None:
        """Put the agent on another environment of the same kind, where it begins a new episode."""
        env = spaces.with_discrete_actions(env)
        inputs.check_fit(env.action_space, env.observation_space, self.learner.plan, self._space)
        self._env, self._between_episodes = env, True
        self._seed = spawn(self.learner.plan.seed).world
        self._describe()

    def learn(
        self,
        total_timesteps: float,
        callback: Callback | Iterable[Callback] | None = None,
        progress_bar: bool = False,
    ) -> "Agent":
        """Learn for some steps more, going on where the last call stopped.

        `callback(agent)`, or each of several, is called after every step, and stops the learning by returning False. If
        the values diverge, learning stops with a warning, `diverged` is true, and nothing more can be asked of it.
        """
        refuse_diverged(self.diverged)
        if self._env is None:
            raise UserError("the agent has no environment to learn in: give it one, agent.env = ... or load(path, env)")
        exact = isinstance(total_timesteps, float) and total_timesteps.is_integer()
        steps = whole("total_timesteps", int(total_timesteps) if exact else total_timesteps)
        callbacks = [callback] if callable(callback) else list(callback or [])
        began = time.perf_counter()
        with Progress(steps, wanted=progress_bar) as bar:
            reward, episodes = 0.0, 0
            for done in range(1, steps + 1):
                self._step()
                reward, episodes = reward + self._rewards[-1], episodes + int(self._between_episodes)
                bar.update(done, episodes, reward)
                answers = [called(self) for called in callbacks]
                if self.diverged or any(answer is False for answer in answers):
                    break
        self._seconds += time.perf_counter() - began
        self.learner.tell()
        if self.diverged:
            warnings.warn(f"the values diverged at step {self.steps}: learning stopped", RuntimeWarning, stacklevel=2)
        return self

    def _step(self) -> None:
        """Take a step; one that fails ends the episode there, and the next one begins another."""
        try:
            if self._between_episodes:
                given = self._env.reset(seed=self._seed)
                self._seed = None
                self.learner.begin(self._from_env(inputs.read_reset, given, f"after step {self.steps}"))
                self._between_episodes = False
            action: Any = self.learner.action + self._first_action
            found = self._from_env(inputs.read_step, self._env.step(action), f"at step {self.steps + 1}")
            own = DISCOUNT if found.discount is None else found.discount
            gamma = own if self.discount is None else self.discount
            healthy = self.learner.advance(found.reward, gamma, found.s, found.terminated)
        except BaseException:
            self._between_episodes = True
            if self._ends and not self._ends[-1]:
                self._ends[-1] = TRUNCATED
            raise
        self.steps += 1
        self._between_episodes = found.terminated or found.truncated
        self._rewards.append(found.reward)
        self._ends.append(TERMINATED if found.terminated else TRUNCATED if found.truncated else 0)
        self.diverged = not healthy

    def _from_env(self, read: Callable[[Any, inputs.Observed], T], given: Any, when: str) -> T:
        """Read what the environment gave; what cannot be read is its fault."""
        try:
            return read(given, self._observed)
        except UserError as fault:
            raise UserError(f"the environment is at fault, {when}: {fault}") from None

    def predict(self, observation: Any, deterministic: bool = False) -> tuple[int, None]:
        """The action to take, and None where other libraries have a recurrent state; asking does not change the run.

        As in Stable-Baselines3 the default is the agent's own rule, as it would act there itself if it were learning:
        its upper bound, epsilon or sample, ties broken at random. `deterministic=True` is what an evaluation wants: the
        action with the best mean, the first of them if several are.
        """
        if deterministic:
            best = int(np.argmax(self.interval(observation)[0]))
        else:
            refuse_diverged(self.diverged)
            best = self.learner.choose(self._observed.read(observation))
        return best + self._first_action, None

    def interval(self, observation: Any) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value, without changing what the agent will do."""
        refuse_diverged(self.diverged)
        return self.learner.interval(self._observed.read(observation))

    def uncertainty(self, observation: Any) -> Uncertainty:
        """The two parts of the radius of every action's value: what is not known here, and what is noisy here.

        Only some algorithms can tell them apart; `ucls-exact` can.
        """
        refuse_diverged(self.diverged)
        return self.learner.uncertainty(self._observed.read(observation))

    @property
    def history(self) -> History:
        """What happened so far, as far as it was recorded: files of earlier versions do not tell."""
        return History(np.array(self._rewards, np.float64), np.array(self._ends, np.uint8), self.diverged)

    def recall(self, happened: History) -> None:
        """Let the history be what happened before; an episode that cannot be gone on with counts as cut off."""
        self._rewards, self._ends = happened.rewards.tolist(), happened.ends.tolist()
        if self._between_episodes and self._ends and not self._ends[-1]:
            self._ends[-1] = TRUNCATED

    def __repr__(self) -> str:
        plan, where = self.learner.plan, "no environment" if self._env is None else self._env
        return f"Agent({plan.agent} on {where}, seed {plan.seed}, after {self.steps} steps)"

    @property
    def metrics(self) -> dict[str, float]:
        """Numbers on the last 100 episodes and the speed, under the names that other libraries use."""
        happened = self.history
        recent = {
            "rollout/ep_rew_mean": happened.episode_returns[-100:],
            "rollout/ep_len_mean": happened.episode_steps[-100:],
        }
        return {
            **{name: float(values.mean()) for name, values in recent.items() if len(values)},
            "time/episodes": float(len(happened.episode_steps)),
            "time/total_timesteps": float(self.steps),
            "time/fps": len(self._rewards) / self._seconds if self._seconds else 0.0,
        }

    def save(self, path: str | Path) -> Path:
        """Write the agent to a file; in one of our environments that too, so that learning goes on bit for bit."""
        refuse_diverged(self.diverged)
        self.learner.refuse_unsound()
        about: dict[str, Any] = {"env": None, "steps": self.steps, "discount": self.discount}
        about |= {"space": self._space, "first_action": self._first_action}
        arrays = {**self.learner.checkpoint(), **run_folder.as_arrays(self.history)}
        ours = self._ours
        if ours is not None:
            about |= {"env": ours.world.id, "env_settings": ours.world.settings}
            if self._seed is None:
                arrays |= {f"world.{name}": array for name, array in ours.checkpoint().items()}
                if self._between_episodes:  # of a step that failed, the world may still be in its episode
                    arrays["world.clock"] = np.zeros(1, np.int64)
        return checkpoint.save(path, {**about, "plan": asdict(self.learner.plan)}, arrays)

    @classmethod
    def load(cls, path: str | Path, env: gymnasium.Env[Any, Any] | str | None = None, algorithm: Any = None) -> "Agent":
        """Read an agent from a file. No code is executed: a module of your own must be given as `algorithm`.

        In one of our environments, made anew if `env` is not given, it goes on bit for bit. In another, it goes on with
        a new episode; without that one it can be asked, but not learn.
        """
        about, arrays = checkpoint.load(path)
        saved = read_saved(about)
        if env is None and saved.env is not None:
            make_world(saved.env, saved.env_settings)  # one of ours: Gymnasium would import what another id names
            env = gymnasium.make(saved.env, **saved.env_settings)
        agent = cls.__new__(cls)
        agent._env, agent._space = None, about.get("space")
        if env is not None:
            agent._env = spaces.with_discrete_actions(env)
            inputs.check_fit(agent._env.action_space, agent._env.observation_space, saved.plan, agent._space)
        learner = saved_learner(saved.plan, algorithm, arrays)
        learner.restore(arrays)
        agent._adopt(learner, saved.discount)
        agent.steps = saved.steps
        if env is not None:
            agent._describe()
        else:
            agent._observed = inputs.remembered(agent._space, saved.plan)
            agent._first_action = whole("the first action", about.get("first_action", 0), -STEPS)
        agent._go_on(saved.env, arrays)
        agent.recall(run_folder.carried(arrays, saved.steps) or NOTHING)
        return agent

    def _go_on(self, id: str | None, arrays: Mapping[str, np.ndarray]) -> None:
        """Put our own environment back to where it was saved."""
        ours = self._ours
        if ours is not None and ours.world.id == id and "world.rng" in arrays:
            saved = {name: arrays[f"world.{name}"] for name in ("s", "clock", "rng") if f"world.{name}" in arrays}
            ours.world.check_saved(saved)
            self._env.reset()
            ours.restore(saved)
            self._seed = None
            self._between_episodes = int(saved["clock"][0]) == 0

    @property
    def world(self) -> World | None:
        """The world that the environment shows, if it is one of ours; None if it is anybody else's."""
        ours = self._ours
        return None if ours is None else ours.world

    @property
    def _ours(self) -> GymWorld | None:
        """Our own environment, if this is one and shows its observations as they are."""
        bare = getattr(self._env, "unwrapped", None)
        same = isinstance(bare, GymWorld) and bare.observation_space == self._env.observation_space
        return bare if same else None  # pyright: ignore[reportReturnType]
