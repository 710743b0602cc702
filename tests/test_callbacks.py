"""Callbacks: what each does, that they end whatever happens, and that what they keep is whole."""

import copy
import csv
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ucls
from support.transitions import assert_same_learner
from ucls import Agent, UserError, evaluate_policy
from ucls.callbacks import Checkpoint, CsvLog, Evaluate, Periodic, StopOnReturn
from ucls.errors import UclsWarning


class Witness:
    """Notes what is called."""

    def __init__(self, fail_at=None, fail_in=""):
        self.seen, self._at, self._in = [], fail_at, fail_in

    def begin(self, agent):
        self._note("begin", agent)

    def __call__(self, agent):
        self._note("step", agent)
        if agent.steps == self._at:
            raise KeyboardInterrupt

    def end(self, agent):
        self._note("end", agent)

    def _note(self, what, agent):
        self.seen.append((what, agent.steps))
        if what == self._in:
            raise RuntimeError(what)


def lake(seed=1):
    return Agent("FrozenLake-v1", "sarsa", seed=seed)


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_callback_begins_is_called_after_every_step_and_ends():
    one, calls = Witness(), []
    lake().learn(3, callback=[one, calls.append])
    assert one.seen == [("begin", 0), ("step", 1), ("step", 2), ("step", 3), ("end", 3)]
    assert len(calls) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda agent, saved: agent.learn(5),
        lambda agent, saved: agent.advance(5),
        lambda agent, saved: agent.restore(saved, 10),
        lambda agent, saved: agent.explain("maps.html", steps=5),
        pytest.param(lambda agent, saved: agent.record_video("film.gif", steps=5), marks=pytest.mark.slow),
    ],
)
def test_what_would_change_the_agent_is_refused_in_a_callback_and_changes_nothing(change, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agent, other = (Agent("ucls/OneState-v0", "sarsa", seed=1).learn(10) for _ in range(2))
    saved = agent.checkpoint()
    refused = []

    def callback(agent):
        with pytest.raises(UserError, match="cannot be called while the agent learns, as in a callback") as error:
            change(agent, saved)
        refused.append(str(error.value))

    agent.learn(3, callback)
    assert len(refused) == 3
    assert "\n" not in "".join(refused)
    assert_same_learner(agent, other.learn(3))
    assert np.array_equal(agent.history.rewards, other.history.rewards)
    change(agent, saved)  # afterwards it is allowed, and after a callback that failed
    with pytest.raises(ZeroDivisionError):
        agent.learn(3, lambda agent: 1 / 0)
    agent.learn(3)


def test_a_callback_may_ask_save_evaluate_and_copy_the_agent(tmp_path):
    agent, other = (Agent("ucls/OneState-v0", "sarsa", seed=1) for _ in range(2))
    copies = []

    def callback(agent):
        agent.save(tmp_path / "agent.safetensors")
        agent.predict([0.0])
        agent.value_estimates([0.0])
        evaluate_policy(agent, n_eval_episodes=1, max_steps=5)
        copies.append(copy.deepcopy(agent))

    agent.learn(5, callback)
    assert_same_learner(agent, other.learn(5))
    assert_same_learner(copies[2].learn(2), other)


def test_an_answer_of_numpy_stops_too():
    agent = lake().learn(10, callback=lambda agent: np.array([agent.steps]).mean() < 4)
    assert agent.steps == 4


def test_callbacks_end_after_ctrl_c_and_the_agent_goes_on():
    agent, first, second = lake(), Witness(), Witness(fail_at=2)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(10, callback=[first, second])
    assert first.seen[-1] == second.seen[-1] == ("end", 2)
    assert agent.learn(5).steps == 7
    assert agent.metrics["time/fps"] > 0


@pytest.mark.parametrize("where", ["begin", "end"])
def test_one_that_fails_does_not_keep_the_others_from_ending(where):
    first, second = Witness(), Witness(fail_in=where)
    with pytest.raises(RuntimeError, match=where):
        lake().learn(2, callback=[first, second])
    assert first.seen[-1][0] == "end"


@pytest.mark.parametrize("given", [3, "stop", [None], StopOnReturn, [Witness]])
def test_what_cannot_be_called_is_refused_in_one_line(given):
    with pytest.raises(UserError, match="a callback cannot be"):
        lake().learn(1, callback=given)


def test_periods_are_of_the_agents_steps_whatever_the_calls_of_learn():
    class Noting(Periodic):
        def act(self, agent):
            acted.append(agent.steps)

    agent, noting, acted = lake(), Noting(10), []
    for steps in (7, 7, 20):
        agent.learn(steps, callback=noting)
    assert acted == [10, 20, 30]
    with pytest.raises(UserError, match="every cannot be 0"):
        Noting(0)


def test_evaluate_keeps_the_best_and_leaves_the_run_as_it_was(tmp_path):
    alone = Agent("FrozenLake-v1", "sarsa", seed=2).learn(600)
    evaluate = Evaluate(every=100, n_eval_episodes=5, save_path=tmp_path / "deep" / "best.safetensors", seed=7)
    agent = Agent("FrozenLake-v1", "sarsa", seed=2).learn(600, callback=evaluate)
    assert np.array_equal(agent.history.ends, alone.history.ends)
    assert [step for step, _ in evaluate.evaluations] == [100, 200, 300, 400, 500, 600]
    means = [evaluation.mean for _, evaluation in evaluate.evaluations]
    assert evaluate.best.mean == max(means)
    kept = Agent.load(evaluate.save_path)
    assert kept.steps == 100 * (1 + int(np.argmax(means)))
    assert evaluate_policy(kept, "FrozenLake-v1", 5, seed=7) == evaluate.best
    assert agent.metrics["eval/mean_reward"] == means[-1]


def test_evaluate_without_a_copy_is_refused_before_the_first_step(tmp_path):
    from support.foreign import Corridor

    class Uncopied(Corridor):
        def __deepcopy__(self, memo):
            raise TypeError("a window")

    agent = Agent(Uncopied())
    with pytest.raises(UserError, match=r"Uncopied cannot be copied, give an environment, env=...: a window"):
        agent.learn(10, callback=Evaluate(save_path=None))
    assert agent.steps == 0
    agent.learn(10, callback=Evaluate(Corridor(), every=10, n_eval_episodes=1, save_path=None))


def test_a_checkpoint_is_kept_in_time_and_at_the_end(tmp_path):
    agent = lake()
    agent.learn(25, callback=[Checkpoint(tmp_path / "a.safetensors", every=10)])
    assert Agent.load(tmp_path / "a.safetensors").steps == 25
    agent.learn(20, callback=[Checkpoint(tmp_path / "a-{steps}.safetensors", every=10)])
    assert sorted(path.name for path in tmp_path.glob("a-*.safetensors")) == [
        f"a-{steps}.safetensors" for steps in (30, 40, 45)
    ]
    with pytest.raises(UserError, match="is a folder"):
        agent.learn(1, callback=Checkpoint(tmp_path))


def test_a_disk_without_room_stops_nobody(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ucls.core.saving.checkpoint, "save", full)
    with pytest.warns(UclsWarning, match="not saved at step 10: No space left"):
        agent = lake().learn(10, callback=Checkpoint(tmp_path / "a.safetensors", every=10))
    assert agent.steps == 10


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_ctrl_c_in_the_middle_keeps_the_last_checkpoint(tmp_path):
    code = """
import sys, ucls
from ucls.callbacks import Checkpoint
def shown(agent):
    if agent.steps == 200:
        print("running", flush=True)
ucls.Agent("FrozenLake-v1", "sarsa", seed=1).learn(10**7, callback=[Checkpoint("a.safetensors", every=50), shown])
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(ucls.__file__).parents[1])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=environment, **pipes) as run:
        assert run.stdout.readline() == b"running\n"
        run.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in run.communicate(timeout=60)[1]
    kept = Agent.load(tmp_path / "a.safetensors", "FrozenLake-v1")
    assert kept.steps >= 200
    alone = lake().learn(kept.steps)
    assert np.array_equal(alone.learner.state.w, kept.learner.state.w)


def test_learning_stops_when_the_last_episodes_return_enough():
    agent = Agent("FrozenLake-v1", "sarsa", seed=1, settings={"env.is_slippery": False})
    agent.learn(20_000, callback=StopOnReturn(0.5, episodes=10))
    assert agent.steps < 20_000
    returns = agent.history.episode_returns
    assert returns[-10:].mean() >= 0.5
    assert all(returns[i - 10 : i].mean() < 0.5 for i in range(10, len(returns)))
    for threshold in (np.nan, "1", True):
        with pytest.raises(UserError, match="threshold cannot be"):
            StopOnReturn(threshold)


def test_a_csv_log_has_a_row_for_every_period_and_new_columns_as_they_come(tmp_path):
    path = tmp_path / "log.csv"
    evaluate = Evaluate(every=40, n_eval_episodes=2, save_path=None)
    agent = lake().learn(90, callback=[evaluate, CsvLog(path, every=20)])
    table = rows(path)
    assert [int(row["time/total_timesteps"]) for row in table] == [20, 40, 60, 80, 90]
    assert float(table[-1]["rollout/ep_rew_mean"]) == agent.metrics["rollout/ep_rew_mean"]
    assert [row["eval/mean_reward"] != "" for row in table] == [False, True, False, True, False]
    assert float(table[3]["eval/mean_reward"]) == evaluate.evaluations[1][1].mean
    assert all(float(row["time/fps"]) > 0 for row in table)


def test_a_csv_log_is_gone_on_with_and_never_another_file(tmp_path):
    path = tmp_path / "log.csv"
    agent = lake().learn(30, callback=CsvLog(path, every=10))
    kept = agent.save(tmp_path / "a.safetensors")
    agent.learn(20, callback=CsvLog(path, every=10))
    with path.open("a") as file:
        file.write("60,0.")
    Agent.load(kept, "FrozenLake-v1").learn(10, callback=CsvLog(path, every=10))
    assert [int(row["time/total_timesteps"]) for row in rows(path)] == [10, 20, 30, 40]
    with pytest.raises(UserError, match="contains another run"):
        lake().learn(10, callback=CsvLog(path))
    path.write_text("my,own\n1,2\n")
    with pytest.raises(UserError, match="not a log written by CsvLog"):
        lake().learn(10, callback=CsvLog(path))
    assert path.read_text() == "my,own\n1,2\n"


def test_the_last_episodes_are_those_of_the_history():
    agent = Agent("CartPole-v1", "sarsa", features="tiles", tilings=4).learn(500)
    for many in (0, 1, 5, 1000):
        returns, lengths = agent.last_episodes(many)
        expected = agent.history.episode_returns[len(agent.history.episode_returns) - min(many, agent.episodes) :]
        assert np.array_equal(returns, expected)
        assert np.array_equal(lengths, expected)
    agent.env = "CartPole-v1"
    assert agent.history.ends[-1] > 0
    assert agent.episodes == len(agent.history.episode_steps)


def test_a_seed_that_nobody_gave_is_told():
    one, other = Agent("FrozenLake-v1", seed=None), Agent("FrozenLake-v1", seed=None)
    assert one.seed != other.seed
    assert f"seed {one.seed}" in repr(one)
    again = Agent("FrozenLake-v1", seed=one.seed).learn(100)
    assert np.array_equal(again.history.ends, one.learn(100).history.ends)
