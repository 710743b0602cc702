"""The study of comparisons from logs: its environments have the values that are claimed, and its page its numbers."""

import csv
from pathlib import Path

import numpy as np
import pytest

from bench.logs import domains as worlds
from bench.logs import study
from bench.logs.command import main
from bench.logs.tables import FIELDS, pooled, read_summary
from ucls.evaluation import read_log

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["ring", "garnet", "inventory", "queue"])
def test_values_of_tables_agree_with_simulated_returns(name):
    domain = worlds.domains()[name]
    simulated = worlds.true_value(domain._replace(exact=None, horizon=200), domain.new, 4000)
    exact = worlds.true_value(domain, domain.new)
    assert simulated == pytest.approx(exact, abs=0.02 * abs(exact) + 0.05)


def test_logs_have_the_probabilities_of_the_logged_policy_and_unequal_episodes():
    domain = worlds.domains()["inventory"]
    table = worlds.simulate(domain, 200, np.random.default_rng(0))
    log = read_log(table, gamma=domain.gamma)
    p = domain.behavior(log.states)[np.arange(log.n_steps), log.action]
    assert np.allclose(p, log.probability)
    assert log.lengths.min() == 5
    assert log.lengths.max() == 40


def test_a_study_continues_where_it_was_stopped_and_is_summarized(tmp_path, monkeypatch):
    cases = (study.Case("ring"), study.Case("inventory", "poor features"))
    monkeypatch.setattr("bench.logs.command.run_all", lambda path, runs, _: study.run_all(path, runs, cases))
    rows, out = tmp_path / "rows.csv", tmp_path / "out.csv"
    order = ["--sizes", "50", "--replications", str(rows), "--out", str(out)]
    assert main([*order, "--runs", "1"]) == 0
    assert main([*order, "--runs", "3"]) == 0
    with rows.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert sorted((row["case"], row["run"]) for row in found) == sorted(
        (case.name, str(run)) for case in cases for run in range(3)
    )
    summary = read_summary(out)
    assert [row["runs"] for row in summary] == ["3", "3"]
    mean = np.mean([float(row["covers_difference"]) for row in found if row["case"] == "ring"])
    assert float(summary[0]["covers_difference"]) == pytest.approx(mean, abs=1e-4)
    assert pooled(out)[0].splitlines()[2].startswith("| 50 | 6 |")


def test_a_change_of_demand_is_flagged():
    table = worlds.changing(400, np.random.default_rng(0))
    from ucls.evaluation import compare

    domain = worlds.domains()["inventory"]
    [one] = compare(table, domain.new, gamma=domain.gamma).candidates
    assert one.verdict == "cannot say"
    assert any(check.name == "stationarity" and check.failed for check in one.checks)


def test_the_shipped_summary_has_its_columns():
    assert list(read_summary(ROOT / "docs" / "data" / "log-coverage.csv")[0]) == list(FIELDS)
