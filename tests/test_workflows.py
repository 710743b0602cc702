"""Workflows may read and no more, run what people run, and use actions of a fixed major version."""

import re
from pathlib import Path

import pytest

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


def test_a_bug_report_asks_for_what_the_doctor_says():
    assert "ucls doctor" in (ROOT / ".github" / "ISSUE_TEMPLATE" / "bug.yml").read_text()
