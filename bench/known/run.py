"""Run the study in one process, and also measure processor time and the return of the greedy policy.

Both are saved in a file beside the store, one JSON object per run.
"""

import json
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import gymnasium

from bench.known.tasks import ABREAST, limited, measured_of, task_of
from bench.machine import package_revision
from ucls import Agent, evaluate_policy
from ucls.core.saving import checkpoint
from ucls.errors import UclsWarning
from ucls.gym.registry import make_env
from ucls.study.declaration.declare import Study
from ucls.study.declaration.run_spec import RunSpec
from ucls.study.outcome import Outcome
from ucls.study.run_study import run_study
from ucls.study.runners.base import outcome_of
from ucls.study.storage.partial import Checkpoints
from ucls.study.storage.store import Store

WARM = 200  # steps of an unmeasured run of the same kind, which loads or compiles the kernels


def measure(study: Study, store: Path, only: Sequence[str], fewer: int | None, agents: Sequence[str] = ()) -> None:
    """Make the missing runs, limited to titles with one of these words, to these agents and the first few seeds."""
    labels = {member.cell.id: member.label for member in study.members}
    begun: set[tuple[str, str]] = set()

    def runner(cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event) -> Iterator[Outcome]:
        for cell in cells:
            title = task_of(cell.env, dict(cell.settings)).title
            if stop.is_set():
                return
            if (only and not any(word in title for word in only)) or (fewer is not None and cell.seed >= fewer):
                continue
            if agents and labels[cell.id] not in agents:
                continue
            if (labels[cell.id], title) not in begun:
                begun.add((labels[cell.id], title))
                outcome_of(cell._replace(steps=WARM), Checkpoints())
            outcome, found = _measured(cell, labels[cell.id], title, stop)
            if found:
                with measured_of(store).open("a") as file:
                    file.write(json.dumps(found) + "\n")
                print({name: found[name] for name in ("task", "label", "seed", "cpu", "last", "greedy")}, flush=True)
            elif outcome.error:
                print(title, labels[cell.id], cell.seed, outcome.error, flush=True)
            yield outcome

    store.parent.mkdir(parents=True, exist_ok=True)
    with Store(store, write=True) as opened:
        run_study(opened, study, runner, quiet=True)


def _measured(cell: RunSpec, label: str, title: str, stop: Event) -> tuple[Outcome, dict[str, Any]]:
    """Run a cell and evaluate its learner, which is not saved in the store because many are large."""
    began = time.process_time()
    outcome = outcome_of(cell._replace(keep=True), Checkpoints(), stop.is_set)
    cpu = time.process_time() - began
    if outcome.result is None:
        return outcome._replace(id=cell.id), {}
    result = outcome.result
    found = {"id": cell.id, "task": title, "label": label, "seed": cell.seed, "steps": cell.steps, "cpu": round(cpu, 3)}
    found |= {"commit": package_revision(), "last": result.metrics.final_return, "diverged": result.diverged}
    found |= {"greedy": None} if result.learner is None else _tried(cell, result.learner)
    kept = result if cell.keep else result._replace(learner=None)
    return outcome._replace(id=cell.id, result=kept), found


def _tried(cell: RunSpec, learner: bytes) -> dict[str, Any]:
    """The mean return of the greedy policy in separate episodes."""
    task = task_of(cell.env, dict(cell.settings))
    envs = gymnasium.vector.SyncVectorEnv([lambda: limited(make_env(cell.env, task.kwargs))] * ABREAST)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UclsWarning)
        agent = Agent.revive(*checkpoint.from_bytes(learner), make_env(cell.env, task.kwargs))
        mean, _ = evaluate_policy(agent, envs, task.episodes)
    envs.close()
    return {"greedy": mean, "episodes": task.episodes}
