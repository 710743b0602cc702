"""What `ucls train` does: one run, in one of our environments (compiled) or any of Gymnasium's."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ucls import checkpoint
from ucls.algorithms import algorithm_module, name_of
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError
from ucls.runs import card, run_folder
from ucls.runs.any_run import AnyRun, in_chunks
from ucls.runs.diary import Last
from ucls.runs.helper import helped
from ucls.runs.history import NOTHING, History, join
from ucls.runs.loop import Run
from ucls.runs.open_run import open_run
from ucls.runs.plan import read_saved
from ucls.runs.progress import Progress
from ucls.runs.signals import Stop, stopping
from ucls.settings import divided, listed, word_of

CHUNK_SECONDS = 0.2
CHECKPOINT_MINUTES = 5.0


@dataclass(frozen=True)
class Order:
    """What to train, as it was asked for."""

    env: str
    agent: str
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
        """Whether the environment is one of ours."""
        return self.env in ENVIRONMENTS

    @property
    def env_settings(self) -> dict[str, Any]:
        """The keyword arguments of an environment that is not ours."""
        return {} if self.ours else divided(self.settings)[1]

    @property
    def named(self) -> dict[str, Any]:
        """What a checkpoint remembers of an environment that is not ours: words to compare, never to make it by."""
        return {} if self.ours else {"named": {"env": self.env, "settings": self.env_settings}}


def train(
    order: Order,
    out: Path | None = None,
    resume: Path | None = None,
    every: float = CHECKPOINT_MINUTES,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Carry out an order, keep it in `out` as it goes, every so many minutes, and return the summary.

    The summary of a resumed run covers all of it, as far as it is recorded. Ctrl-C and SIGTERM end the run after the
    step that it is at; then `stopped` is the number of the signal. `say` gets what a person should know meanwhile.
    """
    source = None if resume is None else run_folder.checkpoint_of(resume)
    if out is not None:
        run_folder.refuse_unusable(out, source)
    run, before = begin(order, source)
    if out is not None:
        run_folder.prepare(out)
    record = _Record(run, before, out, 60 * every, say, order.named)
    with stopping() as stop:
        done, speed = _advance(run, order.steps, record, stop)
        record.keep()
        optimum = None if stop.number or run.world is None else run.world.best().reward_rate
        now = {"new_steps": done, "steps_per_second": speed, "stopped": stop.number, "out": out and str(out)}
        result = {**_summary(order, run, record.history), "optimal_reward_rate": optimum, **now}
        if out is not None:
            run_folder.write_result(out, result)
    return result


def begin(order: Order, source: Path | None) -> tuple[AnyRun, History]:
    """The run that was asked for, new or from a checkpoint, and what happened in it before."""
    if source is None:
        names = ("seed", "settings", "features", "dtype", "discount", "low", "high")
        asked: dict[str, Any] = {name: getattr(order, name) for name in names}
        return open_run(order.env, order.agent, **asked), NOTHING
    about, arrays = _read_saved(source, order, order.env if order.ours else None)
    if order.ours:
        run = Run.revive(about, arrays, algorithm_module(order.agent), order.features)
        return run, run_folder.recorded(source, arrays, run.steps)
    from ucls.runs.agent import Agent
    from ucls.runs.naming import make_env

    env = make_env(order.env, order.env_settings)
    agent = Agent.revive(about, arrays, env, algorithm_module(order.agent), order.features)
    agent.recall(run_folder.recorded(source, arrays, agent.steps))
    return agent, agent.history


def _advance(run: AnyRun, steps: int, record: "_Record", stop: Stop) -> tuple[int, float]:
    """Take the steps in chunks short enough to show progress and to be interrupted; return how many, and the speed."""
    done, episodes, reward, timed, seconds = 0, 0, 0.0, 0, 0.0
    with helped(run.plan), Progress(steps) as bar:
        for chunk in in_chunks(run, steps, CHUNK_SECONDS, stop.is_set):
            part = chunk.part
            record.add(part)
            done, episodes = done + len(part.rewards), episodes + len(part.episode_steps)
            reward += float(part.rewards.sum())
            timed, seconds = timed + chunk.timed, seconds + chunk.seconds
            bar.update(done, episodes, reward)
            if not run.diverged:
                record.keep_in_time()
    return done, timed / seconds if seconds > 0 else 0.0


