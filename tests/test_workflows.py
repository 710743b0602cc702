"""Workflows may read and no more, run what people run, and use actions of a fixed major version."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_may_only_read_and_its_actions_have_a_fixed_version(file):
    text = file.read_text()
    assert "\npermissions:\n  contents: read\n" in text
    assert text.count("permissions:") == 1
    assert "pull_request_target" not in text
    assert "secrets." not in text
    used = re.findall(r"uses: (\S+)", text)
    assert used
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", action) for action in used), used
    assert text.count("persist-credentials: false") == sum("checkout" in action for action in used)


def commands(workflow):
    """What the jobs of a workflow run: (system, command, environment), without comments."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text())["jobs"].values()
    steps = [(job["runs-on"], step) for job in jobs for step in job["steps"]]
    return [(system, step["run"], step.get("env", {})) for system, step in steps if "run" in step]


def test_constraints_are_plain_versions_of_everything_that_the_package_needs():
    """No addresses, hashes, paths or markers."""
    comment, *lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert comment.startswith("#")
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[\w.]+", line)] == []
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.split(r"[\[><=]", requirement)[0].lower() for requirement in needed} - {"ucls"}
    assert names - pinned == set()


def test_constraints_are_within_what_the_package_allows():
    from packaging.requirements import Requirement

    lines = (line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()[1:])
    pinned = {name.lower(): version for name, version in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in map(Requirement, project["dependencies"]):
        assert requirement.specifier.contains(pinned[requirement.name]), requirement


def test_the_lowest_versions_are_those_of_every_direct_dependency():
    lowest = runpy.run_path(str(ROOT / ".ci" / "lowest"))["lowest"]
    assert list(lowest(["numba>=0.61,<0.69", "gymnasium >= 1.1", "free"])) == ["numba==0.61", "gymnasium==1.1"]
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert len(list(lowest(dependencies))) == len(dependencies)


def test_numba_has_an_upper_bound_that_the_recorded_version_is_just_below():
    """A version that nobody tried may lack a private hook: the bound is raised with constraints.txt."""
    [bound] = re.findall(r'"numba>=[\d.]+,<0\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    [tried] = re.findall(r"^numba==0\.(\d+)\.", (ROOT / "constraints.txt").read_text(), re.M)
    assert int(bound) == int(tried) + 1


def test_every_python_that_the_package_names_is_tested():
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    tested = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "test.yml").read_text())
    assert tested is not None
    assert re.findall(r"3\.\d+", tested[1]) == named


def test_what_workflows_run_is_there():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    for command in re.findall(r"run: (.+?)(?:  #.*)?$", "\n".join(file.read_text() for file in WORKFLOWS), re.M):
        first, *words = command.split()
        assert set(words) <= set(targets) if first == "make" else (ROOT / first).is_file(), command


DATED = "## 1.2 (2026-11-18)\n\n- New.\n\n## 1.1 (2026-01-01)\n\n- Old.\n"


def test_a_tag_with_a_dated_section_in_the_changelog_is_released_with_that_section():
    notes = runpy.run_path(str(ROOT / ".ci" / "release"))["notes"]
    assert notes("v1.2", "1.2", DATED) == "- New."
    assert commands("release") == [
        ("ubuntu-latest", "make release", {"CONSTRAINTS": "constraints.txt", "TAG": "${{ github.ref_name }}"})
    ]


@pytest.mark.parametrize(
    ("tag", "version", "changelog", "said"),
    [
        ("v1.3", "1.2", DATED, "tag v1.2"),
        ("v1.3", "1.3", DATED, "no section '## 1.3"),
        ("v1.2", "1.2", DATED.replace("2026-11-18", "unreleased"), "give it a date"),
        ("v1.2", "1.2", DATED.replace("- New.", ""), "is empty"),
    ],
)
def test_any_other_tag_is_refused_in_one_line(tag, version, changelog, said):
    notes = runpy.run_path(str(ROOT / ".ci" / "release"))["notes"]
    with pytest.raises(SystemExit, match=re.escape(said)) as refused:
        notes(tag, version, changelog)
    assert "\n" not in str(refused.value)
