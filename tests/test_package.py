"""What is handed out: a wheel that has every file of the package, a source that has every file of the project."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import ucls

ROOT = Path(__file__).parents[1]
SOURCES = ("src", "tests", "docs", "docsite", "tools", "examples", "bench", "faults", ".ci", ".github")
LEFT = ("__pycache__", ".hypothesis")


def files_in(*folders):
    found = (path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix() for path in found if not set(LEFT) & set(path.parts)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The names of the files in the wheel and in the source, and what the wheel says of itself."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(out)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}
    subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    [wheel], [source] = out.glob("*.whl"), out.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as file:
        inside = set(file.namelist())
        [entries] = [name for name in inside if name.endswith("entry_points.txt")]
        told = file.read(entries).decode() + wheel.name
    with tarfile.open(source) as file:
        return inside, {name.partition("/")[2] for name in file.getnames()}, told


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built):
    inside = {name for name in built[0] if ".dist-info/" not in name}
    assert inside == {name.removeprefix("src/") for name in files_in("src/ucls")}
    assert {
        "ucls/py.typed",
        "ucls/paper/report/page.css",
        "ucls/agent/explain/maps.js",
        "ucls/paper/runs/winners.json",
    } <= inside


def test_the_wheel_has_the_command_and_the_version(built):
    assert "ucls = ucls.__main__:main" in built[2]
    assert f"ucls-{ucls.__version__}-py3-none-any.whl" in built[2]


def test_the_source_has_what_its_tests_and_its_makefile_need(built):
    files = files_in(*SOURCES) | {path.name for path in ROOT.iterdir() if path.suffix in (".md", ".toml", ".cff")}
    assert not files - built[1]
    assert {"Makefile", "LICENSE", ".ci/run", "tests/conftest.py"} <= built[1]
    assert not {name for name in built[1] if name.startswith((".venv", "out/", "runs/")) or "__pycache__" in name}


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("pyproject.toml", r'^version = "(.+)"$'),
        ("CITATION.cff", r"^version: (.+)$"),
        ("CHANGELOG.md", r"^## ([\d.]+)"),
    ],
)
def test_every_file_says_the_same_version(file, pattern):
    said = re.search(pattern, (ROOT / file).read_text(), re.M)
    assert said is not None
    assert said[1] == ucls.__version__


def test_test_files_import_neither_each_other_nor_the_benchmarks():
    apart = {"bench", *(path.stem for path in (ROOT / "tests").glob("*.py"))}
    for path in (ROOT / "tests").rglob("*.py"):
        named = re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(), re.MULTILINE)
        assert not apart & set(named), path.name
