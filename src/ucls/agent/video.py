"""A video of an agent's episodes, recorded in a separate environment so that the agent's run does not change."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls.agent.explain.clip import FASTEST, palette_of, refuse_clip, write_clip
from ucls.agent.explain.panel import COLORS, SMOOTH, film_of, frame_of, picture_of
from ucls.agent.explain.scenes import Picture, Scene
from ucls.agent.maps import action_names
from ucls.core.config import brief, whole
from ucls.core.learner import Learner, refuse_diverged
from ucls.core.progress import Progress
from ucls.errors import UserError
from ucls.gym import spaces
from ucls.gym.adapter import EnvAdapter
from ucls.gym.copies import copy_of, shares
from ucls.gym.registry import made_as, make_env
from ucls.gym.wrapping import freeze_normalizers

PICTURES = "rgb_array"
FRAMES = 5000  # maximum of a video
SAMPLES = 12  # pictures that the colors of a GIF are taken from


class Showing(NamedTuple):
    """The options of a video: what it shows, and how fast."""

    episodes: int
    steps: int  # to learn first
    deterministic: bool
    seed: int
    fps: int
    every: int
    max_steps: int

    def checked(self) -> "Showing":
        """Return the options with integers; refuse those that cannot be recorded."""
        counts = {name: whole(name, getattr(self, name), 1) for name in ("episodes", "every", "max_steps")}
        others = {"fps": whole("fps", self.fps, 1, FASTEST)}
        others |= {name: whole(name, getattr(self, name)) for name in ("steps", "seed")}
        if counts["episodes"] * (counts["max_steps"] // counts["every"] + 2) > FRAMES:
            raise UserError(f"a video has at most {FRAMES:,} frames: lower episodes or max_steps, or raise every")
        return self._replace(**counts, **others)


def write_film(agent: Any, own: EnvAdapter, path: str | Path, env: Any, showing: Showing, progress_bar: bool) -> Path:
    """Record a video without using the agent's own environment; refuse bad arguments before the first step."""
    path, showing = Path(path), showing.checked()
    refuse_clip(path)
    made = environment_to_film(agent, env)
    try:
        stage = own.on(made, replace(agent.plan, seed=showing.seed))
        _refuse_undrawn(made)
        if showing.steps:
            agent.learn(showing.steps, progress_bar=progress_bar)
            refuse_diverged(agent.diverged)
        scenes = []
        with Progress(showing.episodes * showing.max_steps, wanted=progress_bar) as bar:
            for episode in range(1, showing.episodes + 1):
                scenes += _play(agent.learner, stage, episode, showing, bar)
        names = action_names(agent, stage)
    finally:
        if made is not env:
            made.close()
    film = film_of(f"{agent.plan.agent} in {_called(made)}", scenes, names)
    chosen = np.unique(np.linspace(0, len(scenes) - 1, SAMPLES).astype(int))
    palette = palette_of([picture_of(film, scenes[i]) for i in chosen], COLORS, SMOOTH)
    frames = ((frame_of(film, scene), bool(scene.ending)) for scene in scenes)
    return write_clip(path, frames, palette, showing.fps)


def environment_to_film(agent: Any, env: Any) -> Any:
    """The given environment, or a new one like the agent's own, that renders images."""
    own = agent.env
    if env is None and own is None:
        raise UserError("the agent has no environment: give the one in which it was trained, with env=... or --env ...")
    if shares(env, own):
        raise UserError("the agent is training in this environment: give a copy of it, or none")
    if isinstance(env, str):
        env = with_pictures(env)
    elif env is None or getattr(env, "render_mode", None) != PICTURES:
        env = _copy_with_pictures(own if env is None else env)
    if getattr(env, "render_mode", None) != PICTURES:
        raise UserError(f"{_called(env)} does not render images: make it with render_mode='{PICTURES}'")
    env = spaces.with_discrete_actions(env)
    agent.check_fit(env.action_space, env.observation_space)
    return env


def _copy_with_pictures(env: Any) -> Any:
    """A copy of an environment that renders images, if it can."""
    spaces.refuse_none(env)
    made = made_as(env)
    if made is None:
        return copy_of(env, PICTURES)
    again = with_pictures(*made)
    freeze_normalizers(again, env)
    return again


def with_pictures(name: str, settings: Mapping[str, Any] = {}) -> Any:
    """Create the named environment so that it renders images: with `render_mode`, or by default."""
    try:
        return make_env(name, {**settings, "render_mode": PICTURES})
    except UserError as error:
        env = make_env(name, settings)
        if getattr(env, "render_mode", None) != PICTURES:
            raise UserError(f"{name} renders no images: {error}") from None
        return env


def _refuse_undrawn(env: Any) -> None:
    """Refuse an environment that cannot be rendered, before the agent learns."""
    env.reset()
    _pixels(env)


def _play(learner: Learner, stage: EnvAdapter, episode: int, showing: Showing, bar: Progress) -> list[Scene]:
    """The scenes of an episode: every `every`-th step, and its end."""
    scenes, reward, step = [], 0.0, 0
    s, ending = stage.reset(0), ""
    while True:
        mean, radius = learner.interval(s)
        if not ending and step == showing.max_steps:
            ending = f"truncated after {_steps(step)}"
        mean = mean if ending or stage.mask is None else np.where(stage.mask, mean, np.nan)
        best = int(np.nanargmax(mean)) if showing.deterministic else None
        action = None if ending else learner.choose(s, stage.mask) if best is None else best
        if ending or step % showing.every == 0:
            unknown, noisy = learner.uncertainty(s) if hasattr(learner.algorithm, "radius_terms") else (None, radius)
            picture = Picture.of(_pixels(stage.env))
            scenes.append(Scene(picture, episode, step, reward, mean, unknown, noisy, action, ending))
        if action is None:
            return scenes
        taken = stage.step(action, step + 1)
        s, reward, step = taken.s, reward + taken.reward, step + 1
        bar.update((episode - 1) * showing.max_steps + step, episode - 1, reward)
        if stage.between_episodes:
            ending = f"{'ended' if taken.terminated else 'time is up'} after {_steps(step)}"


def _steps(count: int) -> str:
    return f"{count:,} step{'' if count == 1 else 's'}"


def _pixels(env: Any) -> np.ndarray:
    """The rendered image of the environment."""
    try:
        given = env.render()
    except Exception as error:  # third-party code may raise anything, for example without pygame
        raise UserError(f"{_called(env)} cannot be rendered: {_line(error)}") from None
    shape = given.shape if isinstance(given, np.ndarray) and given.dtype == np.uint8 else ()
    if len(shape) != 3 or shape[-1] not in (3, 4) or 0 in shape:
        raise UserError(f"{_called(env)} cannot be rendered: render() gave {brief(given)}, not an RGB image")
    return given[..., :3]


def _called(env: Any) -> str:
    return spaces.id_of(env) or "the environment"


def _line(error: Exception) -> str:
    return " ".join(f"{error}".split()) or type(error).__name__
