"""What UCLS-Plan is timed against: R-max plans correctly, and a timed case has what its table shows."""

import pytest

from bench import planners
from ucls.core.run import make_run


def test_rmax_tries_every_pair_once_and_then_takes_the_treasure():
    run = make_run(planners.SEA, planners.RMAX, seed=1, settings={"size": 4, "visits": 1})
    returns = run.advance(400).rewards.reshape(-1, 4).sum(axis=1)
    state = run.learner.state
    assert state.model.visits.tolist() == [1] * 20
    assert returns[-50:] == pytest.approx(1.0 - 0.01)
    best = sum(0.99**i * -0.0025 for i in range(4)) + 0.99**3
    assert max(state.q[:2]) == pytest.approx(best)


def test_a_timed_case_has_its_size_and_its_ratios():
    case = planners.cases(quick=True)[0]._replace(others=(planners.RMAX,))
    found = planners._timed(case, 2)
    assert found["d"] == 110
    assert 0 < found["moves"] <= 110
    (table,) = planners.tables({"cases": [found]})
    assert table.rows[0][:3] == ["one-hot", "110", "200"]
    assert table.rows[0][5:7] == ["-", "-"]
    assert found["relative"][planners.RMAX].median > 0
