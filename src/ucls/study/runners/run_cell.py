"""Make one run in this process: in chunks, with checkpoints, so that it can be stopped and resumed bit for bit."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ucls.algorithms import algorithm_module
from ucls.core.protocol import AnyRun, in_chunks
from ucls.core.run import make_run
from ucls.core.saving import checkpoint
from ucls.core.saving.saveable import fault_of
from ucls.diagnostics import probe_run
from ucls.errors import UserError, without_notices
from ucls.features import features_module
from ucls.study.declaration.run_spec import RESULTS_VERSION, RunSpec, code_of, env_code_of
from ucls.study.storage import partial
from ucls.study.storage.partial import Checkpoints
from ucls.study.storage.result import CPU, Result, summarize
from ucls.train.open_run import closed_after, open_run

CHUNK_SECONDS = 0.5


class Done(NamedTuple):
    """A finished run: its result, how long it took in this process, and steps per second once compiled.

    `note` tells the user about a checkpoint or learner that could not be loaded or saved.
    """

    result: Result
    seconds: float
    speed: float
    note: str = ""


@without_notices()
def run_cell(
    cell: RunSpec, checkpoints: Checkpoints = Checkpoints(), stopped: Callable[[], bool] = lambda: False
) -> Done | None:
    """Complete a run, from its last checkpoint if there is one; return None if it was stopped before.

    `stopped` is called about twice per second. The result does not depend on interruptions. A cell with a probe runs
    without checkpoints. A cell in a third-party environment, whose state cannot be saved, restarts from its seed.
    """
    began = time.perf_counter()
    if cell.probe:
        _refuse_changed(cell)
        run = make_run(cell.env, cell.agent, **_asked(cell))
        history, readings = probe_run(run, cell.steps, distribution=cell.probe)
        arrays = {f"probe.{name}": np.asarray(values, np.float64) for name, values in readings.items()}
        seconds = time.perf_counter() - began
        return Done(summarize(history, cell.resolution, arrays), seconds, run.steps / seconds)
    run, note = _begin(cell, checkpoints.folder)
    run.learner.refuse_growth(cell.steps)
    saved, timed, stepping, busy, clock = time.monotonic(), 0, 0.0, 0.0, time.process_time()
    with closed_after(run):
        for chunk in in_chunks(run, cell.steps - run.steps, CHUNK_SECONDS, stopped):
            timed, stepping = timed + chunk.timed, stepping + chunk.seconds
            busy += time.process_time() - clock if chunk.timed else 0.0
            if time.monotonic() - saved > checkpoints.every and not run.diverged:
                note = _save(run, cell, checkpoints.folder) or note
                saved = time.monotonic()
            clock = time.process_time()
    if run.steps < cell.steps and not run.diverged:
        _save(run, cell, checkpoints.folder)
        return None
    measured = _evaluated(run, cell, busy / max(1, timed) * run.steps) if cell.n_eval_episodes else {}
    result = summarize(run.history, cell.resolution, measured)
    if cell.keep and not run.diverged:
        try:
            result = result._replace(learner=checkpoint.to_bytes(run.checkpoint(), run.about()))
        except UserError as error:
            note = f"its learner was not saved: {error}"
    elif not (note or run.diverged) and (fault := fault_of(run.learner)):
        note = f"its learner could not be saved: {fault}"
    return Done(result, time.perf_counter() - began, timed / stepping if stepping else 0.0, note)


def _evaluated(run: AnyRun, cell: RunSpec, cpu: float) -> dict[str, np.ndarray]:
    """The processor time of training, and the returns of the greedy policy; none if the values diverged."""
    from ucls.agent.agent import Agent
    from ucls.agent.evaluate import evaluate_policy

    measured = {CPU: np.array([cpu])}
    if run.diverged:
        return measured
    if not isinstance(run, Agent):
        modules = algorithm_module(cell.agent), features_module(cell.features)
        run = Agent.revive(run.about(), run.checkpoint(), None, *modules)
    limit = cell.eval_max_steps or None
    found = evaluate_policy(run, n_eval_episodes=cell.n_eval_episodes, seed=cell.seed, max_steps=limit)
    return {**measured, "greedy_returns": found.returns, "greedy_steps": found.lengths.astype(np.int32)}


def _begin(cell: RunSpec, folder: Path | None) -> tuple[AnyRun, str]:
    """Begin or resume a run, from its last valid checkpoint; also return a message about an invalid one."""
    _refuse_changed(cell)
    run, note = _make(cell), ""
    if folder is not None and cell.ours:
        note = partial.resume_run(folder, cell, run)
        run = _make(cell) if note else run
    return run, note


def _refuse_changed(cell: RunSpec) -> None:
    """Refuse a run whose code has changed since it was declared."""
    if cell.numerics != RESULTS_VERSION:
        versions = f"has results version {cell.numerics}, and this ucls has {RESULTS_VERSION}"
        raise UserError(f"run {cell.id} {versions}: declare the study again")
    if cell.code != code_of(cell.agent, cell.features):
        raise UserError(f"{_other_code(cell.agent)}: declare the study again")
    if cell.env_code != env_code_of(cell.env):
        raise UserError(f"{_other_code(cell.env)}: declare the study again")


def _other_code(name: str) -> str:
    return f"the code of {name!r}, or of a package that it uses, has changed since the study was declared"


def _make(cell: RunSpec) -> AnyRun:
    around: dict[str, Any] = {"low": cell.low or None, "high": cell.high or None, "discount": cell.discount}
    return open_run(cell.env, cell.agent, **_asked(cell), **around)


def _asked(cell: RunSpec) -> dict[str, Any]:
    return {
        "seed": cell.seed,
        "settings": dict(cell.settings),
        "features": cell.features,
        "dtype": cell.dtype,
    }


def _save(run: AnyRun, cell: RunSpec, folder: Path | None) -> str:
    if folder is None or run.diverged or run.steps == 0 or not cell.ours:
        return ""
    return partial.keep(folder, cell, run)
