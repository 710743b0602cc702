"""The implementation of `ucls train`: one run in a built-in (compiled) or any Gymnasium environment."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ucls.agent import model_card
from ucls.agent.episode_log import Last
from ucls.algorithms import algorithm_of_saved
from ucls.core.advice import advise_on_radius
from ucls.core.config import read_saved
from ucls.core.progress import Progress
from ucls.core.protocol import AnyRun, content_of, in_chunks
from ucls.core.run import Run
from ucls.core.saving import checkpoint
from ucls.envs import ENVIRONMENTS
from ucls.errors import Terminated, UserError
from ucls.settings import divided
from ucls.train import run_folder
from ucls.train.open_run import open_run
from ucls.train.signals import Stop, stopping

CHUNK_SECONDS = 0.2
CHECKPOINT_SECONDS = 300.0


@dataclass(frozen=True)
class Order:
    """What to train, as requested."""

    env: str
    agent: str | None
    steps: int
    seed: int
    settings: dict[str, Any]
    features: str | None
    dtype: str
    discount: float | None
    low: list[float] | None = None
    high: list[float] | None = None

    @property
    def ours(self) -> bool:
        """Whether the environment is built in."""
        return self.env in ENVIRONMENTS

    @property
    def env_settings(self) -> dict[str, Any]:
        """The keyword arguments of a third-party environment."""
        return {} if self.ours else divided(self.settings)[1]

    def named(self, env: Any) -> dict[str, Any]:
        """The description of a third-party environment in a checkpoint: for comparison, never to create it."""
        if self.ours:
            return {}
        from ucls.train import same_env

        return {"named": same_env.named(self.env, self.env_settings, env)}


def train(
    order: Order,
    out: Path | None = None,
    resume: Path | None = None,
    checkpoint_interval: float = CHECKPOINT_SECONDS,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Train, save a checkpoint in `out` every `checkpoint_interval` seconds (0: only the final one), return a summary.

    The summary of a resumed run covers all recorded steps. Ctrl-C and SIGTERM stop the run after the current step;
    then `stopped` is the number of the signal. `say` receives messages for the user.
    """
    source = None if resume is None else run_folder.checkpoint_of(resume)
    with run_folder.lock_folder(out):
        if out is not None:
            run_folder.refuse_unusable(out, source)
        run = begin(order, source)
        run.learner.refuse_growth(run.steps + order.steps)
        files = _Checkpoints(run, out, checkpoint_interval, say, order.named(getattr(run, "env", None)))
        with stopping("the run" if out else "") as stop, files.telling_losses():
            done, speed = _advance(run, order.steps, files, stop)
            files.finish()
            advise_on_radius(run)
            now = {"new_steps": done, "steps_per_second": speed, "optimal_reward_rate": _optimum(run, stop)}
            where = {"stopped": stop.number, "out": out and str(out)}
            result = {**_summary(order, run), **now, **where}
            if out is not None:
                run_folder.write_result(out, result)
    return result


def begin(order: Order, source: Path | None) -> AnyRun:
    """Make the requested run, new or from a checkpoint."""
    if source is None:
        names = ("seed", "settings", "features", "dtype", "discount", "low", "high")
        asked: dict[str, Any] = {name: getattr(order, name) for name in names}
        return open_run(order.env, order.agent, **asked)
    about, arrays = _read_saved(source, order, order.env if order.ours else None)
    algorithm = algorithm_of_saved(read_saved(about).plan.agent, order.agent, source)
    if order.ours:
        return Run.revive(about, arrays, algorithm, order.features)
    from ucls.agent.agent import Agent
    from ucls.gym.registry import make_env
    from ucls.train import same_env

    env = make_env(order.env, order.env_settings)
    same_env.refuse_other(about, order.named(env)["named"], source)
    return Agent.revive(about, arrays, env, algorithm, order.features)


def _advance(run: AnyRun, steps: int, files: "_Checkpoints", stop: Stop) -> tuple[int, float]:
    """Take the steps in chunks, so that progress is shown and Ctrl-C works; return their number and the speed."""
    done, episodes, reward, timed, seconds = 0, 0, 0.0, 0, 0.0
    chunks = in_chunks(run, steps, CHUNK_SECONDS, stop.is_set)
    with Progress(steps) as bar:
        with stop.at_once():  # while the first step compiles
            first = list(islice(chunks, 1))
        for chunk in chain(first, chunks):
            part = chunk.part
            done, episodes = done + len(part.rewards), episodes + len(part.episode_steps)
            reward += float(part.rewards.sum())
            timed, seconds = timed + chunk.timed, seconds + chunk.seconds
            bar.update(done, episodes, reward)
            if not run.diverged:
                files.keep_in_time()
    return done, timed / seconds if seconds > 0 else 0.0


def _optimum(run: AnyRun, stop: Stop) -> float | None:
    """The optimal reward per step in a built-in environment; None if the run was stopped, as planning takes time."""
    if stop.number or run.world is None:
        return None
    with suppress(KeyboardInterrupt, Terminated), stop.at_once():
        return run.world.best().reward_rate
    return None


