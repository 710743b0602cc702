"""Settings: checked at the door, always of one type, and shown as they were given."""

from typing import Annotated, NamedTuple

import pytest

from ucls.algorithms import ucls
from ucls.errors import UserError
from ucls.settings import UNIT, Choice, Follows, Real, Whole, describe, distribute, parse, resolve, shown


class Settings(NamedTuple):
    lambda_: Annotated[float, UNIT, "decay"] = 0.9
    count: Annotated[int, Whole(2), "how many"] = 3
    kind: Annotated[int, Choice("plain", "odd"), "which"] = 0
    copy: Annotated[float, Real(), Follows("lambda"), "the same"] = 0.0
    best: Annotated[float, Real(), Follows("return_max"), "a fact"] = 0.0
    few: Annotated[int, Whole(1, 9), "not many"] = 1


FACTS = {"return_max": 100.0}


def test_whole_numbers_and_words_become_the_declared_type():
    hyper = resolve(Settings, {"lambda": 1, "count": "4", "kind": "odd"}, FACTS)
    assert hyper == (1.0, 4, 1, 1.0, 100.0, 1)
    assert [type(value) for value in hyper] == [float, int, int, float, float, int]


def test_what_is_shown_resolves_to_the_same():
    hyper = resolve(Settings, {"lambda": 0.5, "kind": "odd"}, FACTS)
    assert shown(hyper) == {"lambda": 0.5, "count": 3, "kind": "odd", "copy": 0.5, "best": 100.0, "few": 1}
    assert resolve(Settings, shown(hyper)) == hyper


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lambda": 1.1}, "'lambda' cannot be 1.1: give a number and >= 0 and <= 1"),
        ({"lambda": "nan"}, "'lambda' cannot be 'nan'"),
        ({"lambda": None}, "'lambda' cannot be None"),
        ({"lambda": True}, "'lambda' cannot be True"),
        ({"count": 2.5}, "an integer >= 2"),
        ({"count": 1}, "an integer >= 2"),
        ({"count": "inf"}, "'count' cannot be 'inf': give an integer >= 2"),
        ({"count": 1e300}, "'count' cannot be 1e+300"),
        ({"count": 10**400}, "'count' cannot be 1000"),
        ({"few": 10}, "'few' cannot be 10: give an integer >= 1 and <= 9"),
        ({"kind": "eve"}, "one of plain, odd"),
        ({"kindd": "odd"}, "did you mean 'kind'"),
    ],
)
def test_bad_values_are_named(given, message):
    with pytest.raises(UserError) as error:
        resolve(Settings, given, FACTS)
    assert message in str(error.value)


def test_a_fact_that_is_not_known_must_be_given():
    with pytest.raises(UserError, match="'best' has no default here: give one"):
        resolve(Settings)
    assert resolve(Settings, {"best": 7}).best == 7.0


def test_a_fact_that_is_not_known_may_have_a_value_otherwise():
    class Easy(NamedTuple):
        best: Annotated[float, Real(), Follows("return_max", otherwise=3.0), "a fact"] = 0.0

    assert resolve(Easy).best == 3.0
    assert resolve(Easy, facts=FACTS).best == 100.0


def test_two_owners_need_a_prefix():
    groups = {"agent": Settings, "env": Settings}
    with pytest.raises(UserError, match=r"ambiguous: write agent\.count or env\.count"):
        distribute({"count": 1}, groups)
    assert distribute({"env.count": 1}, groups) == {"agent": {}, "env": {"count": 1}}


def test_words_are_parsed_once_each():
    assert parse(["a=1", "b=x=y"]) == {"a": "1", "b": "x=y"}
    with pytest.raises(UserError, match="given twice"):
        parse(["a=1", "a=2"])


def test_the_papers_defaults():
    hyper = resolve(ucls.Settings)
    assert hyper[:7] == (0.1, 0.9, 0.001, 1e-4, 1.0, 0.01, 1.0)
    assert hyper.trace_threshold == hyper.beta
    assert {s.name for s in describe(ucls.Settings)} >= {"p", "lambda", "beta", "eta", "c_max", "b_step", "w_step"}
