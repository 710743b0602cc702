"""Plots and figures: what is drawn, how it is labeled, and what its captions say."""

import html
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ucls
from support import plots
from ucls.paper.drawing.draw import draw
from ucls.paper.drawing.geometry import NONE, Entry, extent, few, legend, plain, runs_of, thinned, ticks
from ucls.paper.drawing.plot import Line, Panel, Plot


@pytest.mark.parametrize(
    "plot",
    [plots.learning(places=60), plots.sensitivity(), plots.crowd(), plots.nothing(), plots.panels(5), plots.panels(4)],
    ids=lambda plot: plot.name,
)
def test_every_kind_of_figure_is_drawn(plot, tmp_path):
    files = draw(plot, tmp_path / "a.b", (".png", ".svg"), dpi=60)
    assert [file.name for file in files] == ["a.b.png", "a.b.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert "<svg" in files[1].read_text(encoding="utf-8")


def words(plot, folder):
    """Every text in the picture: matplotlib draws letters as shapes, and leaves a comment that says which."""
    text = draw(plot, folder / "words", (".svg",))[0].read_text(encoding="utf-8")
    return [html.unescape(found) for found in re.findall("<!-- (.*?) -->", text)]


def test_picture_says_who_how_many_runs_what_it_was_made_with_and_the_optimum(tmp_path):
    said = words(plots.learning(places=60), tmp_path)
    assert {"UCLS", "Sarsa, optimistic", "optimum", "97.7", "0.222", "30 runs", "River Swim"} <= set(said)
    assert "quick: 30 runs of 50,000 steps; thin line: not all runs have a value there" in said
    assert said.count("UCLS") == 1, "one legend for all panels"


def test_points_and_curves_of_one_name_share_an_entry_of_the_legend():
    curve = Line("UCLS", "#0072B2", np.arange(3.0), np.ones(3))
    panels = tuple(
        Panel("", "", "", lines) for lines in ((curve, curve._replace(dash=True)), (curve._replace(points=True),))
    )
    assert legend(Plot("", "", "", panels)) == {
        Entry("UCLS", "#0072B2", False): False,
        Entry("UCLS", "#0072B2", True): False,
    }
    assert legend(Plot("", "", "", panels[1:])) == {Entry("UCLS", "#0072B2", False): True}


def test_picture_without_a_finished_run_says_so(tmp_path):
    assert words(plots.nothing(), tmp_path).count("no finished run") == 2
    assert words(plots.nothing()._replace(panels=()), tmp_path) == ["no finished run", "Nothing yet"]


def test_every_color_is_written_in_the_palette_and_nowhere_else():
    source = Path(ucls.__file__).parent
    files = [file for room in ("_util", "diagnostics", "paper") for file in (source / room).rglob("*.py")]
    assert [file.name for file in files if re.search("#[0-9A-Fa-f]{6}", file.read_text())] == ["palette.py"]


def test_looking_at_figures_as_data_does_not_load_matplotlib():
    code = "import sys, ucls.paper.report, ucls.paper.drawing.draw; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_same_numbers_give_the_same_files(tmp_path):
    plot = plots.sensitivity()
    endings = (".png", ".svg", ".pdf")
    once, twice = (draw(plot, tmp_path / name, endings, dpi=60) for name in ("once", "twice"))
    assert [file.read_bytes() for file in once] == [file.read_bytes() for file in twice]


def panel(center, **more):
    center = np.array(center, float)
    return Panel("", "", "", (Line("a", "#000000", np.arange(1.0, len(center) + 1), center),), **more)


def test_axes_hold_data_bands_and_optimum_and_obey_limits():
    left, right, bottom, top = extent(plots.learning().panels[1])
    assert (left, right) == (0, 50)
    assert top > 0.222
    assert extent(panel([2, 4], optimum=10)).top == pytest.approx(10.4)
    assert extent(panel([2, 4], limits=(None, 3)))[2:] == (pytest.approx(1.9), 3)
    assert extent(panel([0, 4])).bottom == 0
    low, high = extent(panel([-1, 0, 10, 1000], log_y=True))[2:]
    assert 5 < low < 10
    assert 1000 < high < 2000
    assert bottom < 0


def test_axes_of_constant_or_absent_data_have_a_width():
    for values in ([3, 3], [0, 0], [np.nan, np.nan], [np.inf, 1]):
        for log in (False, True):
            _, _, bottom, top = extent(panel(values, log_y=log))
            assert bottom < top
            assert len(ticks(bottom, top, log)) >= 2


def test_ticks_are_round_and_few():
    assert ticks(1e-5, 0.1, log=True) == [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    assert ticks(0, 0.24, log=False) == [0, 0.05, 0.1, 0.15, 0.2]
    assert len(ticks(1e-12, 1e12, log=True)) <= 7
    assert ticks(95, 99, log=True) == [95, 96, 97, 98, 99]


def test_plain_numbers_keep_their_digits():
    assert plain(100) == "100"
    assert plain(0.0001) == "0.0001"
    assert plain(0) == "0"
    assert plain(999.95) == "1,000"
    assert plain(np.nan) == NONE


def test_thinning_keeps_both_ends_and_every_array_in_step():
    at = np.arange(1000.0)
    line = thinned(Line("a", "#000000", at, 2 * at, at - 1, at + 1, at.astype(int)), 300)
    assert len(line.at) == 300
    assert (line.at[0], line.at[-1]) == (0, 999)
    np.testing.assert_array_equal(line.center, 2 * line.at)
    np.testing.assert_array_equal(line.runs, line.at)


def test_number_of_runs_is_said_and_places_with_fewer_are_found():
    one, other, _ = plots.learning().panels
    assert runs_of(other) == "30 runs"
    shorter = one.lines[0]._replace(runs=one.lines[0].runs // 2)
    assert runs_of(one._replace(lines=(shorter, one.lines[1]))) == "15 to 30 runs"
    assert few(one.lines[0])[0]
    assert not few(one.lines[0])[-1]
    assert runs_of(plots.crowd().panels[0]) == ""
