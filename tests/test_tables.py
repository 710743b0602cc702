"""Tables in a terminal of any width: no number is cut, and no column is left out."""

import io
import re

import pytest
from rich.console import Console

from ucls.cli.output.show_study import show_comparison
from ucls.cli.output.tables import print_table
from ucls.study import parse_study
from ucls.study.compare import Group
from ucls.study.forecast import LINK, START, forecast

WIDTHS = (20, 40, 60, 80, 100, 200)
ENV = "ucls/SparseMountainCar-v0"
GROUPS = [
    Group(
        ENV, "ucls p=0.01 [beta=0.001]", "best_episode_length", 30, 2, 0, 1, 1, (-12345.678, -23456.7, -1234.56),
        (-1234567.8, 0, 0), (1.2345e-7, 0, 0), "sarsa", (-4321.5, -2345.6, -123.4), 0.00012, (0.51, 0.4, 0.6),
    ),
    Group(
        ENV, "sarsa", "best_episode_length", 29, 0, 0, 0, 0, (12345678.9, 1.25, 2.5), (54321.678, 0, 0),
        (None, None, None),
    ),
]  # fmt: skip
NUMBERS = "-12,346 -23,457..-1,235 -1,234,568 1.235e-07 -4,322 -2,346..-123.4 0.00012 0.51 12,345,679 1.25..2.5 54,322"


def shown(width, show):
    file = io.StringIO()
    show(Console(width=width, file=file, highlight=False))
    return file.getvalue()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_comparison_shows_every_number_and_column_whole(width):
    text = shown(width, lambda to: show_comparison(GROUPS, to))
    assert all(number in text.split() for number in NUMBERS.split())
    assert all(head in text for head in ("runs", "mean", "median", "IQM", "p", "better", "minus"))
    assert "…" not in text
    assert "[beta=0.001]" in text
    if width >= 80:
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_other_tables_show_every_word_whole(width):
    heads = ["label", "environment", "to run", "steps/s", "settings"]
    row = ["ucls p=0.01", ENV, "1,000", "123,456", "agent.p=0.01, agent.beta=0.001, features.tilings=32"]
    text = shown(width, lambda to: print_table(heads, [row, row], to=to))
    for word in " ".join(row).split():
        assert text.split().count(word) == 2
    assert "…" not in text


def test_an_empty_table_has_its_heads():
    assert re.search(r"study\s+cells\s+done", shown(40, lambda to: print_table(["study", "cells", "done"], [], to=to)))


def test_a_forecast_counts_the_start_of_workers_and_the_longest_run(tmp_path):
    text = 'name = "a"\nsteps = 100000\nseeds = "0-3"\n[[run]]\nalgorithm = "sarsa"\nenv = "ucls/RiverSwim-v0"\n'
    expected = forecast(parse_study(text), tmp_path / "none.sqlite", jobs=2)
    assert expected.start_seconds == START + LINK
    assert expected.minutes * 60 == pytest.approx(START + LINK + 2 * 1.0)
    many = forecast(parse_study(text), tmp_path / "none.sqlite", jobs=64)
    assert many.minutes * 60 == pytest.approx(START + LINK + 1.0), "a run is in one process"
