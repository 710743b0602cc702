"""An exported policy gives the actions, means and radii of its agent, in a process that can import only NumPy."""

import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import ucls
from support.masked import Corridor
from support.uncompiled import run_uncompiled
from ucls import Agent, UserError
from ucls.algorithms import ALGORITHMS
from ucls.policy import Policy

OTHERS = {"lspi-rmax": {"return_max": 1.0}, "dgpq": {"r_max": 1.0}}
EXPORTED = ("ucls-exact", "ucls", "ucls-l", "gv-ucb", "rlsvi", "lspi-rmax", "sarsa", "lstd-sm", "lstd-cg", "dgpq")
TABLES = {*ALGORITHMS} - {*EXPORTED, "ucbootstrap", "ucls-plan", "ucls-deep"}
INDEXED = {"ucbvi", "ucrl2", "psrl"}  # by time: they explore as in the step of the episode that they are in
HERE = "import warnings\nfrom test_export import *\nwarnings.simplefilter('ignore')\n"
TILES = {"features": "tiles", "tilings": 3, "tiles": 2}
ALONE = """
import sys
sys.path[:0] = [{numpy!r}, {folder!r}]
import numpy as np
from policy import Policy
given = np.load("observations.npz")
found = {{}}
for name in given.files:
    policy = Policy(f"{{name}}.npz")
    found[name + ".mean"], found[name + ".radius"] = policy.value_estimates(given[name])
    found[name + ".action"] = policy.predict(given[name], deterministic=True)[0]
np.savez("found.npz", **found)
assert not {{"ucls", "numba", "gymnasium", "scipy"}} & set(sys.modules)
"""


class Line(gymnasium.Env):
    """A walk on a line with a number and a discrete part in each observation; actions are numbered from 5."""

    observation_space = gymnasium.spaces.Dict(
        {"place": gymnasium.spaces.Box(-1.0, 1.0, (2,)), "side": gymnasium.spaces.Discrete(2)}
    )
    action_space = gymnasium.spaces.Discrete(2, start=5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.clock = 0.0, 0
        return self._seen(), {}

    def step(self, action):
        self.clock += 1
        self.x += 0.1 * (2 * (action - 5) - 1) + 0.02 * self.np_random.standard_normal()
        return self._seen(), float(self.x > 0.5), abs(self.x) > 0.5, self.clock == 30, {}

    def _seen(self):
        return {"place": np.array([self.x, self.clock / 30 - 0.5], np.float32), "side": int(self.x > 0)}


def waves(observation):
    """Features of CartPole."""
    return np.concatenate([[1.0], np.cos(np.asarray(observation)), np.sin(np.asarray(observation))])


def agents():
    """An agent for every algorithm that can be exported, and for every kind of features."""
    yield from ((f"lake-{name}", "FrozenLake-v1", name, OTHERS.get(name, {})) for name in EXPORTED)
    yield "fourier", "CartPole-v1", "ucls-exact", {}
    yield "fourier-ucls", "CartPole-v1", "ucls", {}
    yield "fourier-rlsvi", "CartPole-v1", "rlsvi", {}
    yield "dgpq", "CartPole-v1", "dgpq", {"r_max": 1.0}
    yield "random", "CartPole-v1", "sarsa", {"features": "random_fourier", "n_features": 20}
    for hashing in ("blocks", "joint", "clipped"):
        settings = {**TILES, "hashing": hashing}
        yield f"tiles-{hashing}", "CartPole-v1", "ucls-exact", settings
        yield f"tiles-{hashing}-full", "CartPole-v1", "ucls-exact", {**settings, "table_size": 17}


def trained(env, algorithm, settings, steps=300):
    return Agent(env, algorithm, seed=1, **settings).learn(steps)


def seen(env, n=150):
    """Observations of a random walk, and of states that are far from all that an agent has met."""
    env = gymnasium.make(env)
    env.action_space.seed(2)
    found = [env.reset(seed=7)[0]]
    while len(found) < n:
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        found.append(env.reset()[0] if terminated or truncated else observation)
    if isinstance(env.observation_space, gymnasium.spaces.Box):
        found += [3.0 * found[0] + i for i in range(-3, 4)]
    return np.array(found)


def check_policies_act_alone(tmp_path):
    given, expected = {}, {}
    for name, env, algorithm, settings in agents():
        agent = trained(env, algorithm, settings, 150)
        agent.export(tmp_path / f"{name}.npz", runtime=True)
        given[name] = seen(env)
        expected[name] = (*agent.value_estimates(given[name]), agent.predict(given[name], deterministic=True)[0])
    np.savez(tmp_path / "observations.npz", **given)
    numpy = tmp_path / "numpy-only"
    numpy.mkdir()
    for part in Path(np.__file__).parents[1].glob("numpy*"):
        (numpy / part.name).symlink_to(part)
    code = ALONE.format(numpy=str(numpy), folder=str(tmp_path))
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=tmp_path, check=True, timeout=120)
    found = np.load(tmp_path / "found.npz")
    for name, (mean, radius, action) in expected.items():
        size = np.abs(mean).max() + np.abs(radius).max()
        np.testing.assert_allclose(found[f"{name}.mean"], mean, rtol=1e-9, atol=1e-12 * size, err_msg=name)
        np.testing.assert_allclose(found[f"{name}.radius"], radius, rtol=1e-9, atol=1e-12 * size, err_msg=name)
        best = np.sort(mean, axis=1)
        clear = best[:, -1] - best[:, -2] > 1e-9 * size  # a tie may be decided by the last digit
        np.testing.assert_array_equal(found[f"{name}.action"][clear], action[clear], err_msg=name)


