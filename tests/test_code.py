"""The code behind a cell: whatever of it changes, in whatever file, makes another cell."""

import sys
from importlib import metadata

import gymnasium
import pytest

from ucls.study import make_run_specs
from ucls.study.declaration import code
from ucls.study.declaration.code import digest
from ucls.study.declaration.run_spec import env_code_of

FILES = {
    "rooms/__init__.py": "from rooms.build import make\n",
    "rooms/build.py": "import far\nfrom . import walls\nfrom .deep.floor import *\ndef make():\n    import late\n",
    "rooms/walls.py": "import os, numpy\nimport importlib\nimportlib.import_module('by_name')\n",
    "rooms/unused.py": "",
    "rooms/deep/__init__.py": "",
    "rooms/deep/floor.py": "from .. import above\n",
    "rooms/above.py": "",
    "far.py": "import near\nimport missing_module\n",
    "near.py": "import far\n",
    "late.py": "",
    "by_name.py": "",
}


@pytest.fixture
def rooms(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("file", [file for file in FILES if file != "rooms/unused.py"])
def test_a_change_in_any_file_that_is_imported_makes_another_digest(rooms, file):
    before = digest(["rooms"])
    assert digest(["rooms"]) == before
    (rooms / file).write_text(FILES[file] + "x = 1\n")
    assert digest(["rooms"]) != before
    (rooms / file).write_text(FILES[file])
    assert digest(["rooms"]) == before


def test_what_is_not_imported_does_not_count_and_nothing_is_imported(rooms):
    before = digest(["rooms"])
    (rooms / "rooms" / "unused.py").write_text("x = 1\n")
    (rooms / "other.py").write_text("")
    assert digest(["rooms"]) == before
    assert not {"rooms", "far", "late"} & sys.modules.keys()


def test_versions_of_installed_packages_count(rooms, monkeypatch):
    before = digest(["rooms"])
    monkeypatch.setattr(metadata, "version", lambda name: "99.0")
    code._version.cache_clear()
    assert digest(["rooms"]) != before
    code._version.cache_clear()


@pytest.mark.parametrize(
    "change",
    [{"entry_point": "far_rooms:Room"}, {"kwargs": {"size": 3}}, {"max_episode_steps": 7}],
    ids=["entry point", "arguments", "time limit"],
)
def test_what_an_id_is_registered_with_counts(monkeypatch, change):
    about = {"id": "Rooms-v0", "entry_point": "near_rooms:Room", "kwargs": {"size": 2}, "max_episode_steps": 5}
    monkeypatch.setitem(gymnasium.registry, "Rooms-v0", gymnasium.envs.registration.EnvSpec(**about))
    before = env_code_of("Rooms-v0")
    assert env_code_of("Rooms-v0") == before
    monkeypatch.setitem(gymnasium.registry, "Rooms-v0", gymnasium.envs.registration.EnvSpec(**about | change))
    assert env_code_of("Rooms-v0") != before


def test_the_module_of_an_entry_point_counts(rooms, monkeypatch):
    spec = gymnasium.envs.registration.EnvSpec("Rooms-v0", entry_point="rooms.build:make")
    monkeypatch.setitem(gymnasium.registry, "Rooms-v0", spec)
    before = env_code_of("Rooms-v0")
    (rooms / "near.py").write_text("x = 1\n")
    assert env_code_of("Rooms-v0") != before


def test_a_helper_of_an_algorithm_is_part_of_its_cells(tmp_path, monkeypatch):
    (tmp_path / "my_helped.py").write_text("from ucls.algorithms.sarsa import *\nimport my_helper\n")
    (tmp_path / "my_helper.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def cell(agent="my_helped"):
        return make_run_specs("ucls/RiverSwim-v0", agent, steps=10, seeds=[0])[0]

    before = cell()
    (tmp_path / "my_helper.py").write_text("step_size = 2\n")
    assert cell().id != before.id
    assert cell("sarsa").code == cell("sarsa").env_code == ""
