"""Importing costs little, and environments are Gymnasium's whichever of the two comes first."""

import subprocess
import sys

import pytest

import ucls
from support.commands import HEAVY
from support.commands import ucls as command


def imported_by(code):
    told = f"import sys\n{code}\nprint([name for name in {HEAVY} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    "code", ["import ucls", "import ucls.cli", "import ucls.envs", "import ucls\nucls.UserError, dir(ucls)"]
)
def test_nothing_heavy_is_imported_before_it_is_needed(code):
    assert imported_by(code) == "[]"


@pytest.mark.parametrize(
    "first", ["import ucls, gymnasium", "import gymnasium, ucls", "import gymnasium as g, ucls as u"]
)
def test_environments_are_registered_whichever_is_imported_first(first):
    code = f"{first}\nimport gymnasium\nprint(gymnasium.make('ucls/RiverSwim-v0').spec.id)"
    told = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "ucls/RiverSwim-v0\n"


def test_gymnasium_can_import_the_package_by_itself():
    code = "import gymnasium\nprint(gymnasium.make('ucls:ucls/RiverSwim-v0').spec.id)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "ucls/RiverSwim-v0\n"


def test_the_version_is_told():
    assert command("--version").stdout == f"ucls {ucls.__version__}\n"
