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
        """The two parts of the radius of every action's value: what is not known here, and what is noisy here.

        Only some algorithms can tell them apart; `ucls-exact` can. Of a batch, arrays with a row for each observation.
        """
        refuse_diverged(self.diverged)
        return inference.uncertainty(self.learner, self._stage.observed, observation)

    def explain(
        self,
        path: str | Path = "maps.html",
        steps: int = 0,
        through: Sequence[float] | None = None,
        watch: Callable[[int], Any] = lambda done: None,
    ) -> Path:
        """Write maps of what the agent expects, does not know, finds noisy and would do: one page for a browser.

        With `steps` it first learns for so many more, and the page has a slider over them. Where observations have more
        than two numbers the maps are planes through the state `through`, by default the middle of the bounds.
        """
        refuse_diverged(self.diverged)
        return maps_of(self, self._stage, path, whole("steps", steps), through, watch)

    def watch(
        self,
        path: str | Path = "watch.gif",
        episodes: int = 1,
        steps: int = 0,
        *,
        deterministic: bool = True,
        seed: int = 0,
        fps: int = 20,
        every: int = 1,
        most_steps: int = 500,
        env: Any = None,
        progress_bar: bool = False,
    ) -> Path:
        """Write a film, GIF or MP4, of some episodes, with the interval of every action beside the picture.

        It acts as in an evaluation, by its best means, or as it explores with `deterministic=False`; with `steps` it
        first learns for so many more. The film's environment is made anew, or is `env`, made with
        `render_mode="rgb_array"`: watching changes no run. `seed` is of the episodes; `every` so many steps are shown,
        `fps` of them a second, and an episode is cut after `most_steps`.
        """
        refuse_diverged(self.diverged)
        showing = Showing(episodes, steps, deterministic, seed, fps, every, most_steps)
        return write_film(self, self._stage, path, env, showing, progress_bar)