def test_policies_act_alone_as_their_agents_do(tmp_path):
    run_uncompiled(f"{HERE}check_policies_act_alone(Path({str(tmp_path)!r}))")


def test_an_exploring_policy_takes_the_actions_of_its_agent(tmp_path):
    agent = trained("CartPole-v1", "ucls-exact", {})
    policy, given = Policy(agent.export(tmp_path / "policy")), seen("CartPole-v1")
    np.testing.assert_array_equal(policy.predict(given)[0], agent.predict(given)[0])


def check_tables():
    """Algorithms without a form of their own, also by what they maximize while they explore."""
    given = np.arange(16)
    for algorithm in TABLES:
        agent = trained("FrozenLake-v1", algorithm, {}, 60)
        with tempfile.TemporaryDirectory() as folder:
            policy = Policy(agent.export(Path(folder) / "policy"), seed=0)
        for found, expected in zip(policy.value_estimates(given), agent.value_estimates(given), strict=True):
            np.testing.assert_array_equal(found, expected, err_msg=algorithm)
        top = agent.learner.survey(given[:, None])[1]
        for acts in (policy, agent) if algorithm not in INDEXED else (policy,):
            actions = acts.predict(given)[0]
            np.testing.assert_array_equal(top[given, actions], top.max(axis=1), err_msg=algorithm)


def check_planners():
    """Every solver of ucls-plan, also without data."""
    for env, settings, steps in (
        ("FrozenLake-v1", {}, 100),
        ("CartPole-v1", {"order": 1}, 60),
        ("CartPole-v1", TILES, 60),
        ("CartPole-v1", {**TILES, "table_size": 17, "hashing": "clipped"}, 60),
        ("CartPole-v1", {**TILES, "tilings": 1, "noise_scale": 0}, 60),
        ("CartPole-v1", {}, 0),
        ("FrozenLake-v1", {}, 0),
    ):
        agent = Agent(env, "ucls-plan", seed=1, **{"return_max": 20.0, **settings}).learn(steps)
        with tempfile.TemporaryDirectory() as folder:
            check_planner(agent, seen(env, 60), Path(folder))
    with pytest.raises(UserError, match="use hashing=blocks"):
        Agent("CartPole-v1", "ucls-plan", **TILES, hashing="joint").export()


