"""Studies in third-party environments: declared, run anywhere, compared, and never confused with built-in ones."""

import json
import math
from importlib.util import find_spec

import pytest

from support import foreign
from support.studies import pretend, study_of
from ucls.core.learner import Learner
from ucls.errors import UserError
from ucls.study import RunSpec, Store, make_run_specs, parse_study, run_study
from ucls.study.compare import compare_study
from ucls.study.forecast import forecast

LAKES = """name = "lakes"
steps = 60
seeds = "0-1"
[[run]]
algorithm = ["ucls-exact", "sarsa"]
env = ["FrozenLake-v1", "lakes:make_lake"]
set = { "env.is_slippery" = false }
[[run]]
algorithm = "sarsa"
env = "CartPole-v1"
low = [-2.4, -3, -0.21, -3]
high = [2.4, 3, 0.21, 3]
discount = 0.0
[[run]]
algorithm = "sarsa"
env = ["CliffWalking-v1", "ucls/RiverSwim-v0"]
"""


def test_cells_of_ours_keep_their_ids():
    known = {"ucls/RiverSwim-v0": "b10329ebb6157723abf9ddc5"}
    for env, id in known.items():
        cell = make_run_specs(env, "ucls-exact", steps=1000, seeds=[3], settings={"env.noise_std": 0})[0]
        assert cell.id == id


def test_what_is_said_of_an_environment_is_part_of_the_cell(lakes):
    def cell(env="FrozenLake-v1", settings={}, **more):
        return make_run_specs(env, "sarsa", steps=10, seeds=[0], settings=settings, **more)[0]

    pole = {"low": [-1.0] * 4, "high": [1.0] * 4}
    cells = [
        cell(),
        cell(settings={"env.is_slippery": False}),
        cell(settings={"env.is_slippery": 0}),
        cell(discount=0),
        cell(discount=0.5),
        cell("CartPole-v1", **pole),
        cell("CartPole-v1", **pole | {"high": [1, 1, 1, 2]}),
        cell("lakes:make_lake"),
        cell("lakes:Lake"),
    ]
    assert len({each.id for each in cells}) == len(cells)
    for each in cells:
        again = RunSpec.from_json(each.json())
        assert (again, again.id) == (each, each.id)
    assert cells[7].env_code != ""
    assert cells[1].settings[-1] == ("env.is_slippery", False)


def test_bounds_that_nobody_gives_are_found_once_for_all_seeds():
    cells = make_run_specs("CartPole-v1", "sarsa", steps=10, seeds=range(3), high=[math.nan, 9.0, math.inf, math.nan])
    low, high = cells[0].low, cells[0].high
    assert [cell.low for cell in cells] == [low] * 3
    assert (low[0], high[0], high[1]) == (None, None, 9.0)
    assert low[2] < 0 < high[2] < 1  # an infinite bound is none, whatever the environment says
    assert low[3] < -1 < 1 < high[3]
    assert RunSpec.from_json(cells[0].json()) == cells[0]


def test_lists_of_agents_and_environments_make_a_group_each(lakes):
    study = parse_study(LAKES)
    groups = [(member.label, member.cell.env) for member in study.members if member.cell.seed == 0]
    assert groups == [
        ("ucls-exact", "FrozenLake-v1"),
        ("ucls-exact", "lakes:make_lake"),
        ("sarsa", "FrozenLake-v1"),
        ("sarsa", "lakes:make_lake"),
        ("sarsa", "CartPole-v1"),
        ("sarsa", "CliffWalking-v1"),
        ("sarsa", "ucls/RiverSwim-v0"),
    ]
    labeled = LAKES.replace("set = {", 'label = "dry"\nset = {')
    assert {member.label for member in parse_study(labeled).members} == {"dry ucls-exact", "dry sarsa", "sarsa"}


