"""The page for practitioners does what it says."""

import re
import warnings
from pathlib import Path

import ucls
from ucls.errors import Notice

PAGE = Path(__file__).parents[1] / "docs" / "practice.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Notice)
        for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S):
            exec(block, said)
    assert {path.name for path in tmp_path.iterdir()} == {
        "best.card.md",
        "best.safetensors",
        "last.card.md",
        "last.safetensors",
        "log.csv",
    }
    assert said["found"].mean == said["mean"]


def test_every_callback_is_on_the_page():
    for name in ucls.callbacks.__all__:
        assert name in PAGE.read_text() or name == "Log"
