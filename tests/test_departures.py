"""The page of departures: every literal reading it names exists, and what it prints is what was measured."""

import numpy as np
import pytest

from ucls.history import History
from ucls.loop import make_run
from ucls.paper import departures as d
from ucls.paper.readings import DEPARTURES

TRIALS = [trial for departure in DEPARTURES for trial in departure.trials]


@pytest.mark.parametrize("trial", TRIALS, ids=lambda t: f"{t.agent}-{t.env[5:-3]}-{'-'.join(t.literal) or 'default'}")
def test_every_reading_is_a_setting_that_differs_from_ours(trial):
    plans = [make_run(trial.env, trial.agent, settings=s).about() for s in (trial.literal, trial.ours)]
    assert plans[0] != plans[1]
    assert trial.measure in d.MEASURES


def test_what_is_not_measured_says_why():
    for departure in DEPARTURES:
        assert bool(departure.trials) != bool(departure.unmeasured), departure.where


def test_difference_is_literal_less_ours_on_common_seeds(monkeypatch):
    trial = d.Trial("ucls", d.RIVER, {"trace_threshold": 0}, "reward a step, last fifth", steps=10)
    rewards = {"literal": [1.0, 2.0, 3.0], "ours": [2.0, 4.0, 6.0]}

    def runs(cells, title, jobs, quiet):
        side = {cell: rewards["literal" if cell.settings else "ours"][cell.seed] for cell in cells}
        return {cell: History(np.full(10, value), np.zeros(10, np.uint8)) for cell, value in side.items()}

    monkeypatch.setattr(d, "run_cells", runs)
    departure = d.Departure("somewhere", "this", "that", "because", (trial,))
    [[found]] = d.measure([departure], 3, None, True)
    assert (found.literal, found.ours, found.mean) == (2.0, 4.0, -2.0)
    assert -3.0 <= found.low <= -2.0 <= found.high <= -1.0
    text = d.page([departure], [[found]], 3)
    assert "10 steps, `trace_threshold=0` against default: reward a step, last fifth 2 against 4" in text
    assert "difference **-2**" in text
    assert "ucls departures --runs 3" in text