def check_planner(agent, given, folder):
    policy, means = Policy(agent.export(folder / "whole")), Policy(agent.export(folder / "means", intervals=False))
    mean, radius = agent.value_estimates(given)
    for found, expected in zip(policy.value_estimates(given), (mean, radius), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(means.value_estimates(given)[0], mean, rtol=1e-9, atol=1e-9)
    for deterministic, score in ((True, mean), (False, mean + radius)):
        expected = agent.predict(given, deterministic)[0]
        agent.learner.state.greedy[0] = 1
        found = Policy(agent.export(folder / "greedy")).predict(given, deterministic)[0]
        agent.learner.state.greedy[0] = 0
        clear = np.ptp(np.sort(score, axis=1)[:, -2:], axis=1) > 1e-9
        np.testing.assert_array_equal(found[clear], expected[clear])


def test_tables_are_exported_for_other_algorithms():
    run_uncompiled(f"{HERE}check_tables()")


def test_planners_are_exported_with_every_solver_and_explore_also_in_greedy_periods():
    run_uncompiled(f"{HERE}check_planners()")


@pytest.mark.parametrize("how", ["info", "observation"])
def test_masks_that_were_met_are_part_of_a_policy(tmp_path, how):
    agent = Agent(Corridor(how), "sarsa", seed=1).learn(200)
    policy = Policy(agent.export(tmp_path / "policy.npz"))
    np.testing.assert_array_equal(policy.value_estimates(range(6)), agent.value_estimates(range(6)))
    assert np.isnan(policy.value_estimates(0)[0]).tolist() == [True, True, False, True]
    assert {policy.predict(0)[0] for _ in range(50)} == {2}
    assert policy.predict(0, action_masks=[1, 0, 0, 0])[0] == 0
    if how == "observation":
        many = {"observation": np.array([2, 2]), "action_mask": np.array([[0, 0, 0, 1], [1, 0, 0, 0]])}
        assert policy.predict(many, deterministic=True)[0].tolist() == [3, 0]


def test_an_epsilon_greedy_policy_takes_other_actions_as_often_as_its_agent(tmp_path):
    agent = trained("FrozenLake-v1", "sarsa", {"epsilon": 0.5})
    policy = Policy(agent.export(tmp_path / "policy.npz"), seed=0)
    mean = policy.value_estimates(4)[0]
    ties = np.flatnonzero(mean == mean.max())
    others = np.mean([policy.predict(4)[0] not in ties for _ in range(4000)])
    assert others == pytest.approx(0.5 * (4 - len(ties)) / 4, abs=0.03)


def test_masked_actions_are_never_taken(tmp_path):
    policy = Policy(trained("FrozenLake-v1", "sarsa", {"epsilon": 0.5}).export(tmp_path / "policy.npz"), seed=0)
    for deterministic in (True, False):
        taken = {policy.predict(4, deterministic, action_masks=[False, True, False, True])[0] for _ in range(200)}
        assert taken <= {1, 3}
    with pytest.raises(ValueError, match="no action is allowed"):
        policy.predict(4, action_masks=[False] * 4)
    with pytest.raises(ValueError, match="needs 4 values for each observation"):
        policy.predict(4, action_masks=[True, False])
    with pytest.raises(ValueError, match="needs 4 values for each observation"):
        policy.predict([4, 5], action_masks=[[True] * 4] * 3)
    with pytest.raises(UserError, match=r"policy\.npz is not a saved agent"):
        Agent.load(tmp_path / "policy.npz")


def test_observations_are_read_as_the_agent_reads_them(tmp_path):
    env = Line()
    agent = Agent(env, "ucls-exact", seed=0).learn(300)
    policy = Policy(agent.export(tmp_path / "policy.npz"))
    one = {"place": [0.2, 0.1], "side": 1}
    batch = {"place": np.array([[0.2, 0.1], [-0.3, 0.4]]), "side": np.array([1, 0])}
    for given in (one, batch):
        for found, expected in zip(policy.value_estimates(given), agent.value_estimates(given), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert policy.predict(one, deterministic=True)[0] == agent.predict(one, deterministic=True)[0]
    assert type(policy.predict(one)[0]) is int
    with pytest.raises(ValueError, match="a mapping with the keys 'place', 'side'"):
        policy.predict({"place": [0.2, 0.1]})
    with pytest.raises(ValueError, match=r"the shape \(2,\)"):
        policy.predict({"place": [0.2, 0.1, 0.3], "side": 1})


def test_a_features_function_is_given_again(tmp_path):
    agent = Agent("CartPole-v1", "ucls-exact", seed=1, features=waves).learn(200)
    path, given = agent.export(tmp_path / "policy.npz"), seen("CartPole-v1")[3]
    for policy, observation in ((Policy(path, features=waves), given), (Policy(path), waves(given))):
        for found, expected in zip(policy.value_estimates(observation), agent.value_estimates(given), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_policy_of_mountain_car_is_far_smaller_than_its_agent(tmp_path):
    agent = Agent("MountainCar-v0", "ucls-exact", seed=0).learn(3000)
    whole, policy = agent.save(tmp_path / "agent"), agent.export(tmp_path / "policy")
    means = agent.export(tmp_path / "means", intervals=False)
    assert policy.stat().st_size < 250_000 < 10_000_000 < whole.stat().st_size
    assert means.stat().st_size < 40_000
    mean, radius = Policy(means).value_estimates([-0.5, 0.0])
    np.testing.assert_allclose(mean, agent.value_estimates([-0.5, 0.0])[0])
    assert np.isnan(radius).all()
    with pytest.raises(ValueError, match="exported without intervals"):
        Policy(means).predict([-0.5, 0.0])


def test_what_cannot_be_exported_is_refused_in_one_line(tmp_path):
    agent = trained("FrozenLake-v1", "ucbootstrap", {}, 50)
    with pytest.raises(UserError, match="with intervals=False") as error:
        agent.export(tmp_path / "policy.npz")
    assert "\n" not in str(error.value)
    path = agent.export(tmp_path / "policy.npz", intervals=False)
    np.testing.assert_allclose(Policy(path).value_estimates(4)[0], agent.value_estimates(4)[0], atol=1e-12)
    with pytest.raises(UserError, match=r"name it .*policy\.npz"):
        agent.export(tmp_path / "policy.zip")
    with pytest.raises(UserError, match="its values do not have the form of"):
        trained("CartPole-v1", "lsvi-ucb", {"order": 1}, 3).export(tmp_path / "policy")


def test_files_that_are_no_policy_are_refused_in_one_line(tmp_path):
    (tmp_path / "text.npz").write_text("no policy")
    np.savez(tmp_path / "other.npz", about=np.array("{}"))
    np.savez(tmp_path / "pickled.npz", about=np.array([{"a": 1}], dtype=object))
    for name in ("text.npz", "other.npz", "pickled.npz", "missing.npz"):
        with pytest.raises(ValueError, match="is not an exported policy"):
            Policy(tmp_path / name)
    np.savez(tmp_path / "newer.npz", about=np.array('{"format": 99}'))
    with pytest.raises(ValueError, match="use a newer policy"):
        Policy(tmp_path / "newer.npz")


def test_the_runtime_imports_only_the_standard_library_and_numpy():
    lines = Path(ucls.policy.__file__).read_text().splitlines()
    imported = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported == {"json", "collections", "pathlib", "typing", "numpy"}