def test_settings_of_an_environment_may_be_a_table():
    text = 'name = "t"\nsteps = 5\nseeds = 0\n[[run]]\nalgorithm = "sarsa"\nenv = "FrozenLake-v1"\n'
    whole = parse_study(text + 'set = { alpha = 0.2, "env.is_slippery" = [true, false] }')
    parts = parse_study(text + "[run.set]\nagent.alpha = 0.2\nenv.is_slippery = [true, false]")
    assert whole.members == parts.members
    assert [member.label for member in parts.members] == ["sarsa env.is_slippery=true", "sarsa env.is_slippery=false"]
    with pytest.raises(UserError, match=r"line 7: 'set' is invalid: setting 'env.is_slippery' is given twice"):
        parse_study(text + '"set" = { "env.is_slippery" = true, env.is_slippery = false }', "f.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"FrozenLake-v1", ', '"FrozenLak-v1", ', "line 6: unknown environment 'FrozenLak-v1'"),
        ("lakes:make_lake", "no_lakes:make", "line 6: module 'no_lakes' cannot be imported, ModuleNotFoundError"),
        ("lakes:make_lake", "lakes:make_lak", "line 6: module 'lakes' has no callable 'make_lak'"),
        ("lakes:make_lake", "lakes:nothing", "line 6: lakes:nothing returned 3, which is not an environment"),
        ("lakes:make_lake", "lakes:dry", "line 6: lakes:dry cannot be made: RuntimeError: no water"),
        ('"env.is_slippery"', '"env.slippery"', "line 7: unknown setting 'env.slippery': did you mean 'env.is_sl"),
        ('"env.is_slippery"', "env.slippery", "line 7: unknown setting 'env.slippery': did you mean 'env.is_sl"),
        ('"env.is_slippery"', "is_slippery", "line 7: unknown setting 'is_slippery'"),
        (
            '["ucls-exact", "sarsa"]',
            '["ucls-exact", "sara"]',
            "line 5: unknown algorithm 'sara': did you mean 'sarsa'?",
        ),
        ('["ucls-exact", "sarsa"]', "[]", "line 5: 'algorithm' is invalid"),
        ("low = [-2.4, ", "low = [", "line 11: low and high must have 4 numbers each, not 3"),
        ("low = [-2.4, ", "low = ['x', ", "line 11: 'low' is invalid"),
        ("low = [-2.4, ", "low = [3, ", "line 11: every number in low must be below"),
        ("discount = 0.0", "discount = 2", "line 13: 'discount' is invalid"),
        ("discount = 0.0", 'probe = "start"', "line 13: probe requires a known optimum"),
        ('-v1", "ucls/River', '-v1", "ucls/Rive', "line 16: unknown environment 'ucls/RiveSwim-v0'"),
        ('"CartPole-v1"', '"ucls/RiverSwim-v0"', "line 11: low, high and discount are for third-party environments"),
        ('"CartPole-v1"', '"Pendulum-v1"', "line 8: the action space is Box"),
    ],
)
def test_what_makes_no_environment_is_one_line_with_its_place(lakes, old, new, said):
    with pytest.raises(UserError) as caught:
        parse_study(LAKES.replace(old, new, 1), "f.toml")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_study_is_run_compared_and_exported(tmp_path):
    foreign.write_lakes(tmp_path)
    (tmp_path / "lakes.toml").write_text(LAKES)
    ran = foreign.command(tmp_path, "study", "run", "lakes.toml", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["done"] == 14
    assert json.loads(foreign.command(tmp_path, "study", "run", "lakes", "--json").stdout)["ran"] == 0
    for module in ("lakes", "muddy", "broken", "gone"):  # what is in a store can be looked at where they are not
        (tmp_path / f"{module}.py").unlink()
    groups = json.loads(foreign.command(tmp_path, "study", "compare", "lakes", "--json").stdout)["groups"]
    measures = {group["env"]: group["metric"] for group in groups}
    assert measures["ucls/RiverSwim-v0"] == "reward"
    assert measures["lakes:make_lake"] == "final_return"
    assert foreign.command(tmp_path, "study", "export", "lakes").stdout.count("\n") == 15
    assert json.loads(foreign.command(tmp_path, "study", "status", "lakes", "--json").stdout)["done"] == 14
    shown = json.loads(foreign.command(tmp_path, "study", "show", "lakes", "--json").stdout)
    assert len(shown["groups"]) == 7
    gone = foreign.command(tmp_path, "study", "run", "lakes")
    assert (gone.returncode, "module 'lakes' cannot be imported" in gone.stderr) == (2, True)


SAME = """
import numpy as np
from ucls import Agent
from ucls.core.metrics import compute_metrics
from ucls.study import make_run_specs
from ucls.study.storage.partial import Checkpoints
from ucls.study.runners.run_cell import run_cell
from pathlib import Path

settings = {"env.is_slippery": False}
(cell,) = make_run_specs("lakes:make_lake", "ucls-exact", steps=300, seeds=[5], settings=settings, resolution=1)
agent = Agent("lakes:make_lake", "ucls-exact", seed=5, settings=settings)
happened = agent.advance(300)
whole = run_cell(cell).result
assert whole.metrics == compute_metrics(happened)
assert np.array_equal(whole.arrays["curve"], happened.rewards)
asked = iter([False, False, True])
folder = Path("partial")
assert run_cell(cell, Checkpoints(folder, 0.0), lambda: next(asked)) is None
assert not folder.exists()
again = run_cell(cell, Checkpoints(folder, 0.0)).result
assert again.metrics == whole.metrics
assert all(np.array_equal(again.arrays[name], whole.arrays[name]) for name in whole.arrays)
"""


def test_a_cell_is_the_run_of_an_agent_and_a_stopped_one_ends_with_the_same_numbers(tmp_path):
    foreign.python(foreign.write_lakes(tmp_path), SAME)


CHANGED = """
from ucls.errors import UserError
from ucls.study import make_run_specs
from ucls.study.runners.run_cell import run_cell

(cell,) = make_run_specs("lakes:make_lake", "sarsa", steps=5, seeds=[0])
try:
    run_cell(cell._replace(env_code="another"))
except UserError as error:
    assert "the code of 'lakes:make_lake', or of a package that it uses, has changed" in str(error)
else:
    raise AssertionError
kept = run_cell(make_run_specs("FrozenLake-v1", "sarsa", steps=5, seeds=[0], keep=True)[0]).result.learner
from ucls import Agent
from ucls.core.saving import checkpoint
assert Agent.revive(*checkpoint.from_bytes(kept)).steps == 5
"""


def test_a_changed_module_is_refused_and_a_learner_can_be_kept(tmp_path):
    foreign.python(foreign.write_lakes(tmp_path), CHANGED)


def test_runs_that_end_no_episode_are_compared_by_all_of_their_reward(tmp_path):
    cells = make_run_specs("FrozenLake-v1", "sarsa", steps=10, seeds=range(3))
    with Store(tmp_path / "s.sqlite", write=True) as store:
        run_study(store, study_of(cells), pretend(), quiet=True)
        (group,) = compare_study(store.rows("s"))
    assert (group.metric, group.diverged, group.mean[0]) == ("mean_return", 0, 10.0)


def test_a_forecast_expects_no_compiled_speed_of_a_stranger(tmp_path):
    study = study_of(make_run_specs("FrozenLake-v1", "sarsa", steps=10_000, seeds=[0]))
    assert forecast(study, tmp_path / "none.sqlite", 1).groups[0].speed <= 5_000


SWEPT = """
from pathlib import Path
from ucls.study import Store, parse_study, run_study
from ucls.study.runners.base import outcome_of

def here(cells, checkpoints, stop):
    return (outcome_of(cell, checkpoints) for cell in cells)

study = parse_study('''name = "swept"
steps = 60
seeds = "0-1"
[sweep]
runs = 1
[[run]]
algorithm = "sarsa"
env = "lakes:make_lake"
set = { alpha = [0.1, 0.5], "env.steps" = 5 }
''')
with Store("s.sqlite", write=True) as store:
    tally = run_study(store, study, here, quiet=True)
    assert (tally.done, tally.failed) == (2, 0)
    (winner,) = store.choices("swept")
    assert winner.metric == "final_return" and len(winner.trials) == 2
    assert all(row.metrics.episodes >= 12 for row in store.rows("swept"))
"""


def test_a_sweep_tunes_in_an_environment_that_is_not_ours(tmp_path):
    foreign.python(foreign.write_lakes(tmp_path), SWEPT)


ELSEWHERE = """
from pathlib import Path
from ucls.study import Member, Store, Study, make_run_specs, run_study
from ucls.study.runners.local import local_runner
from ucls.study.runners.{module} import {runner}

if __name__ == "__main__":
    cells = make_run_specs("lakes:make_lake", "sarsa", steps=200, seeds=range(3), settings={{"env.is_slippery": False}})
    found = []
    for name, runner in (("here", local_runner(1)), ("there", {made})):
        with Store(name + ".sqlite", write=True) as store:
            tally = run_study(store, Study("s", tuple(Member("a", cell) for cell in cells)), runner, quiet=True)
            assert (tally.done, tally.failed) == (3, 0), store.failures("s")
            found.append(store.digests("s"))
    assert found[0] == found[1]
"""


@pytest.mark.parametrize(
    ("module", "runner", "made"),
    [
        pytest.param("ray", "ray_runner", "ray_runner('local', 1)", id="ray", marks=pytest.mark.slow),
        pytest.param("slurm", "slurm_runner", "slurm_runner(jobs=1, executor='local')", id="submitit"),
    ],
)
def test_other_runners_make_the_same_of_a_factory(tmp_path, module, runner, made):
    if find_spec("ray" if module == "ray" else "submitit") is None:
        pytest.skip(f"{module} is not installed")
    foreign.write_lakes(tmp_path)
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE.format(module=module, runner=runner, made=made))
    foreign.python(tmp_path, "import runpy; runpy.run_path('elsewhere.py', run_name='__main__')")


def test_a_study_is_declared_without_building_an_agent(monkeypatch):
    """Arrays are allocated, and kernels loaded, where runs are executed."""

    def refuse(*_):
        raise AssertionError("a learner was built")

    monkeypatch.setattr(Learner, "__init__", refuse)
    [cell] = make_run_specs("FrozenLake-v1", "sarsa", steps=10, seeds=[0])
    assert dict(cell.settings)["agent.alpha"] > 0
    with pytest.raises(UserError, match="low, high and discount are for third-party environments"):
        make_run_specs("ucls/RiverSwim-v0", "sarsa", steps=10, seeds=[0], discount=0.5)