class _Record:
    """What happened in a run; it writes the two to their folder now and then: a kill costs what was done since."""

    def __init__(
        self,
        run: AnyRun,
        before: History,
        out: Path | None,
        every: float,
        say: Callable[[str], None],
        more: dict[str, Any],
    ) -> None:
        self._run, self._parts, self._out, self._every, self._say, self._more = run, [before], out, every, say, more
        self._last = time.monotonic()

    def add(self, part: History) -> None:
        """Note what happened next."""
        self._parts.append(part)

    @property
    def history(self) -> History:
        """What happened, as far as it is recorded."""
        self._parts = [join(self._parts)]
        return self._parts[0]

    def keep_in_time(self) -> None:
        """Keep the run if it is time; without room the run goes on, and says so."""
        if self._out is None or not self._every or time.monotonic() - self._last < self._every:
            return
        try:
            self.keep()
        except (OSError, UserError) as error:
            why = getattr(error, "strerror", None) or error
            self._say(f"no checkpoint this time: {why}; the run goes on")
        self._last = time.monotonic()

    def keep(self) -> None:
        """Write a checkpoint that carries what happened, unless the run diverged; and what happened by itself."""
        if self._out is None:
            return
        run, happened = self._run, self.history
        try:
            if not run.diverged:
                arrays, about = {**run.checkpoint(), **run_folder.as_arrays(happened)}, {**run.about(), **self._more}
                saved = checkpoint.save(self._out / run_folder.CHECKPOINT, about, arrays)
                card.write(saved, about, Last(happened.episode_returns[-100:], happened.episode_steps[-100:]))
        except UserError:  # of numbers that nobody would take back; what happened is known all the same
            run_folder.write_history(self._out, happened)
            raise
        run_folder.write_history(self._out, happened)


def _summary(order: Order, run: AnyRun, happened: History) -> dict[str, Any]:
    plan = run.plan
    lengths, returns = happened.episode_steps, happened.episode_returns
    return {
        "env": order.env,
        "agent": order.agent,
        "steps": len(happened.rewards),
        "seed": plan.seed,
        "episodes": len(lengths),
        "total_reward": float(happened.rewards.sum()),
        "last_fifth_reward": happened.last_fifth_reward,
        "last_episode_steps": float(lengths[-20:].mean()) if len(lengths) else None,
        "last_episode_return": float(returns[-20:].mean()) if len(returns) else None,
        "diverged": happened.diverged,
        "settings": dict(plan.settings),
        "features": {"name": plan.features, **plan.feature_settings},
        "dtype": plan.dtype,
    }


def _read_saved(source: Path, order: Order, env: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a checkpoint; refuse one of another agent, or of an environment of ours that is not `env`."""
    about, arrays = checkpoint.load(source)
    saved = read_saved(about)
    if saved.plan.agent not in (order.agent, name_of(algorithm_module(order.agent))):
        agent = saved.plan.agent
        raise UserError(f"{source} holds the agent {agent!r}, not {order.agent!r}: give --agent {agent}")
    settings = order.settings if order.ours else divided(order.settings)[0]
    if (
        settings
        or order.features not in (None, saved.plan.features)
        or order.low
        or order.high
        or order.discount is not None
    ):
        raise UserError("a resumed run keeps its settings: leave out --set, --features, --low, --high and --discount")
    if order.seed not in (0, saved.plan.seed) or order.dtype not in ("float64", saved.plan.dtype):
        raise UserError("a resumed run keeps its seed and its dtype: leave out --seed and --dtype")
    if env is not None and env != saved.env:
        raise UserError(f"{source} was learning in {saved.env or 'an environment of its own'}, not in {order.env}")
    _refuse_other_world(about.get("named"), order, source)
    return about, arrays


def _refuse_other_world(named: Any, order: Order, source: Path) -> None:
    """Refuse to go on in an environment of the same name that is made in another way."""
    before = named.get("settings") if isinstance(named, dict) and named.get("env") == order.env else None
    if isinstance(before, dict) and before != order.env_settings:
        words = listed({f"env.{name}": word_of(value) for name, value in before.items()}) or "no env.NAME"
        raise UserError(f"{source} was learning in {order.env} with {words[:200]}: give the same by --set")
