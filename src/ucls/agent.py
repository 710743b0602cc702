"""An agent for any Gymnasium environment with discrete actions: learn, predict, look inside, save, load.

>>> import gymnasium, ucls
>>> agent = ucls.Agent(gymnasium.make("ucls/RiverSwim-v0"), seed=1)
>>> mean, radius = agent.learn(200).interval([0.05])
>>> radius.shape
(2,)
"""

import difflib
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import gymnasium
import numpy as np

from ucls import checkpoint, door
from ucls.algorithms import algorithm_module
from ucls.envs import ENVIRONMENTS, check_saved, make_world
from ucls.envs.gym import GymWorld
from ucls.errors import UserError, unknown
from ucls.features import features_module
from ucls.history import TERMINATED, TRUNCATED, History
from ucls.learner import Learner, refuse_diverged, saved_learner
from ucls.plan import FAR, Plan, brief, checked_discount, read_saved
from ucls.progress import Progress
from ucls.randomness import spawn
from ucls.settings import distribute, shown

DISCOUNT = 0.99

T = TypeVar("T")


class Agent:
    """A learner in a Gymnasium environment."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any] | str,
        agent: str = "ucls",
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
        agent: the name of the algorithm (`ucls agents` lists them) or the import path of a module of your own.
        seed: of the agent, and of the environment's first reset.
        discount: of every step. If not given, what the environment says in `info["discount"]`, or else 0.99.
        features: "tiles" for observations in a box (the default there), "one_hot" for discrete ones, "scaled" for the
            observation itself; an algorithm may have its own default.
        low, high: bounds of the observation, for an environment that does not give finite ones.
        dtype: "float64" or "float32".
        settings: of the algorithm and the features, by name (`p=0.05, tilings=16`; `settings={"lambda": 0.8}` works for
            a name that Python reserves).
        """
        self.env = _with_discrete_actions(make_env(env) if isinstance(env, str) else env)
        settings |= settings.pop("settings", {})
        algorithm: Any = algorithm_module(agent)
        world = self._world()
        box = _bounds(self.env.observation_space, low, high)
        default, tuned = _default_features(self.env.observation_space, algorithm, world)
        name = features or default
        given = distribute(settings, {"agent": algorithm.Hyper, "features": features_module(name).Settings})
        plan = Plan(
            agent=agent,
            settings=given["agent"],
            features=name,
            feature_settings={**(tuned if name == default else {}), **given["features"]},
            low=box[0],
            high=box[1],
            n_actions=int(self.env.action_space.n),  # pyright: ignore[reportAttributeAccessIssue]
            seed=seed,
            dtype=dtype,
        )
        facts = world.world.module.facts(world.world.env) if world else {}
        self._adopt(Learner(plan, facts, algorithm), checked_discount(discount))

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
        self._observed = door.observed(self.env.observation_space, learner.plan)

    def learn(
        self,
        total_timesteps: int,
        callback: Callable[["Agent"], bool | None] | None = None,
        progress_bar: bool = False,
    ) -> "Agent":
        """Learn for some steps more, going on where the last call stopped.

        `callback(agent)` is called after every step, and stops the learning by returning False. If the values diverge,
        learning stops with a warning, `diverged` is true, and nothing more can be asked of the agent.
        """
        refuse_diverged(self.diverged)
        if total_timesteps < 0:
            raise UserError(f"total_timesteps cannot be {total_timesteps}: give a whole number >= 0")
        began = time.perf_counter()
        with Progress(total_timesteps, wanted=progress_bar) as bar:
            reward, episodes = 0.0, 0
            for done in range(1, total_timesteps + 1):
                self._step()
                reward, episodes = reward + self._rewards[-1], episodes + int(self._between_episodes)
                bar.update(done, episodes, reward)
                if self.diverged or (callback is not None and callback(self) is False):
                    break
        self._seconds += time.perf_counter() - began
        if self.diverged:
            warnings.warn(f"the values diverged at step {self.steps}: learning stopped", RuntimeWarning, stacklevel=2)
        return self

    def _step(self) -> None:
        """Take a step; one that fails ends the episode there, and the next one begins another."""
        try:
            if self._between_episodes:
                given = self.env.reset(seed=self._seed)
                self._seed = None
                self.learner.begin(self._from_env(door.read_reset, given, f"after step {self.steps}"))
                self._between_episodes = False
            action: Any = self.learner.action + self.env.action_space.start  # pyright: ignore[reportAttributeAccessIssue]
            found = self._from_env(door.read_step, self.env.step(action), f"at step {self.steps + 1}")
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

    def _from_env(self, read: Callable[[Any, door.Observed], T], given: Any, when: str) -> T:
        """Read what the environment gave; what cannot be read is its fault."""
        try:
            return read(given, self._observed)
        except UserError as fault:
            raise UserError(f"the environment is at fault, {when}: {fault}") from None

    def predict(self, observation: Any, deterministic: bool = True) -> tuple[int, None]:
        """The action to take, and None where other libraries have a recurrent state.

        `deterministic` takes the action with the best mean; otherwise the one with the best upper bound: it explores.
        """
        mean, radius = self.interval(observation)
        best = np.argmax(mean if deterministic else mean + radius)
        return int(best + self.env.action_space.start), None  # pyright: ignore[reportAttributeAccessIssue]

    def interval(self, observation: Any) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value, without changing what the agent will do."""
        refuse_diverged(self.diverged)
        return self.learner.bounds(self._observed.read(observation))

    @property
    def history(self) -> History:
        """What happened in the steps that this object learned from."""
        return History(np.array(self._rewards, np.float64), np.array(self._ends, np.uint8), self.diverged)

    def recall(self, happened: History) -> None:
        """Let the history be what happened before; an episode that cannot be gone on with counts as cut off."""
        self._rewards, self._ends = happened.rewards.tolist(), happened.ends.tolist()
        if self._between_episodes and self._ends and not self._ends[-1]:
            self._ends[-1] = TRUNCATED

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
        world = self._world()
        about: dict[str, Any] = {"env": None, "steps": self.steps, "discount": self.discount}
        about["space"] = door.describe(self.env.observation_space)
        arrays = self.learner.checkpoint()
        if world is not None:
            about |= {"env": world.world.id, "env_settings": shown(world.world.env)}
            if self._seed is None:
                arrays |= {f"world.{name}": array for name, array in world.checkpoint().items()}
                if self._between_episodes:  # of a step that failed, the world may still be in its episode
                    arrays["world.clock"] = np.zeros(1, np.int64)
        return checkpoint.save(path, {**about, "plan": asdict(self.learner.plan)}, arrays)

    @classmethod
    def load(cls, path: str | Path, env: gymnasium.Env[Any, Any] | None = None, algorithm: Any = None) -> "Agent":
        """Read an agent from a file. No code is executed: a module of your own must be given as `algorithm`.

        In one of our environments, made anew if `env` is not given, it goes on bit for bit. In another, it goes on with
        a new episode.
        """
        about, arrays = checkpoint.load(path)
        saved = read_saved(about)
        if env is None:
            if saved.env is None:
                raise UserError(f"{path} does not know its environment: give one, Agent.load(path, env)")
            make_world(saved.env, saved.env_settings)  # one of ours: Gymnasium would import what another id names
            env = gymnasium.make(saved.env, **saved.env_settings)
        agent = cls.__new__(cls)
        agent.env = _with_discrete_actions(env)
        door.check_fit(agent.env.action_space, agent.env.observation_space, saved.plan, about.get("space"))
        learner = saved_learner(saved.plan, algorithm, arrays)
        learner.restore(arrays)
        agent._adopt(learner, saved.discount)
        agent.steps = saved.steps
        world = agent._world()
        if world is not None and world.world.id == saved.env and "world.rng" in arrays:
            found = {name: arrays[f"world.{name}"] for name in ("s", "clock", "rng") if f"world.{name}" in arrays}
            check_saved(world.world, found)
            agent.env.reset()
            world.restore(found)
            agent._seed = None
            agent._between_episodes = int(found["clock"][0]) == 0
        return agent

    def _world(self) -> GymWorld | None:
        """Our own environment, if this is one and shows its observations as they are."""
        bare = self.env.unwrapped
        same = isinstance(bare, GymWorld) and bare.observation_space == self.env.observation_space
        return bare if same else None  # pyright: ignore[reportReturnType]


def make_env(id: str) -> gymnasium.Env[Any, Any]:
    """Make any registered environment by its id."""
    try:
        return gymnasium.make(id)
    except (gymnasium.error.UnregisteredEnv, gymnasium.error.NamespaceNotFound):
        near = difflib.get_close_matches(id, list(gymnasium.registry), n=3, cutoff=0.6)
        known = dict.fromkeys([*ENVIRONMENTS, *near])
        raise unknown("environment", id, known) from None
    except (gymnasium.error.Error, ModuleNotFoundError) as error:
        raise UserError(f"{id} cannot be made: {error}") from None


def _with_discrete_actions(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    if not isinstance(env.action_space, gymnasium.spaces.Discrete):
        raise UserError(f"the actions are {env.action_space}: only Discrete ones can be learned, wrap the environment")
    return env


def _bounds(space: gymnasium.Space[Any], low: Any, high: Any) -> tuple[list[float], list[float]]:
    """The bounds of the observation: those given, or else the space's."""
    if isinstance(space, gymnasium.spaces.Discrete):
        if low is not None or high is not None:
            raise UserError("low and high are for observations in a Box: these are whole numbers and have their bounds")
        return [float(space.start)], [float(space.start + space.n - 1)]
    if not isinstance(space, gymnasium.spaces.Box):
        raise UserError(f"the observations are {space}: only Box and Discrete ones can be read, wrap the environment")
    bounds = []
    for given, own in ((low, space.low), (high, space.high)):
        try:
            bound = np.asarray(own if given is None else given, np.float64).ravel()
        except (ValueError, TypeError, OverflowError):
            raise UserError(f"low and high cannot be {brief(given)}: give {space.low.size} numbers each") from None
        if len(bound) != space.low.size:
            raise UserError(f"low and high must have {space.low.size} numbers each, not {len(bound)}")
        bounds.append(bound)
    open_ends = np.flatnonzero(~((np.abs(bounds[0]) <= FAR) & (np.abs(bounds[1]) <= FAR)))
    if len(open_ends):
        raise UserError(f"observation {open_ends[0]} is unbounded: give low and high for all {space.low.size} of them")
    if not (bounds[0] < bounds[1]).all():
        raise UserError("every number in low must be below its number in high")
    return bounds[0].tolist(), bounds[1].tolist()


def _default_features(
    space: gymnasium.Space[Any], algorithm: Any, world: GymWorld | None
) -> tuple[str, dict[str, Any]]:
    if hasattr(algorithm, "FEATURES"):
        return algorithm.FEATURES
    if world is not None:
        return world.world.module.FEATURES
    return ("one_hot" if isinstance(space, gymnasium.spaces.Discrete) else "tiles"), {}
