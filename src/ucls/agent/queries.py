"""What an agent can be asked, by a program or by a person. Asking changes nothing in its run; only where `steps` are
given does it learn them first."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls.agent import inference
from ucls.agent.maps import maps_of
from ucls.agent.video import Showing, write_film
from ucls.core.config import whole
from ucls.core.learner import Learner, Uncertainty, refuse_diverged
from ucls.gym.adapter import EnvAdapter


class AgentQueries:
    """A learner on a stage, to be asked about observations or looked at; once its values diverged, no more."""

    learner: Learner
    _stage: EnvAdapter
    diverged: bool

    def predict(self, observation: Any, deterministic: bool = False) -> tuple[Any, None]:
        """The action to take, and None where other libraries have a recurrent state; asking does not change the run.

        As in Stable-Baselines3 the default is the agent's own rule, as it would act there itself if it were learning:
        its upper bound, epsilon or sample, ties broken at random. `deterministic=True` is what an evaluation wants: the
        action with the best mean, the first of them if several are. Of a batch of observations, an array of actions.
        """
        refuse_diverged(self.diverged)
        best = inference.predict(self.learner, self._stage.observed, observation, deterministic)
        return best + self._stage.first_action, None

    def interval(self, observation: Any) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value, without changing what the agent will do.

        Of a batch of observations, arrays with a row for each.
        """
        refuse_diverged(self.diverged)
        return inference.interval(self.learner, self._stage.observed, observation)

    def uncertainty(self, observation: Any) -> Uncertainty:
        """The two terms of the radius of every action: `prior`, which data replace, and `noise`.

        Only some algorithms separate them, such as `ucls-exact`. For a batch, arrays with a row per observation.
        """
        refuse_diverged(self.diverged)
        return inference.uncertainty(self.learner, self._stage.observed, observation)

    def explain(
        self,
        path: str | Path = "maps.html",
        steps: int = 0,
        slice_at: Sequence[float] | None = None,
        watch: Callable[[int], Any] = lambda done: None,
    ) -> Path:
        """Write an HTML page that maps values, prior weight, noise, visits and chosen actions.

        With `steps` the agent first trains for that many more, and the page has a slider over them. If observations
        have more than two components, the maps are slices through the state `slice_at`, by default the center of the
        bounds.
        """
        refuse_diverged(self.diverged)
        return maps_of(self, self._stage, path, whole("steps", steps), slice_at, watch)

    def record_video(
        self,
        path: str | Path = "video.gif",
        episodes: int = 1,
        steps: int = 0,
        *,
        deterministic: bool = True,
        seed: int = 0,
        fps: int = 20,
        every: int = 1,
        max_steps: int = 500,
        env: Any = None,
        progress_bar: bool = False,
    ) -> Path:
        """Record a video (GIF or MP4) of some episodes, with the confidence interval of every action.

        The agent follows its greedy policy, or its exploring one with `deterministic=False`; with `steps` it first
        trains for that many more. The video uses a copy of the environment, or `env`, which needs
        `render_mode="rgb_array"`; recording does not change the agent's own run. `seed` is that of the episodes. One of
        `every` steps is shown, at `fps` frames per second, and episodes are truncated after `max_steps`.
        """
        refuse_diverged(self.diverged)
        showing = Showing(episodes, steps, deterministic, seed, fps, every, max_steps)
        return write_film(self, self._stage, path, env, showing, progress_bar)
