"""What `ucls train` does: one run, in one of our environments (compiled) or any of Gymnasium's."""

import shlex
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ucls import checkpoint
from ucls.algorithms import DEFAULT, algorithm_module, name_of
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError
from ucls.runs import run_folder
from ucls.runs.history import NOTHING, History, join
from ucls.runs.loop import Run, make_run
from ucls.runs.plan import read_saved
from ucls.runs.progress import Progress
from ucls.settings import parse

CHUNK_SECONDS = 0.2
CHECKPOINT_MINUTES = 5.0


@dataclass(frozen=True)
class Order:
    """What to train, as it was asked for."""

    env: str
    agent: str
    steps: int
    seed: int
    settings: dict[str, str]
    features: str | None
    dtype: str
    discount: float | None
    low: list[float] | None = None
    high: list[float] | None = None

    def with_bounds(self, low: str | None, high: str | None) -> "Order":
        """Add the bounds of the observation, written with commas."""
        return replace(self, low=_numbers("--low", low), high=_numbers("--high", high))


def read_settings(pairs: Iterable[str] | None) -> dict[str, str]:
    """Read the words after --set."""
    return parse(pairs or [])


def train(
    order: Order, out: Path | None = None, resume: Path | None = None, every: float = CHECKPOINT_MINUTES
) -> dict[str, Any]:
    """Carry out an order, keep it in `out` as it goes, every so many minutes, and return the summary.

    The summary of a resumed run covers all of it, as far as it is recorded. Ctrl-C and SIGTERM end the run after the
    step that it is at; then `stopped` is the number of the signal.
    """
    source = None if resume is None else run_folder.checkpoint_of(resume)
    if out is not None:
        run_folder.refuse_unusable(out, source)
    learner = _Ours(order, source) if order.env in ENVIRONMENTS else _Foreign(order, source)
    if out is not None:
        run_folder.prepare(out)
    keeper = _Keeper(out, learner, 60 * every)
    with _stopping() as stop:
        done, speed = _in_chunks(learner, order.steps, keeper, stop)
        keeper.keep()
        optimum = None if stop.number else learner.optimum()
        now = {"new_steps": done, "steps_per_second": speed, "stopped": stop.number, "out": out and str(out)}
        result = {**_summary(order, learner), "optimal_reward_rate": optimum, **now}
        if out is not None:
            run_folder.write_result(out, result)
    return result


def _in_chunks(learner: "_Ours | _Foreign", steps: int, keeper: "_Keeper", stop: "_Stop") -> tuple[int, float]:
    """Take the steps in chunks short enough to show progress and to be interrupted; return how many, and the speed.

    The first step compiles: it counts as a step, but not for the speed.
    """
    done, episodes, reward, seconds, chunk = 0, 0, 0.0, 0.0, 1
    with Progress(steps) as bar:
        while done < steps and not stop.number:
            began = time.perf_counter()
            part = learner.advance(min(chunk, steps - done))
            took = time.perf_counter() - began
            seconds += took if done else 0.0
            done, episodes = done + len(part.rewards), episodes + len(part.episode_steps)
            reward += float(part.rewards.sum())
            bar.update(done, episodes, reward)
            if part.diverged:
                break
            keeper.keep_in_time()
            chunk = 50 if chunk == 1 else max(50, int(chunk * min(4.0, CHUNK_SECONDS / max(took, 1e-6))))
    return done, (done - 1) / seconds if seconds > 0 else 0.0


class _Keeper:
    """Writes a run to its folder, now and then: what a kill costs is what was done since."""

    def __init__(self, out: Path | None, learner: "_Ours | _Foreign", every: float) -> None:
        self._out, self._learner, self._every = out, learner, every
        self._last = time.monotonic()

    def keep_in_time(self) -> None:
        """Keep the run if it is time; without room the run goes on, and says so."""
        if self._out is None or not self._every or time.monotonic() - self._last < self._every:
            return
        try:
            self.keep()
        except (OSError, UserError) as error:
            why = getattr(error, "strerror", None) or error
            print(f"ucls: no checkpoint this time: {why}; the run goes on", file=sys.stderr)
        self._last = time.monotonic()

    def keep(self) -> None:
        """Write the agent, unless it diverged, and what happened."""
        if self._out is not None:
            happened = self._learner.history
            try:
                if not happened.diverged:
                    self._learner.save(self._out / run_folder.CHECKPOINT)
            except UserError:  # of numbers that nobody would take back; what happened is known all the same
                run_folder.write_history(self._out, happened)
                raise
            run_folder.write_history(self._out, happened)


