"""The caption of the comparison says who is tuned."""

import re

import pytest

from ucls._util.palette import STYLES
from ucls.paper import evidence
from ucls.paper.beyond.comparison import contests, tuning
from ucls.paper.contents import PARTS
from ucls.paper.runs.groups import scale_of, winners
from ucls.paper.runs.sweeps import key_of
from ucls.study import Store


@pytest.fixture
def nothing(tmp_path):
    with Store(tmp_path / "none.sqlite", write=True) as store:
        yield evidence.Evidence(store, scale_of(2))


def test_the_caption_of_the_comparison_names_exactly_what_was_tuned(nothing):
    text = tuning()
    said = {
        (title, name)
        for titles, names in re.findall(r"Tuned in (.+?): (.+?)\.", text)
        for title in re.split(r", | and ", titles)
        for name in names.split("; ")
    }
    shown = [(one, key, group) for one in contests() for key, group in one.shown.items()]
    swept = {(one.title, STYLES[key][0]) for one, key, group in shown if has_settings_of_a_sweep(group)}
    assert said == swept
    [comparison] = [part for part in PARTS if part.name == "beyond"]
    assert [plot.caption.endswith(text) for plot in comparison.plots(nothing)] == [True]


def has_settings_of_a_sweep(group):
    """Whether the settings are those that a sweep with the same features chose."""
    try:
        found = winners().get(key_of(group.key, group.env, group.reading), {}).get("settings")
    except KeyError:  # an algorithm that no sweep knows
        return False
    return found is not None and found.items() <= dict(group.settings).items()
