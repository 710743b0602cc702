"""The logs of others: TensorBoard's and Weights & Biases', each skipped where its package is not installed."""

import os
import struct
import sys

import pytest

from ucls import Agent, UserError
from ucls.callbacks import Evaluate, TensorBoard, WeightsAndBiases


def lake():
    return Agent("FrozenLake-v1", "sarsa", seed=1)


def points(folder):
    """What TensorBoard would show: {name: [(step, value), ...]}."""
    from tensorboardX.proto import event_pb2

    found = {}
    for path in sorted(folder.glob("events.*")):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            event = event_pb2.Event.FromString(data[12 : 12 + length])
            data = data[16 + length :]
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def test_tensorboard_gets_every_number_at_its_step(tmp_path):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    evaluate = Evaluate(every=40, n_eval_episodes=2, save_path=None)
    agent = lake().learn(90, callback=[TensorBoard(tmp_path, every=20), evaluate])
    shown = points(tmp_path)
    assert [step for step, _ in shown["time/fps"]] == [20, 40, 60, 80, 90]
    assert shown["rollout/ep_rew_mean"][-1] == (90, pytest.approx(agent.metrics["rollout/ep_rew_mean"]))
    assert shown["eval/mean_reward"] == [(step, pytest.approx(found.mean)) for step, found in evaluate.evaluations]


def test_tensorboards_file_is_closed_after_ctrl_c_too(tmp_path):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")

    def interrupt(agent):
        if agent.steps == 30:
            raise KeyboardInterrupt

    log = TensorBoard(tmp_path, every=20)
    with pytest.raises(KeyboardInterrupt):
        lake().learn(90, callback=[log, interrupt])
    assert log._writer is None
    assert [step for step, _ in points(tmp_path)["time/fps"]] == [20, 30]


def test_weights_and_biases_keeps_a_run_offline(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="wandb is not installed")
    monkeypatch.delenv("WANDB_ERROR_REPORTING", raising=False)
    log = WeightsAndBiases(every=20, folder=tmp_path, name="lake")
    agent = lake().learn(50, callback=log)
    agent.learn(10, callback=log)
    kept = list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert len(kept) == 2
    assert all(b"total_timesteps" in path.read_bytes() for path in kept)
    assert log._run is None
    assert os.environ["WANDB_ERROR_REPORTING"] == "false"


@pytest.mark.parametrize(
    ("log", "package", "extra"),
    [(lambda at: TensorBoard(at), "tensorboardX", "tensorboard"), (lambda at: WeightsAndBiases(), "wandb", "wandb")],
)
def test_what_is_not_installed_is_told_before_the_first_step(tmp_path, monkeypatch, log, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    agent = lake()
    with pytest.raises(UserError, match=rf"needs {package}: pip install 'ucls\[{extra}\]'"):
        agent.learn(5, callback=log(tmp_path))
    assert agent.steps == 0


def test_a_mode_that_there_is_not_is_refused():
    with pytest.raises(UserError, match="did you mean 'offline'"):
        WeightsAndBiases(mode="offlin")
