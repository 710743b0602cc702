"""What version 0.1 wrote, a store with an unfinished cell and two checkpoints, is read and goes on bit for bit."""

import json
import shutil
from pathlib import Path

import numpy as np

from ucls import Agent
from ucls.core.run import Run
from ucls.study import RunSpec, Store, run_study
from ucls.study.declaration.declare import Member, Study
from ucls.study.runners.base import outcome_of
from ucls.study.runners.run_cell import run_cell
from ucls.study.storage.result import pack

DATA = Path(__file__).parent / "data"
TOLD = json.loads((DATA / "v2.json").read_text())


def one_by_one(cells, checkpoints, stop):
    yield from (outcome_of(cell, checkpoints) for cell in cells)


def test_a_store_keeps_its_ids_and_results_and_goes_on(tmp_path):
    path = tmp_path / "v2.sqlite"
    shutil.copy(DATA / "v2.sqlite", path)
    shutil.copytree(DATA / "v2.sqlite.partial", tmp_path / "v2.sqlite.partial")
    with Store(path, write=True) as store:
        rows = store.rows("old")
        assert [row.id for row in rows] == TOLD["ids"]
        assert [row.status for row in rows] == ["done", "done", "waiting"]
        cells: list[RunSpec] = [*store.waiting("old")]
        study = Study("old", tuple(Member(cell.agent, cell) for cell in cells))
        assert run_study(store, study, one_by_one, quiet=True).done == 1
        again = run_cell(cells[0])
        assert pack(again.result.arrays) == pack(store.result(cells[0].id).arrays)
        assert again.result.metrics == store.result(cells[0].id).metrics


def test_a_run_goes_on():
    run = Run.load(DATA / "v2.safetensors")
    run.advance(200)
    np.testing.assert_array_equal(run.learner.state.w, TOLD["w"])


def test_an_agent_on_a_foreign_environment_knows_what_it_knew_and_goes_on():
    agent = Agent.load(DATA / "v2-agent.safetensors")
    shown = [[part.tolist() for part in agent.value_estimates(s)] for s in (0, 1, 4)]
    assert shown == TOLD["interval"]
    agent = Agent.load(DATA / "v2-agent.safetensors", "FrozenLake-v1")
    agent.learn(200)
    np.testing.assert_array_equal(agent.learner.state.w, TOLD["agent w"])
