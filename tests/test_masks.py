"""Action masks: an invalid action is never taken, never part of a maximum, never counted in an interval.

Checks of many algorithms run in a process without the compiler, which takes longer than they do.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from support.masked import Corridor, Padded
from support.pages import decoded, page_data
from support.uncompiled import run_uncompiled
from ucls import Agent, DiscreteActions, evaluate_policy
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.run import suits_env
from ucls.core.saving import checkpoint
from ucls.errors import UserError
from ucls.gym.action_masks import MaskReader, checked_mask, checked_masks, has_masks, without_mask
from ucls.kernels import masks as mk
from ucls.kernels.active import Active
from ucls.study.declaration.run_spec import make_run_specs
from ucls.testing import masks as promise
from ucls.testing.small import NETWORK

NEEDED = {"dgpq": {"r_max": 1.0}, "lspi-rmax": {"return_max": 1.0}, "ucls-deep": NETWORK}
WALKS = ("info", "method", "observation")


def learned(how="info", algorithm="sarsa", steps=200, seed=1, **settings):
    return Agent(Corridor(how), algorithm, seed=seed, **settings).learn(steps)


def check_actions_that_are_always_invalid_change_no_reward():
    warnings.simplefilter("ignore")
    for algorithm in set(ALGORITHMS) - {"rlsvi", "rlsvi-tabular", "lsvi-phe", "psrl"}:  # which draw for every feature
        for env, features in (
            ("ucls/DeepSea-v0", {"features": "one_hot"}),
            ("ucls/RiverSwim-v0", {"tilings": 4, "tiles": 4}),
        ):
            if not suits_env(algorithm, env):
                continue
            features = {} if hasattr(algorithm_module(algorithm), "FEATURES") else features
            settings = {**features, **NEEDED.get(algorithm, {})}
            rewards = []
            for where in ([1, 1], [0, 1, 0, 1], [1, 0, 1]):
                padded = Padded(gymnasium.make(env, **({} if "River" in env else {"size": 4})), where)
                rewards.append(Agent(padded, algorithm, seed=3, **settings).learn(80).history.rewards.tolist())
            assert rewards[0] == rewards[1] == rewards[2], (algorithm, env)


def check_every_algorithm_keeps_its_promise():
    warnings.simplefilter("ignore")  # of a return_max that is too low
    sys.path.append(str(Path(__file__).parents[1] / "examples"))
    for algorithm in (*ALGORITHMS, "my_agent", "my_network"):
        for env in ("ucls/DeepSea-v0", "ucls/RiverSwim-v0"):
            if suits_env(algorithm, env):
                promise.takes_no_invalid_action(algorithm_module(algorithm), env)


def check_planning_takes_no_maximum_over_invalid_actions():
    right = 0.9 ** np.arange(4.0, -1.0, -1.0)
    agent = learned("info", "ucls-plan", 600, return_max=1.0, discount=0.9)
    np.testing.assert_allclose(agent.learner.state.solver.V[:5], right, atol=1e-3)
    agent = learned("info", "ucls-plan", 300, return_max=1.0, discount=0.9, features="tiles", tilings=2, tiles=6)
    np.testing.assert_allclose(np.nanmax(agent.value_estimates(np.arange(5))[0], axis=1), right, atol=0.1)
    assert (agent.learner.state.solver.visits[:5] < 0).sum() == 11  # two in every cell, and left in the first


def check_kernels():
    xs = Active(np.array([[0], [1], [2]]), np.array([[1.0], [1.0], [0.5]]))
    mask = np.array([0, 1, 1], np.uint8)
    rows = mk.valid_rows(xs, mask)
    assert rows.index.tolist() == [[1], [2]]
    assert rows.value.tolist() == [[1.0], [0.5]]
    assert [mk.action_of_row(mask, row) for row in range(3)] == [1, 2, -1]
    met, found = np.zeros(3, np.uint8), np.zeros(3, np.uint8)
    mk.note(met, xs, mask)
    mk.recall(met, xs, found)
    assert found.tolist() == [0, 1, 1]
    mk.note(met, xs, np.array([1, 1, 0], np.uint8))
    mk.recall(met, xs, found)
    assert found.tolist() == [1, 1, 1]  # each was valid once
    mk.repeat_valid(xs, mask)
    assert xs.index.tolist() == [[1], [1], [2]]
    assert [mk.is_repeated(xs, a) for a in range(3)] == [False, True, False]


def check_the_three_ways_to_give_masks_are_the_same_run():
    runs = [learned(how) for how in WALKS]
    assert [run.history.rewards.tolist() for run in runs[1:]] == [runs[0].history.rewards.tolist()] * 2
    assert runs[0].history.rewards.sum() > 10
    for run in runs:
        assert run.about()["action_masks"] is True
        assert run.about()["space"]["kind"] == "discrete"
    wrapped = gymnasium.wrappers.TimeLimit(Corridor("method"), 30)
    assert Agent(wrapped, "sarsa", seed=1).learn(200).history.rewards.tolist() == runs[0].history.rewards.tolist()
    assert "action_masks" not in learned("none").about()


def check_masks_are_honored_in_queries():
    agent = learned()
    only = [1, 0, 0, 0]
    for deterministic in (True, False):
        assert agent.predict(2, deterministic)[0] in (1, 2)  # by the masks met in training
        assert agent.predict(2, deterministic, action_masks=only)[0] == 0
        assert agent.predict([2, 2, 0], deterministic, action_masks=only)[0].tolist() == [0, 0, 0]
        rows = [[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]
        assert agent.predict([2, 2, 0], deterministic, action_masks=rows)[0].tolist() == [0, 3, 1]
    mean, radius = agent.value_estimates(0)
    assert np.isnan(mean).tolist() == np.isnan(radius).tolist() == [True, True, False, True]
    both = agent.value_estimates([0, 1], action_masks=[1, 1, 0, 0])[0]
    assert np.isnan(both).tolist() == [[False, False, True, True]] * 2
    assert agent.policy("optimistic")([0, 0]).tolist() == [2, 2]
    dict_agent = learned("observation")
    seen = {"observation": 2, "action_mask": np.array([0, 0, 0, 1])}
    assert dict_agent.predict(seen, deterministic=True)[0] == 3
    many = {"observation": np.array([2, 2]), "action_mask": np.array([[0, 0, 0, 1], [1, 0, 0, 0]])}
    assert dict_agent.predict(many, deterministic=True)[0].tolist() == [3, 0]
    for bad in ([0, 0, 0, 0], [1, 0, 0], "all", [[1, 0, 0, 0]], [0.5, 1, 1, 1]):
        with pytest.raises(UserError, match="mask"):
            agent.predict([2, 2], action_masks=bad)


def check_evaluation():
    for how in WALKS:
        agent = learned(how, steps=2000)
        returns, lengths = evaluate_policy(agent, n_eval_episodes=3, return_episode_rewards=True)
        assert (returns, lengths) == ([1.0] * 3, [5] * 3)
        for mode in gymnasium.vector.AutoresetMode:
            envs = gymnasium.vector.SyncVectorEnv([lambda how=how: Corridor(how)] * 2, autoreset_mode=mode)
            found = evaluate_policy(agent, envs, n_eval_episodes=4, deterministic=False, seed=2)
            assert found.lengths.min() >= 5, (how, mode)
    with pytest.raises(UserError, match="learned with action masks, but there are none"):
        evaluate_policy(agent, Corridor("none"))


def check_files():
    with tempfile.TemporaryDirectory() as folder:
        agent = learned("observation")
        path = agent.save(Path(folder) / "agent")
        again = Agent.load(path, Corridor("info"))
        assert (
            again.learner.met_masks(np.arange(6.0)[:, None]) == agent.learner.met_masks(np.arange(6.0)[:, None])
        ).all()
        assert again.predict(0, deterministic=True) == (2, None)
        again.learn(50)
        assert Agent.load(path).predict(0, deterministic=True) == (2, None)
        with pytest.raises(UserError, match="learned with action masks, but there are none"):
            Agent.load(path, Corridor("none")).learn(1)
        about, arrays = checkpoint.load(path)
        with pytest.raises(UserError, match=r"masks\.met"):
            Agent.revive(about, {**arrays, "masks.met": np.full(24, 3, np.uint8)}, Corridor())


def check_maps_and_videos():
    with tempfile.TemporaryDirectory() as folder:
        agent = Agent(Corridor(render_mode="rgb_array"), "ucls-exact", seed=1).learn(200)
        path = agent.explain(Path(folder) / "maps.html")
        page, text = page_data(path), path.read_text()
        valid = decoded(text, 0, "valid")[0, :5].round().astype(int).tolist()
        assert valid == [[0, 0, 1, 0]] + [[0, 1, 1, 0]] * 4
        assert set(decoded(text, 0, "action")[0, :5, 0]) <= {1, 2}
        for row in page["unsure"]:
            assert row["valid"][0] is False
            assert row["action"] in (1, 2)
        video = agent.record_video(Path(folder) / "video.gif", max_steps=10, env=Corridor(render_mode="rgb_array"))
        assert video.is_file()
        plain = Agent(Corridor("none"), "ucls-exact", seed=1).learn(50)
        assert "valid" not in page_data(plain.explain(Path(folder) / "plain.html"))["views"][0]["kinds"]


def check_logs():
    log = {
        "episode": [0, 0, 0],
        "state": [0, 1, 2],
        "action": [2, 2, 1],
        "reward": [0.0, 0.0, 1.0],
        "terminated": [0, 0, 1],
        "action_mask": [[0, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 0]],
    }
    agent = Agent(Corridor(), "ucls-exact", seed=0).learn_from(log)
    assert agent.learner.met_masks(np.arange(3.0)[:, None]).astype(int).tolist() == log["action_mask"]
    assert agent.policy()([2]).tolist() == [1]
    with pytest.raises(UserError, match="row 3 of the log: its action is invalid"):
        agent.learn_from({**log, "action": [2, 2, 3]})
    with pytest.raises(UserError, match="row 2 of the log: an action mask cannot be all 0"):
        agent.learn_from({**log, "action_mask": [[0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]})
    with pytest.raises(UserError, match="give action_mask_0 to action_mask_3"):
        agent.learn_from({**log, "action_mask": [[0, 0, 1]] * 3})


def check_broken_masks():
    for broken, words in {
        "empty": "cannot be all 0",
        "short": "a 0 or 1 for each of the 4 actions",
        "fraction": "only 0 and 1",
        "missing": r"an action mask after reset\(\), but none after step\(\)",
        "late": r"an action mask after step\(\), but none after reset\(\)",
    }.items():
        with pytest.raises(UserError, match=f"the environment is at fault, .*{words}"):
            Agent(Corridor(broken=broken), "sarsa").learn(5)
    for how in ("info", "method"):
        env = Corridor(how)
        agent = Agent(env, "sarsa", seed=0).learn(3)
        env.given[3], env.s = 1, 0 if env.s else 3
        with pytest.raises(UserError, match=r"was \[0, \d, 1, 0\] when the action was chosen and is \[0, \d, 1, \d\]"):
            agent.learn(1)


@pytest.mark.parametrize("check", [name for name in dir() if name.startswith("check_")])
def test_without_the_compiler(check):
    run_uncompiled(f"from test_masks import {check}\n{check}()")


def test_masks_are_booleans_numbers_or_lists():
    assert checked_mask((True, False), 2).tolist() == checked_mask(np.array([1.0, 0.0]), 2).tolist() == [True, False]
    assert checked_masks([1, 0], 2, 2).tolist() == [[True, False]] * 2
    assert without_mask({"action_mask": [1], "a": 2}) == 2
    assert without_mask({"action_mask": [1], "a": 2, "b": 3}) == {"a": 2, "b": 3}
    assert without_mask({"action_mask": [1]}) == {"action_mask": [1]}


def test_numbered_actions_have_the_masks_of_their_choices():
    class Two(gymnasium.Env):
        action_space = gymnasium.spaces.MultiDiscrete([2, 3])
        observation_space = gymnasium.spaces.Discrete(2)

        def action_masks(self):
            return [1, 0, 0, 1, 1]

    env = DiscreteActions(Two())
    assert MaskReader(env, 6).read(0, {}, reset=True).tolist() == [False, True, True, False, False, False]


def test_a_study_of_an_environment_with_masks_has_runs_of_its_own(monkeypatch):
    import support.masked

    monkeypatch.setattr(support.masked, "plain", lambda: Corridor("none"), raising=False)
    [with_masks] = make_run_specs("support.masked:Corridor", "sarsa", steps=10, seeds=[0])
    [without] = make_run_specs("support.masked:plain", "sarsa", steps=10, seeds=[0])
    assert (with_masks.action_masks, without.action_masks) == (True, False)
    assert '"action_masks":true' in with_masks.json()
    assert "action_masks" not in without.json()
    assert not has_masks(gymnasium.make("FrozenLake-v1"))
