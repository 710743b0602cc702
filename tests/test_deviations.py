"""The page of deviations: every literal interpretation it names exists, and it prints what was measured."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tools.deviations import page
from ucls.core.history import History
from ucls.core.run import make_run
from ucls.paper.deviations import measure as d
from ucls.paper.deviations.declared import DEVIATIONS
from ucls.paper.runs.domains import RIVER
from ucls.paper.runs.groups import ENOUGH
from ucls.study import Store
from ucls.study.outcome import Outcome
from ucls.study.storage.result import Circumstance, summarize

TRIALS = [trial for deviation in DEVIATIONS for trial in deviation.trials]


@pytest.mark.parametrize("trial", TRIALS, ids=lambda t: f"{t.agent}-{t.env[5:-3]}-{'-'.join(t.literal) or 'default'}")
def test_every_literal_interpretation_is_a_setting_that_differs_from_the_default(trial):
    plans = [make_run(trial.env, trial.agent, settings=s).about() for s in (trial.literal, trial.default)]
    assert plans[0] != plans[1]
    assert trial.metric in d.METRICS


def test_what_is_not_measured_says_why():
    for deviation in DEVIATIONS:
        assert bool(deviation.trials) != bool(deviation.unmeasured), deviation.where


def test_the_shipped_measurements_are_those_of_the_deviations():
    with (Path(__file__).parents[1] / "docs" / "data" / "deviations.csv").open(newline="") as file:
        measured = list(csv.DictReader(file))
    [runs] = {int(row["runs"]) for row in measured}
    assert runs >= ENOUGH
    named = [(deviation.where, trial.agent, trial.metric) for deviation in DEVIATIONS for trial in deviation.trials]
    assert [(row["deviation"], row["algorithm"], row["metric"]) for row in measured] == named


def runner(diverges):
    """Runs of UCLS that earn 1, 2, 3 a step by seed with the literal trace threshold, and twice that by default."""

    def run(cells, checkpoints, stop):
        for cell in cells:
            literal = dict(cell.settings)["agent.trace_threshold"] == 0
            value = [1.0, 2.0, 3.0][cell.seed] * (1 if literal else 2)
            result = summarize(History(np.full(10, value), np.zeros(10, np.uint8)), 1)
            lost = literal and cell.seed in diverges
            yield Outcome(cell.id, result._replace(diverged=lost), Circumstance(1.0, 10.0, "", "", ""))

    return run


@pytest.mark.parametrize(
    ("diverges", "said"),
    [
        ((0, 1, 2), "final reward per step undefined, from 4; 3 of 3 literal runs diverged."),
        ((2,), "final reward per step **-1.5** [-7.85, 4.85], from 4; 1 of 3 literal runs diverged."),
    ],
)
def test_diverged_runs_do_not_count_in_the_numbers(tmp_path, diverges, said):
    trial = d.Trial("ucls", RIVER, {"trace_threshold": 0}, "final reward per step", steps=10)
    deviation = d.Deviation("somewhere", "this", "that", "because", (trial,))
    with Store(tmp_path / "runs.sqlite", write=True) as store:
        found = d.measure([deviation], 3, store, runner(diverges), quiet=True)
    assert said in page([deviation], d.measurements([deviation], found), "")


def test_difference_is_literal_minus_default_on_common_seeds(tmp_path):
    trial = d.Trial("ucls", RIVER, {"trace_threshold": 0}, "final reward per step", steps=10)

    deviation = d.Deviation("somewhere", "this", "that", "because", (trial,))
    with Store(tmp_path / "runs.sqlite", write=True) as store:
        [[found]] = d.measure([deviation], 3, store, runner(diverges=()), quiet=True)
    assert found.difference is not None
    assert (found.literal, found.default, found.difference.mean) == (2.0, 4.0, -2.0)
    assert found.difference[1:] == pytest.approx((-2 - 4.303 / 3**0.5, -2 + 4.303 / 3**0.5), abs=1e-3)  # Student t
    text = page([deviation], d.measurements([deviation], [[found]]), "")
    assert "ucls in River Swim with `trace_threshold=0`: final reward per step **-2** [" in text
    assert "ucls paper deviations --runs 3" in text
