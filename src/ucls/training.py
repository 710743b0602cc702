"""What `ucls train` does: one run, in one of our environments (compiled) or any of Gymnasium's."""

import json
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ucls import checkpoint
from ucls._files import write_atomic
from ucls.algorithms import algorithm_module
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError
from ucls.history import History, join
from ucls.loop import Run, make_run
from ucls.progress import Progress
from ucls.settings import parse

CHECKPOINT = "agent.safetensors"
CHUNK_SECONDS = 0.2


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


def train(order: Order, out: Path | None = None, resume: Path | None = None) -> dict[str, Any]:
    """Carry out an order, write what it made to `out`, and return the summary."""
    source = None if resume is None else (resume / CHECKPOINT if resume.is_dir() else resume)
    if out is not None and (out / CHECKPOINT).exists() and source != out / CHECKPOINT:
        raise UserError(f"{out} already holds a run: give another --out, or go on from it with --resume {out}")
    if out is not None and out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file: give a folder as --out")
    learner = _Ours(order, source) if order.env in ENVIRONMENTS else _Foreign(order, source)
    happened, speed = _in_chunks(learner, order.steps)
    result = _summary(order, happened, speed, learner)
    if out is not None:
        _write(out, result, happened, learner)
    return result


def _in_chunks(learner: "_Ours | _Foreign", steps: int) -> tuple[History, float]:
    """Take the steps in chunks short enough to show progress and to be interrupted; return the speed too.

    The first step compiles: it counts as a step, but not for the speed.
    """
    parts: list[History] = []
    done, episodes, reward, seconds, chunk = 0, 0, 0.0, 0.0, 1
    with Progress(steps) as bar:
        while done < steps:
            began = time.perf_counter()
            part = learner.advance(min(chunk, steps - done))
            took = time.perf_counter() - began
            seconds += took if done else 0.0
            parts.append(part)
            done, episodes = done + len(part.rewards), episodes + len(part.episode_steps)
            reward += float(part.rewards.sum())
            bar.update(done, episodes, reward)
            if part.diverged:
                break
            chunk = 50 if chunk == 1 else max(50, int(chunk * min(4.0, CHUNK_SECONDS / max(took, 1e-6))))
    return join(parts), (done - 1) / seconds if seconds > 0 else 0.0


class _Ours:
    """A compiled run in one of our environments."""

    def __init__(self, order: Order, source: Path | None) -> None:
        if order.low or order.high or order.discount is not None:
            raise UserError("--low, --high and --discount are for other environments; ours have their own, see --set")
        if source is None:
            names = ("seed", "settings", "features", "dtype")
            asked: dict[str, Any] = {name: getattr(order, name) for name in names}
            self.run = make_run(order.env, order.agent, **asked)
        else:
            _check_saved(source, order, order.env)
            self.run = Run.load(source, algorithm_module(order.agent))
        self.plan = self.run.learner.plan
        self.advance, self.save = self.run.advance, self.run.save

    def optimum(self) -> float:
        """What an optimal policy earns a step; asked for after the run, because it may have to be planned first."""
        return self.run.world.module.optimal(self.run.world.env).reward_rate


class _Foreign:
    """An agent in an environment of Gymnasium's."""

    def __init__(self, order: Order, source: Path | None) -> None:
        from ucls.agent import Agent, make_env

        env = make_env(order.env)
        if source is None:
            names = ("seed", "discount", "features", "low", "high", "dtype", "settings")
            asked: dict[str, Any] = {name: getattr(order, name) for name in names}
            self.agent = Agent(env, order.agent, **asked)
        else:
            _check_saved(source, order, None)
            self.agent = Agent.load(source, env, algorithm_module(order.agent))
        self.plan = self.agent.learner.plan
        self.save = self.agent.save

    def optimum(self) -> None:
        """Nobody knows."""

    def advance(self, steps: int) -> History:
        before = self.agent.history
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # the summary says it
            after = self.agent.learn(steps).history
        return History(after.rewards[len(before.rewards) :], after.ends[len(before.ends) :], after.diverged)


def print_summary(result: dict[str, Any]) -> None:
    """Print what a person wants to know of a run."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(f"[bold]{result['agent']}[/] on [bold]{result['env']}[/], seed {result['seed']}")
    rows = [("steps", f"{result['steps']:,} at {result['steps_per_second']:,.0f} a second")]
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


def _summary(order: Order, happened: History, speed: float, learner: "_Ours | _Foreign") -> dict[str, Any]:
    lengths, returns, plan = happened.episode_steps, happened.episode_returns, learner.plan
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
        "optimal_reward_rate": learner.optimum(),
        "steps_per_second": speed,
        "diverged": happened.diverged,
        "settings": dict(plan.settings),
        "features": {"name": plan.features, **plan.feature_settings},
        "dtype": plan.dtype,
        "out": None,
    }


def _write(out: Path, result: dict[str, Any], happened: History, learner: Any) -> None:
    """Write the rewards and the summary, and the agent unless it diverged."""
    result["out"] = str(out)
    if not happened.diverged:
        learner.save(out / CHECKPOINT)

    def save_history(path: Path) -> None:
        with path.open("wb") as file:
            np.savez_compressed(file, rewards=happened.rewards, ends=happened.ends)

    write_atomic(out / "history.npz", save_history)
    write_atomic(out / "result.json", lambda path: path.write_text(json.dumps(result, indent=2) + "\n"))


def _numbers(option: str, text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"{option} cannot be {text!r}: give numbers with commas between them") from None


def _check_saved(source: Path, order: Order, env: str | None) -> None:
    """Refuse a checkpoint of another agent, or of an environment of ours that is not `env`."""
    about, _ = checkpoint.load(source)
    agent, saved = about["plan"]["agent"], about["env"]
    if agent != order.agent:
        raise UserError(f"{source} holds the agent {agent!r}, not {order.agent!r}: give --agent {agent}")
    if order.settings or order.features:
        raise UserError("a resumed run keeps its settings: leave out --set and --features")
    if None not in (env, saved) and env != saved:
        raise UserError(f"{source} was learning in {saved}, not in {order.env}")