@dataclass
class _Stop:
    """The signal that asked a run to end, or 0."""

    number: int = 0


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """Let Ctrl-C and SIGTERM ask for an end; the second time they do what they always do."""
    stop = _Stop()

    def on_signal(number: int, _: Any) -> None:
        if stop.number:
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)
        stop.number = number

    mine = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM) if mine}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Ours:
    """A compiled run in one of our environments."""

    def __init__(self, order: Order, source: Path | None) -> None:
        if order.low or order.high or order.discount is not None:
            raise UserError("--low, --high and --discount are for other environments; ours have their own, see --set")
        if source is None:
            names = ("seed", "settings", "features", "dtype")
            asked: dict[str, Any] = {name: getattr(order, name) for name in names}
            self.run = make_run(order.env, order.agent, **asked)
            self._parts = [NOTHING]
        else:
            about, arrays = _read_saved(source, order, order.env)
            self.run = Run.revive(about, arrays, algorithm_module(order.agent))
            self._parts = [run_folder.recorded(source, arrays, self.run.steps)]
        self.plan = self.run.learner.plan

    @property
    def history(self) -> History:
        """What happened, as far as it is recorded."""
        self._parts = [join(self._parts)]
        return self._parts[0]

    def advance(self, steps: int) -> History:
        self._parts.append(self.run.advance(steps))
        return self._parts[-1]

    def save(self, path: Path) -> None:
        """Write a checkpoint that carries what happened."""
        arrays = {**self.run.checkpoint(), **run_folder.as_arrays(self.history)}
        checkpoint.save(path, self.run.about(), arrays)

    def optimum(self) -> float:
        """What an optimal policy earns a step; asked for after the run, because it may have to be planned first."""
        return self.run.world.optimal().reward_rate


class _Foreign:
    """An agent in an environment of Gymnasium's."""

    def __init__(self, order: Order, source: Path | None) -> None:
        from ucls.runs.agent import Agent
        from ucls.runs.spaces import make_env

        env = make_env(order.env)
        if source is None:
            names = ("seed", "discount", "features", "low", "high", "dtype", "settings")
            asked: dict[str, Any] = {name: getattr(order, name) for name in names}
            self.agent = Agent(env, order.agent, **asked)
        else:
            about, arrays = _read_saved(source, order, None)
            self.agent = Agent.load(source, env, algorithm_module(order.agent))
            self.agent.recall(run_folder.recorded(source, arrays, about["steps"]))
        self.plan = self.agent.learner.plan
        self.save = self.agent.save

    @property
    def history(self) -> History:
        """What happened, as far as it is recorded."""
        return self.agent.history

    def optimum(self) -> None:
        """Nobody knows."""

    def advance(self, steps: int) -> History:
        before = len(self.agent.history.rewards)
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # the summary says it
            after = self.agent.learn(steps).history
        return History(after.rewards[before:], after.ends[before:], after.diverged)


def print_summary(result: dict[str, Any]) -> None:
    """Print what a person wants to know of a run."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"[bold]{result['agent']}[/] on [bold]{result['env']}[/], seed {result['seed']}")
    more = f", {result['new_steps']:,} of them now," if result["new_steps"] < result["steps"] else ""
    rows = [("steps", f"{result['steps']:,}{more} at {result['steps_per_second']:,.0f} a second")]
    if result["episodes"]:
        rows.append(("episodes", f"{result['episodes']:,}, the last 20 of {result['last_episode_steps']:.1f} steps"))
        rows.append(("return", f"{result['last_episode_return']:.6g} in the last 20 episodes"))
    rows.append(("reward", f"{result['total_reward']:,.6g} in all"))
    rows.append(("", f"{result['last_fifth_reward']:.4g} a step in the last fifth"))
    if result["optimal_reward_rate"] is not None:
        rows.append(("", f"{result['optimal_reward_rate']:.4g} a step is optimal"))
    rows.append(("saved", result["out"] or "nothing; --out DIR keeps the agent and the rewards"))
    for name, text in rows:
        console.print(f"  {name:9} {text}", markup=False)
    if result["diverged"]:
        console.print(
            f"[bold red]diverged[/] after {result['steps']:,} steps: its values mean nothing and are not saved"
        )


def how_to_go_on(order: Order, result: dict[str, Any]) -> str:
    """Say, in one line, where a run that was stopped is kept and which command goes on with it."""
    left = order.steps - result["new_steps"]
    told = f"stopped after {result['new_steps']:,} of {order.steps:,} steps"
    if result["out"] is None:
        return f"{told}; nothing was kept: give --out DIR to keep a run that is stopped"
    if result["diverged"] or not left:
        return f"{told}; kept in {result['out']}"
    words = ["ucls", "train", order.env, *(["--agent", order.agent] if order.agent != DEFAULT else [])]
    words += ["--steps", str(left), "--resume", result["out"], "--out", result["out"]]
    return f"{told}; kept in {result['out']}, go on with: {shlex.join(words)}"


def _summary(order: Order, learner: "_Ours | _Foreign") -> dict[str, Any]:
    happened, plan = learner.history, learner.plan
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


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"{option} cannot be {text!r}: give numbers with commas between them") from None


def _read_saved(source: Path, order: Order, env: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a checkpoint; refuse one of another agent, or of an environment of ours that is not `env`."""
    about, arrays = checkpoint.load(source)
    saved = read_saved(about)
    if saved.plan.agent not in (order.agent, name_of(algorithm_module(order.agent))):
        agent = saved.plan.agent
        raise UserError(f"{source} holds the agent {agent!r}, not {order.agent!r}: give --agent {agent}")
    if order.settings or order.features or order.low or order.high or order.discount is not None:
        raise UserError("a resumed run keeps its settings: leave out --set, --features, --low, --high and --discount")
    if order.seed not in (0, saved.plan.seed) or order.dtype not in ("float64", saved.plan.dtype):
        raise UserError("a resumed run keeps its seed and its dtype: leave out --seed and --dtype")
    if env is not None and env != saved.env:
        raise UserError(f"{source} was learning in {saved.env or 'an environment of its own'}, not in {order.env}")
    return about, arrays
