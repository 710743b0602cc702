"""Compile kernels before a run needs them, for container images and clusters.

A task is one learner in one environment. Nothing is run: kernels are compiled for the types that a run would have, in
several processes that share the cache.
"""

import multiprocessing
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np

from ucls._util import compiling as _compiling
from ucls.agent.agent import Agent
from ucls.algorithms import ALGORITHMS
from ucls.core.calls.binding import entry
from ucls.core.learner import Learner
from ucls.core.run import Run, make_run, suits_env
from ucls.envs import ENVIRONMENTS
from ucls.errors import UserError
from ucls.kernels.compilation.jit import kernel_cache


class Task(NamedTuple):
    """A learner in an environment."""

    env: str
    agent: str
    settings: dict[str, str]
    features: str | None = None
    dtype: str = "float64"


class Done(NamedTuple):
    """The outcome of a task: how many kernels were compiled, in how many seconds, or the error."""

    env: str
    agent: str
    kernels: int
    seconds: float
    error: str | None


class Size(NamedTuple):
    """The size and location of the kernel cache."""

    folder: str
    kernels: int
    bytes: int


def tasks(
    env: str | None = None,
    agents: Sequence[str] = (),
    settings: dict[str, str] = {},
    features: str | None = None,
    dtype: str = "float64",
) -> list[Task]:
    """The tasks for an environment and some algorithms; by default, for all built-in ones.

    Neighboring tasks are of different algorithms, which share the fewest kernels and rarely wait for each other.
    """
    pairs = [(name, agent) for name in ([env] if env else ENVIRONMENTS) for agent in agents or ALGORITHMS]
    if not agents and not features:
        pairs = [(name, agent) for name, agent in pairs if name not in ENVIRONMENTS or suits_env(agent, name)]
    return [Task(name, agent, settings, features, dtype) for name, agent in pairs]


def compile_all(wanted: Sequence[Task], jobs: int) -> Iterator[Done]:
    """Run tasks in several processes and yield each outcome, failures included."""
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        raise UserError("NUMBA_DISABLE_JIT is set, so nothing can be compiled: unset it")
    if jobs == 1 or len(wanted) == 1:
        yield from map(carry_out, wanted)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(wanted)), context) as pool:
        for future in as_completed([pool.submit(carry_out, task) for task in wanted]):
            yield future.result()


def carry_out(task: Task) -> Done:
    """Compile what a task needs, in this process."""
    began, before, error = time.monotonic(), _compiling.clock.kernels, None
    with _compiling.silence():
        try:
            _compile(task)
        except UserError as fault:
            error = str(fault)
    return Done(task.env, task.agent, _compiling.clock.kernels - before, time.monotonic() - began, error)


def size() -> Size:
    """Measure the kernel cache."""
    folder = kernel_cache()
    files = [] if folder is None else [file for file in folder.glob("*/*.kernel") if file.is_file()]
    return Size(str(folder or ""), len(files), sum(file.stat().st_size for file in files))


def _compile(task: Task) -> None:
    asked: dict[str, Any] = {"settings": task.settings, "features": task.features, "dtype": task.dtype}
    if task.env not in ENVIRONMENTS:
        compile_shell(Agent(task.env, task.agent, **asked).learner)
        return
    run = make_run(task.env, task.agent, **asked)
    compile_loop(run)
    compile_shell(run.learner)
    world = run.world.env, run.s
    entry(run.world.module.reset, (*world, run.world_rng))
    entry(run.world.module.step, (*world, 0, run.world_rng))
    run.world.best()  # which `ucls train` prints, and which takes planning unless it is cached


def compile_loop(run: Run) -> None:
    """Compile the loop of a run."""
    me, world = run.learner, (run.world.env, run.s, run.clock, run.world_rng)
    entry(run.loop, (*world, me.hyper, me.coder, me.state, me.pending, me.rng, np.zeros(1), np.zeros(1, np.uint8)))


def compile_shell(learner: Learner) -> None:
    """Compile the steps of a learner, and its queries."""
    me, kernels = learner, learner.kernels
    steps, looks = (me.hyper, me.coder, me.state, me.pending, me.rng), (me.hyper, me.coder, me.state)
    s, xs, rng = np.zeros(len(me.plan.low)), me.pending.xs, me.rng
    of_all = np.zeros((1, me.plan.n_actions))
    entry(kernels.begin, (*steps, s))
    entry(kernels.advance, (*steps, 0.0, 0.0, s, False))
    entry(kernels.intervals, (*looks, s[None], xs, rng, of_all, of_all))
    entry(kernels.choices, (*looks, s[None], xs, rng, np.zeros(1, np.int64)))
    if hasattr(me.algorithm, "upper"):
        entry(kernels.survey, (*looks, s[None], xs, of_all, of_all))
    if hasattr(me.algorithm, "radius_terms"):
        entry(kernels.split, (*looks, s[None], xs, of_all, of_all, of_all))
