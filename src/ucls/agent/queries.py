"""Queries of an agent: predictions, intervals, maps and videos. They do not change its run, unless `steps` are given,
for which it learns first."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ucls._util.notebook import Page
from ucls.agent import inference
from ucls.agent.maps import maps_of
from ucls.agent.sharing import export
from ucls.agent.video import Showing, write_film
from ucls.core.config import whole
from ucls.core.learner import Learner, refuse_diverged
from ucls.core.queries import Uncertainty
from ucls.gym.adapter import EnvAdapter


class AgentQueries:
    """The queries of an agent; refused once its values have diverged."""

    learner: Learner
    _stage: EnvAdapter
    diverged: bool

    def predict(self, observation: Any, deterministic: bool = False, action_masks: Any = None) -> tuple[Any, None]:
        """The action to take, and None in place of a recurrent state, as in Stable-Baselines3; the run does not change.

        By default the agent explores as in training (by its upper bound, epsilon or a sample), with ties broken at
        random. `deterministic=True`, for evaluation, takes the action with the highest mean, the first one if there are
        several. For a batch of observations, an array of actions. `action_masks` says which actions are valid, with one
        row per observation of a batch; by default it is that of a Dict observation, or what the agent met in training.
        """
        refuse_diverged(self.diverged)
        best = inference.predict(self.learner, self._stage.observed, observation, deterministic, action_masks)
        return best + self._stage.first_action, None

    def value_estimates(self, observation: Any, *, action_masks: Any = None) -> inference.Estimates:
        """The mean and the radius of every action's value, without changing the run; NaN for invalid actions.

        For a batch of observations, arrays with one row per observation. `action_masks` is as in `predict`.
        """
        refuse_diverged(self.diverged)
        return inference.value_estimates(self.learner, self._stage.observed, observation, action_masks)

    def uncertainty(self, observation: Any, *, action_masks: Any = None) -> Uncertainty:
        """The two terms of the radius of every action: `prior`, which data replace, and `noise`; NaN if invalid.

        Only some algorithms separate them, such as `ucls-plan`. For a batch, arrays with a row per observation.
        `action_masks` is as in `predict`.
        """
        refuse_diverged(self.diverged)
        return inference.uncertainty(self.learner, self._stage.observed, observation, action_masks)

    def export(self, path: str | Path = "policy.npz", intervals: bool = True, runtime: bool = False) -> Path:
        """Write the policy to a file that `ucls.policy.Policy` reads with NumPy alone, and return its path.

        It gives the same actions, means and radii, but cannot learn. `intervals=False` leaves out the radii, for a file
        of a few kilobytes that supports only `deterministic=True`. `runtime=True` writes a copy of `ucls/policy.py`
        beside it, for machines without ucls.
        """
        refuse_diverged(self.diverged)
        return export.write(path, self.learner, self._stage, intervals, runtime)

    def show_maps(self, slice_at: Sequence[float] | None = None) -> Page:
        """The maps of `explain`, for a notebook to show inline."""
        with tempfile.TemporaryDirectory() as folder:
            return Page(self.explain(Path(folder) / "maps.html", slice_at=slice_at).read_text(encoding="utf-8"))

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
