"""Files written before settings, features and metrics were renamed are read, and old names that are typed explained."""

import json

import numpy as np
import pytest

from ucls import Agent, make_run
from ucls._util.earlier import CHOICES, FEATURES, METRICS, SETTINGS, current, current_run
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.metrics import Metrics
from ucls.core.run import Run
from ucls.core.saving import checkpoint
from ucls.envs import ENVIRONMENTS, module_of
from ucls.errors import UserError
from ucls.features import FEATURES as NOW
from ucls.features import features_module
from ucls.settings import describe, resolve
from ucls.study import RunSpec, make_run_specs
from ucls.study.declaration.sweep import Winner
from ucls.study.runners.run_cell import run_cell

RIVER = "ucls/RiverSwim-v0"
EARLIER = {  # settings of an algorithm as files have them, and as they are now
    "ucls-exact": (
        {"m": 2.0, "factor": 0.5, "belief": 0.0},
        {"prior_visits": 2.0, "noise_scale": 0.5, "prior_scale": 0.0},
    ),
    "lspi-rmax": ({"m": 3, "gmax": 9.0}, {"m": 3, "return_max": 9.0}),
    "ucls": (
        {"learned": "counts", "initial": "stays", "averages": "sample"},
        {"covariance": "visit_counts", "initial_variance": "constant", "averages": "sample"},
    ),
    "rlsvi": ({"l": 0.5}, {"prior_precision": 0.5}),
    "ucbootstrap": ({"step": 0.2, "step_size": "plain"}, {"step_size": 0.2, "normalize_step": False}),
    "ucls-l": ({"step_size": "normalised", "fade": "all"}, {"normalize_step": True, "fade": "all"}),
    "lstd-cg": ({"regulariser": "out", "fading": "fading"}, {"regularizer": "outside", "eta_schedule": "1/t"}),
    "sarsa": (
        {"optimistic": "yes", "gmax": 7.0, "step_size": "normalized"},
        {"initial_value": 7.0, "normalize_step": True},
    ),
}


def names_of(cls):
    return {setting.name for setting in describe(cls)}


def test_every_present_name_exists_and_no_earlier_one_does():
    owners = {name: algorithm_module(name) for name in ALGORITHMS} | {name: features_module(name) for name in NOW}
    for owner, names in SETTINGS.items():
        known = names_of(owners[owner].Settings) if owner != "env" else set()
        for id in ENVIRONMENTS if owner == "env" else ():
            known |= names_of(module_of(id).Settings)
        assert set(names.values()) <= known
        assert not set(names) & known
    everywhere = set().union(*(names_of(module.Settings) for module in owners.values()), {"stochastic"})
    assert {new for new, _ in CHOICES.values()} <= everywhere
    assert set(FEATURES.values()) <= set(NOW)
    assert set(METRICS.values()) <= set(Metrics._fields)


@pytest.mark.parametrize("name", EARLIER)
def test_settings_get_their_present_names_and_are_valid(name):
    earlier, now = EARLIER[name]
    assert current(name, earlier) == now
    assert current(name, now) == now
    resolve(algorithm_module(name).Settings, now, {"return_max": 1.0})


def test_sarsa_that_was_not_optimistic_starts_from_0():
    assert current("sarsa", {"optimistic": "no", "gmax": 7.0}) == {"initial_value": 0.0}
    assert current("sarsa", {"optimistic": "yes"}) == {"initial_value": "return_max"}


def test_third_party_settings_keep_their_names():
    theirs = {"agent.m": 1, "features.memory": 2, "env.cutoff": 3, "agent.step_size": "plain"}
    assert current_run("my_agent", "my_features", "my:env", theirs) == theirs


def rewritten(run, **plan):
    """The checkpoint of a run as an earlier version wrote it."""
    about = run.about()
    old = {**about, "env_settings": {"cutoff": 9, "noise_sd": 0.02}, "plan": {**about["plan"], **plan}}
    return checkpoint.from_bytes(checkpoint.to_bytes(run.checkpoint(), old))


