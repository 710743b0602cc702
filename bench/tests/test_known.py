"""The page of well-known environments: every run is in its tables, and it shows the saved runs and nothing else."""

import csv
import re
from pathlib import Path

import pytest

from bench.known import found, page, run
from bench.known.tasks import TASKS, reached, task_of
from ucls.study.declaration.declare import parse_study

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "environments.toml"
LAKES = """
name = "environments"
steps = 600
seeds = "0-1"
[[run]]
algorithm = ["sarsa", "rlsvi"]
env = "FrozenLake-v1"
set = { env.is_slippery = false }
"""


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_every_run_of_the_shipped_study_is_in_the_tables():
    pytest.importorskip("minigrid")
    pytest.importorskip("Box2D")
    study = parse_study(FILE.read_text())
    titles = {task_of(member.cell.env, dict(member.cell.settings)).title for member in study.members}
    assert titles == {task.title for task in TASKS}


def test_optimistic_sarsa_is_given_the_maximum_return_throughout_the_shipped_study():
    optimists = [table for table in FILE.read_text().split("[[run]]") if "sarsa, optimistic" in table]
    assert len(optimists) == len(TASKS)
    assert all("initial_value = " in table and "epsilon = 0 " in table for table in optimists)


def test_a_threshold_is_reached_with_the_last_of_twenty_good_episodes():
    returns, lengths = [0.0] * 7 + [1.0] * 40, list(range(1, 48))
    assert reached(lengths, returns, 1.0) == sum(range(1, 28))
    assert reached(lengths, returns, 1.1) is None
    assert reached(lengths[:19], [1.0] * 19, 1.0) is None
    assert reached(lengths, returns, None) is None


def test_page_and_data_show_exactly_the_runs_that_were_made(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "WARM", 1)
    monkeypatch.setattr("bench.known.tasks.TASKS", tuple(task._replace(episodes=20) for task in TASKS))
    store = tmp_path / "store.sqlite"
    run.measure(parse_study(LAKES), store, only=[], fewer=1)
    run.measure(parse_study(LAKES), store, only=["no such"], fewer=None)
    page.update(store, data := tmp_path / "docs" / "page.csv")
    shipped = found.of_csv(data)  # a page shows the data as shipped, digit for digit
    rows = _rows(data)
    assert [(row["agent"], row["seed"], row["greedy_episodes"]) for row in rows] == [
        ("sarsa", "0", "20"),
        ("rlsvi", "0", "20"),
    ]
    shown = page.sections(shipped)
    assert shown["runs"].startswith("2 runs, made with commits ")
    for name in ("greedy", "training", "steps"):
        assert shown[name].count("| FrozenLake 4x4, not slippery |") == 1
        assert "CartPole" not in shown[name]
    means = list(csv.DictReader(page.summary(shipped)))
    assert [(row["agent"], row["runs"], row["final_return_low"]) for row in means] == [
        ("sarsa", "1", ""),
        ("rlsvi", "1", ""),
    ]


def test_a_new_run_replaces_the_earlier_one_of_the_same_name():
    first = found.Found("Taxi-v4", "sarsa", 0, 100, 0.0, 7.0, 1, None, 1.0, False, "old")
    new, other = first._replace(greedy_return=8.0, commit="new"), first._replace(seed=1)
    assert found.merged([first, other], [new]) == [new, other]


def test_an_agent_that_was_not_run_somewhere_gets_a_dash():
    some = [
        one
        for one in found.of_csv(ROOT / "docs" / "data" / "environments.csv")
        if (one.task, one.agent) != ("CartPole-v1", "sarsa")
    ]
    for table in page.tables_of(some):
        [cart] = [row for row in table.rows if row[0] == "CartPole-v1"]
        assert cart[list(table.head).index("sarsa")] == "-"


def test_the_first_finding_names_where_another_agent_is_best():
    def run(task, agent, greedy):
        return found.Found(task, agent, 0, 100, 0.0, greedy, 1, None, 1.0, False, "c")

    runs = [run("Taxi-v4", page.DEFAULT, 8.0), run("Taxi-v4", "sarsa", 7.0)]
    assert page.finding(runs).endswith("in 1 of 1 environments.")
    runs += [run("CartPole-v1", page.DEFAULT, 300.0), run("CartPole-v1", "PPO", 400.0)]
    assert page.finding(runs).endswith("in 1 of 2 environments. Others are best in CartPole-v1 (PPO).")


def test_the_committed_page_is_of_the_committed_data():
    rows = _rows(ROOT / "docs" / "data" / "environments.csv")
    assert f"{len(rows):,} runs" in (ROOT / "docs" / "environments.md").read_text()
    assert {row["task"] for row in rows} <= {task.title for task in TASKS}
    assert tuple(rows[0]) == found.Found._fields


def test_the_benchmarks_page_repeats_the_findings_as_they_are():
    beyond = " ".join((ROOT / "docs" / "beyond.md").read_text().split())
    data = ROOT / "docs" / "data"
    runs = found.together(found.of_csv(data / "environments.csv"), found.of_csv(data / "deep.csv"))
    best = re.search(r"in (\d+ of \d+ environments)", page.finding(runs))
    assert best
    assert best[1] in beyond
    training = next(table for table in page.tables_of(runs) if table.title == "training")
    [cart] = [row for row in training.rows if row[0] == "CartPole-v1"]
    assert f"mean return of {cart[list(training.head).index(page.DEFAULT)]}" in beyond


def test_rooms_tell_their_state_and_a_key_opens_the_door():
    minigrids = pytest.importorskip("minigrids", exc_type=ImportError)
    env = minigrids.door_key()
    state, _ = env.reset(seed=3)
    assert env.observation_space.contains(state)
    assert state[3] > 0
    assert state[5] == minigrids.LOCKED
    seen = {tuple(state)}
    for _ in range(3000):
        state, _, terminated, truncated, _ = env.step(env.action_space.sample())
        assert env.observation_space.contains(state)
        seen.add(tuple(state))
        if terminated or truncated:
            env.reset()
    assert {s[5] for s in seen} == {minigrids.OPEN, minigrids.CLOSED, minigrids.LOCKED}
    assert all(s[3] == 0 for s in seen if s[5] != minigrids.LOCKED)