class _Checkpoints:
    """The checkpoints of a run in its folder."""

    def __init__(
        self, run: AnyRun, out: Path | None, every: float, say: Callable[[str], None], more: dict[str, Any]
    ) -> None:
        self._run, self._out, self._every, self._say, self._more = run, out, every, say, more
        self._last = self._previous = time.monotonic()
        self._saved = run.steps if out is not None and (out / run_folder.CHECKPOINT).exists() else None

    def keep_in_time(self) -> None:
        """Save the run if it is time, or would be before the next call, which is expected to take as long again.

        If it cannot be saved, the run continues, and says so.
        """
        now = time.monotonic()
        ahead, self._previous = now - self._previous, now
        if self._out is None or not self._every or now - self._last + ahead < self._every:
            return
        try:
            self.save(self._out)
        except (OSError, UserError) as error:
            self._say(f"checkpoint failed: {_why(error)}; the run continues")
        self._last = self._previous = time.monotonic()

    def finish(self) -> None:
        """Save the run when it ends. If the disk is full, save it elsewhere."""
        if self._out is None:
            return
        try:
            self.save(self._out)
        except OSError as error:
            if self._is_saved:  # all but the files that repeat it
                raise
            raise OSError(f"{_why(error)}; {self._rescue(self._out)}") from None

    @contextmanager
    def telling_losses(self) -> Iterator[None]:
        """Report which steps are lost if saving fails or the user does not wait for it."""
        try:
            yield
        except OSError as error:
            if not self._is_saved or self._out is None:
                raise
            raise OSError(
                f"{_why(error)}; nothing else is lost: {self._out / run_folder.CHECKPOINT} is complete"
            ) from None
        except (KeyboardInterrupt, Terminated):
            if self._out is not None and not self._is_saved and self._run.steps:
                self._say(f"quit without saving: {self._loss(self._out)}")
            raise

    def save(self, folder: Path) -> None:
        """Write a checkpoint, which includes the history, unless the run diverged; and the history on its own."""
        run, happened = self._run, self._run.history
        try:
            if not run.diverged:
                about, arrays = content_of(run)
                saved = checkpoint.save(folder / run_folder.CHECKPOINT, about := {**about, **self._more}, arrays)
                self._saved = run.steps
                model_card.write(saved, about, Last(happened.episode_returns[-100:], happened.episode_steps[-100:]))
        except UserError:  # the learner cannot be saved; its history can
            run_folder.write_history(folder, happened)
            raise
        run_folder.write_history(folder, happened)

    @property
    def _is_saved(self) -> bool:
        return self._saved == self._run.steps and not self._run.diverged

    def _rescue(self, out: Path) -> str:
        """Save the run in another folder; return where it is, or what is lost."""
        lost = self._loss(out)
        for place in ("~", tempfile.gettempdir()):
            with suppress(OSError, RuntimeError):
                folder = Path(tempfile.mkdtemp(prefix="ucls-run-", dir=Path(place).expanduser()))
                try:
                    self.save(folder)
                except OSError:
                    shutil.rmtree(folder, ignore_errors=True)
                    continue
                resume = "" if self._run.diverged else f"; to resume, free some space and use --resume {folder}"
                return f"the run is saved in {folder} instead{resume}"
        return lost

    def _loss(self, out: Path) -> str:
        """Describe what is lost if the run is not saved now."""
        if self._saved is None:
            return f"all {self._run.steps:,} steps are lost"
        return f"the steps after {self._saved:,} are lost; the checkpoint of that step is still in {out}"


def _why(error: Exception) -> str:
    """The message of an error, with its file."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename} cannot be written: {error.strerror}"
    return str(error)


def _summary(order: Order, run: AnyRun) -> dict[str, Any]:
    plan, happened = run.plan, run.history
    lengths, returns = happened.episode_steps, happened.episode_returns
    return {
        "env": order.env,
        "agent": plan.agent if order.agent is None else order.agent,
        "steps": len(happened.rewards),
        "seed": plan.seed,
        "episodes": len(lengths),
        "total_reward": float(happened.rewards.sum()),
        "final_reward_per_step": happened.final_reward_per_step,
        "final_episode_length": float(lengths[-20:].mean()) if len(lengths) else None,
        "final_return": float(returns[-20:].mean()) if len(returns) else None,
        "diverged": happened.diverged,
        "settings": dict(plan.settings),
        "features": {"name": plan.features, **plan.feature_settings},
        "dtype": plan.dtype,
    }


def _read_saved(source: Path, order: Order, env: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a checkpoint; refuse other settings, or another built-in environment than `env`."""
    about, arrays = checkpoint.load(source)
    saved = read_saved(about)
    settings = order.settings if order.ours else divided(order.settings)[0]
    if (
        settings
        or order.features not in (None, saved.plan.features)
        or order.low
        or order.high
        or order.discount is not None
    ):
        raise UserError("a resumed run keeps its settings: remove --set, --features, --low, --high and --discount")
    if order.seed not in (0, saved.plan.seed) or order.dtype not in ("float64", saved.plan.dtype):
        raise UserError("a resumed run keeps its seed and dtype: remove --seed and --dtype")
    if env is not None and env != saved.env:
        from ucls.train.same_env import where_saved

        raise UserError(f"{source} was trained in {where_saved(about)}, not in {order.env}")
    return about, arrays