def test_a_checkpoint_with_earlier_names_continues_as_it_would_have():
    settings = {"noise_scale": 0.5, "prior_visits": 2, "time_limit": 9, "noise_std": 0.02, "table_size": 40}
    run = make_run(RIVER, "ucls-exact", seed=1, settings=settings)
    run.advance(50)
    own = {name: value for name, value in run.plan.settings.items() if name in ("return_max", "lambda")}
    own |= {"m": 2.0, "factor": 0.5, "belief": 1.0}
    tiles = {"memory" if name == "table_size" else name: value for name, value in run.plan.feature_settings.items()}
    old = Run.revive(*rewritten(run, settings=own, feature_settings=tiles))
    assert (old.plan, old.world) == (run.plan, run.world)
    np.testing.assert_array_equal(old.advance(100).rewards, run.advance(100).rewards)


def test_features_in_a_checkpoint_get_their_present_name(tmp_path):
    agent = Agent("CartPole-v1", "sarsa", features="random_fourier", n_features=10, seed=1).learn(20)
    about, arrays = checkpoint.load(agent.save(tmp_path / "agent"))
    renamed = {"n_features": "number", "length_scale": "width", "feature_seed": "draw"}
    plan = {**about["plan"], "features": "rbf"}
    plan["feature_settings"] = {renamed[name]: value for name, value in plan["feature_settings"].items()}
    checkpoint.save(tmp_path / "old.safetensors", {**about, "plan": plan}, arrays)
    assert Agent.load(tmp_path / "old").plan == agent.plan


def test_ucls_l_had_plain_step_sizes_before_there_was_a_setting():
    run = make_run(RIVER, "ucls-l", seed=1, settings={"normalize_step": False, "alpha": 0.3})
    run.advance(200)
    settings = {name: value for name, value in run.plan.settings.items() if name != "normalize_step"}
    about, _ = rewritten(run, settings=settings)
    assert about["plan"]["settings"]["normalize_step"] is False


def test_a_run_in_a_store_keeps_its_id_and_runs_with_its_settings():
    [now] = make_run_specs(RIVER, "sarsa", steps=60, seeds=[1], settings={"initial_value": 5, "time_limit": 7})
    renamed = {
        "env.time_limit": "env.cutoff",
        "env.noise_std": "env.noise_sd",
        "features.table_size": "features.memory",
    }
    settings = {renamed.get(name, name): value for name, value in now.settings}
    del settings["agent.initial_value"], settings["agent.normalize_step"]
    settings |= {"agent.optimistic": "yes", "agent.gmax": 5.0, "agent.step_size": "normalised"}
    text = json.dumps({**json.loads(now.json()), "settings": settings}, sort_keys=True, separators=(",", ":"))
    old = RunSpec.from_json(text)
    assert old.json() == text
    assert old.current_settings == dict(now.settings)
    assert run_cell(old).result.metrics == run_cell(now).result.metrics


def test_settings_found_by_an_earlier_sweep_are_read():
    trial = {"settings": {"step": 0.2}, "score": 1.0, "scores": [1.0], "diverged": 0}
    sizes = {"steps": 10, "runs": 1, "settings": {"step": 0.2}, "trials": [trial]}
    found = Winner.from_data({"label": "a", "agent": "ucbootstrap", "env": RIVER, "measure": "last_steps", **sizes})
    assert (found.metric, found.settings) == ("final_episode_length", {"step_size": 0.2})
    assert found.trials[0].settings == {"step_size": 0.2}
    assert Winner.from_data(found.as_data()) == found


@pytest.mark.parametrize(
    ("algorithm", "settings", "name"),
    [
        ("ucls-exact", {"m": 1}, "prior_visits"),
        ("sarsa", {"optimistic": "yes"}, "initial_value"),
        ("sarsa", {"memory": 9}, "table_size"),
    ],
)
def test_an_earlier_name_that_is_typed_is_refused_with_the_present_one(algorithm, settings, name):
    with pytest.raises(UserError, match=f"did you mean '{name}'"):
        make_run(RIVER, algorithm, settings=settings)
