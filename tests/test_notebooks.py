"""The notebooks run from top to bottom, and what they show is HTML; the progress bar of a notebook."""

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import ucls
from ucls._util import notebook
from ucls.agent.inference import Estimates
from ucls.core.history import NOTHING
from ucls.core.progress import Progress

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))


def run(path):
    """Run the cells of a notebook, and return the HTML of what each ends with."""
    names, shown = {}, []
    for cell in json.loads(path.read_text())["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert not cell["outputs"], f"{path.name}: outputs are not kept"
        code = ast.parse("".join(cell["source"]))
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, path.name, "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), path.name, "eval"), names)
        shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else "")
    return shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_pictures(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = [html for html in run(path) if html]
    for html in shown:
        HTMLParser().feed(html)
    if path.stem == "practitioner":
        agent, estimates, maps = shown
        assert "<td>ucls-plan</td>" in agent
        assert "return of each episode (2,000 steps" in agent
        assert estimates.count("<circle") == 4
        assert maps.startswith("<iframe srcdoc=")
        assert "return 1.00" in capsys.readouterr().out
    else:
        study, history = shown
        assert "<td>sarsa</td><td>FrozenLake-v1</td><td>1,000</td><td>8</td>" in study
        assert "<polyline" in history
        assert "ucls-exact" in capsys.readouterr().out


def test_an_interval_is_drawn_from_mean_minus_radius_to_mean_plus_radius():
    html = notebook.intervals([("a", 0.0, 1.0), ("b", 3.0, 1.0)])
    ends = [float(x) for x in re.findall(r'x[12]="([\d.]+)"', html)]
    assert ends == pytest.approx([100.0, 100.0 + 260.0 * 2 / 5, 100.0 + 260.0 * 3 / 5, 360.0])


def test_what_has_no_picture_is_shown_in_words():
    assert NOTHING._repr_html_() == "<p>0 steps, 0 episodes</p>"
    batch = Estimates(np.zeros((2, 2)), np.ones((2, 2)))
    assert batch._repr_html_().startswith("<pre>Estimates(")
    masked = Estimates(np.array([1.0, np.nan]), np.array([0.5, np.nan]))
    assert masked._repr_html_().count("<circle") == 1


def test_the_progress_bar_of_a_notebook_shows_how_far_the_run_is(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda content, raw: shown.append(content))
    kernel, display = ModuleType("IPython"), ModuleType("IPython.display")
    kernel.get_ipython = type("ZMQInteractiveShell", (), {})
    display.display = lambda content, raw, display_id: shown.append(content) or handle
    monkeypatch.setitem(__import__("sys").modules, "IPython", kernel)
    monkeypatch.setitem(__import__("sys").modules, "IPython.display", display)
    with Progress(3) as bar:
        for done in range(1, 4):
            bar.update(done, done // 2, float(done))
    assert shown[0]["text/plain"] == "0 of 3 steps, 0 episodes, reward 0"
    assert shown[-1]["text/plain"] == "3 of 3 steps, 1 episodes, reward 3"
    assert '<progress value="3" max="3">' in shown[-1]["text/html"]


def test_names_from_files_cannot_add_markup_to_a_notebook():
    assert notebook.table([["<b>", 1]]) == "<table><tr><td>&lt;b&gt;</td><td>1</td></tr></table>"
    assert notebook.Page('"><script>')._repr_html_().startswith('<iframe srcdoc="&quot;&gt;&lt;script&gt;"')
    assert ucls.__version__
