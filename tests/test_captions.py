"""Captions say what the code behind their figures does: who is tuned, and which numbers."""

import re

import pytest

from ucls._util.palette import STYLES
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.paper import evidence
from ucls.paper.beyond.comparison import contests, tuning
from ucls.paper.contents import PARTS
from ucls.paper.runs.groups import scale_of, winners
from ucls.paper.runs.sweeps import key_of
from ucls.settings import describe
from ucls.study import Store

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])")
FAMILIAR = {95.0, 1.0, 0.0}  # percent intervals, Figure 1 and Corollary 1, zero
DRAWN = [part for part in PARTS if part.draws]


@pytest.fixture
def nothing(tmp_path):
    with Store(tmp_path / "none.sqlite", write=True) as store:
        yield evidence.Evidence(store, scale_of(2))


def constants(value):
    """The numbers in the constants of a module, and of whatever they are made of."""
    if isinstance(value, bool | str):
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, dict):
        yield from constants([*value, *value.values()])
    elif isinstance(value, tuple | list):
        for each in value:
            yield from constants(each)


def known_to(part):
    """The numbers that a caption of this part may have: constants of its module and settings of its runs."""
    named = {name: value for name, value in vars(part.module).items() if name.isupper()}
    named |= {"smoothing": (evidence.EPISODES, evidence.REWARD_STEPS)}
    defaults = [setting.default for name in ALGORITHMS for setting in describe(algorithm_module(name).Settings)]
    runs = [[group.settings, group.steps] for group in part.module.groups()]
    return {*constants(named), *constants(defaults), *constants(runs)} | FAMILIAR


@pytest.mark.parametrize("part", DRAWN, ids=lambda part: part.name)
def test_every_number_of_a_caption_is_one_of_the_code_behind_it(part, nothing):
    known = known_to(part)
    for plot in part.plots(nothing):
        said = {word: float(word.replace(",", "")) for word in NUMBER.findall(f"{plot.title} {plot.caption}")}
        assert {word for word, value in said.items() if value not in known} == set(), plot.caption


@pytest.mark.parametrize("part", DRAWN, ids=lambda part: part.name)
def test_a_caption_says_tuned_or_untuned_where_its_runs_are(part, nothing):
    kinds = {group.tuned for group in part.module.groups()}
    for plot in part.plots(nothing):
        if re.search(r"\btuned\b", plot.caption):
            assert kinds == {True, False} or "Nothing is tuned" in plot.caption, plot.caption
        if "Nothing is tuned" in plot.caption:
            assert kinds == {False}


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
