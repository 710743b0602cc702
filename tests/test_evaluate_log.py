"""Logs in files: one command gives values and intervals, and one line says what is wrong with a file."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from faults.torture import logs
from support.commands import ucls
from support.params import always
from ucls.errors import UserError
from ucls.evaluation import ESTIMATORS, LSTD
from ucls.evaluation.logs.logfile import _columns, evaluate

GOOD = "state,reward,discount,state_next\n0,1,0.9,1\n1,2,0.9,0\n0,2,0.9,1\n1,1,0,\n0,0,0.9,0\n0,1,0.9,1\n"


@pytest.fixture
def log(tmp_path):
    """Write a log and return its path."""

    def write(text, name="log.csv"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_one_command_does_what_five_lines_do(log):
    found = json.loads(ucls("evaluate-log", log(GOOD), "--features", "one_hot", "--lambda", 0.5, "--json").stdout)
    x, x_next = np.array([[0], [1], [0], [1], [0], [0]]), np.array([[1], [0], [1], [0], [0], [1]])
    lstd = LSTD(size=2, lambda_=0.5)
    lstd.observe_batch(x, [1, 2, 2, 1, 0, 1], [0.9, 0.9, 0.9, 0, 0.9, 0.9], x_next)
    value, low, high = lstd.interval([0], confidence=0.9)
    row = found["rows"][0]
    assert row == {
        "x": [0.0],
        "visits": 4,
        "value": pytest.approx(value),
        "low": pytest.approx(low),
        "high": pytest.approx(high),
    }
    assert (found["transitions"], found["rank"], found["breaks"], found["lambda"], found["confidence"]) == (
        6,
        2,
        0,
        0.5,
        0.9,
    )


def test_the_table_is_readable_and_warns_of_breaks(log):
    text = ucls("evaluate-log", log(GOOD.replace("0,2,0.9,1", "0,2,0.9,0")), "--features", "one_hot").stdout
    assert "6 transitions; rank 2 of 2 features" in text
    assert "in 1 transition, x differs from the preceding x_next:" in text


def test_columns_affine_and_start(log):
    lines = "a,b,reward,discount,start,a_next,b_next\n" + "".join(
        f"{i % 3},{i % 2},{i},0.5,{int(i % 5 == 0)},{(i + 1) % 3},{(i + 1) % 2}\n" for i in range(30)
    )
    columns = json.loads(ucls("evaluate-log", log(lines), "--json").stdout)
    assert (columns["features"], columns["columns"], len(columns["rows"])) == (2, ["a", "b"], 6)
    affine = json.loads(ucls("evaluate-log", log(lines), "--features", "affine", "--rows", 2, "--json").stdout)
    assert (affine["features"], len(affine["rows"])) == (3, 2)


def test_arrays_are_read_and_the_unknown_is_null(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, x=[[0], [1], [0], [2]], reward=[1.0, 2, 3, 4], discount=[0.0, 0, 0, 0], x_next=np.zeros((4, 1), int))
    rows = {tuple(row["x"]): row for row in json.loads(ucls("evaluate-log", path, "--json").stdout)["rows"]}
    assert rows[0,]["value"] == pytest.approx(2.0)
    assert rows[0,]["low"] < 2.0 < rows[0,]["high"]
    assert rows[1,]["high"] is None  # seen once
    assert "unknown" in ucls("evaluate-log", path).stdout


def test_importance_ratios_are_read(log):
    weighed = GOOD.replace("state_next\n", "state_next,rho\n")
    weighed = weighed.splitlines()[0] + "\n" + "".join(f"{line},0.5\n" for line in weighed.splitlines()[1:])
    found = evaluate(log(weighed), 0.1, 0.9, "sandwich", "chebyshev", "one_hot", 5)
    assert found.lstd._log.rho[0] == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("reward,discount,x,x_next\n", "has no transitions"),
        ("discount,x,x_next\n1,1,1\n", "no column 'reward' (it has: discount, x, x_next)"),
        ("reward,x,x_next\n1,1,1\n", "no column 'discount'"),
        ("reward,discount,x\n1,1,1\n", "no features: give columns NAME and NAME_next"),
        ("reward,discount,x,x\n1,1,1,1\n", "two columns of the same name"),
        ("reward,discount,x,x_next\n1,0.9,1\n", "line 2: 3 cells where the first line names 4 columns"),
        ("reward,discount,x,x_next\n1,0.9,1,1\n1,0.9,much,1\n", "line 3: could not convert string to float: 'much'"),
        ("reward,discount,x,x_next\nnan,0.9,1,1\n", "reward holds NaN or infinity, first in transition 0"),
        ("reward,discount,x,x_next\n1,0.9,1,\n", "x_next holds NaN or infinity, first in transition 0"),
        ("reward,discount,x,x_next\n1,1.1,1,1\n", "discounts must be in [0, 1]: found 1.1 to 1.1"),
        ("reward,discount,x,x_next\n1,-0.5,1,1\n", "discounts must be in [0, 1]"),
        ("reward,discount,x,start,x_next\n1,0.5,1,2,1\n", "start must hold 0 or 1"),
        ("reward,discount,x,rho,x_next\n1,0.5,1,-2,1\n", "rho must be at least 0"),
    ],
)
def test_a_bad_log_is_one_line(log, text, message):
    with pytest.raises(UserError) as error:
        ucls("evaluate-log", log(text))
    assert message in str(error.value)
    assert "log.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_state_that_is_missing_is_refused(log):
    with pytest.raises(UserError, match=r"log\.csv: the features hold NaN, infinity or empty cells"):
        ucls("evaluate-log", log(GOOD.replace("1,2,0.9,0", "1,2,0.9,")), "--features", "one_hot")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--confidence", 0), "confidence must be between 0 and 1"),
        (("--lambda", 2), "lambda must be in [0, 1]"),
        (("--estimator", "sandwhich"), "did you mean 'sandwich'?"),
        (("--factor", "student"), "unknown factor 'student'"),
        (("--features", "tiles"), "unknown coding of features"),
    ],
)
def test_bad_options_are_one_line(log, words, message):
    with pytest.raises(UserError) as error:
        ucls("evaluate-log", log(GOOD), *words)
    assert message in str(error.value)


def test_what_is_no_log_is_refused(tmp_path):
    with pytest.raises(UserError, match="no file"):
        ucls("evaluate-log", tmp_path / "nothing.csv")
    (tmp_path / "log.npz").write_bytes(b"no zip")
    with pytest.raises(UserError, match=r"not an \.npz"):
        ucls("evaluate-log", tmp_path / "log.npz")
    (tmp_path / "log.csv").write_bytes(b"\xff\xfe\x00reward")
    with pytest.raises(UserError, match="is not text"):
        ucls("evaluate-log", tmp_path / "log.csv")
    np.savez(tmp_path / "part.npz", x=[[1]], reward=[1.0], discount=[0.5])
    with pytest.raises(UserError, match="no array 'x_next'"):
        ucls("evaluate-log", tmp_path / "part.npz")
    np.savez(tmp_path / "short.npz", x=[[1]], reward=[1.0, 2.0], discount=0.5, x_next=[[1]])
    with pytest.raises(UserError, match="a row for each of 2 rewards"):
        ucls("evaluate-log", tmp_path / "short.npz")


# Files that nobody should hand in


class Bomb:
    """What runs code if it is unpickled."""

    def __reduce__(self):
        return os._exit, (66,)


def good_arrays(n=4):
    x = np.arange(n)[:, None] % 2
    return {"x": x, "reward": np.ones(n), "discount": np.full(n, 0.9), "x_next": x[::-1]}


def refusal(path, coding="columns"):
    with pytest.raises(UserError) as caught:
        evaluate(path, 0.1, 0.9, "leave_one_out", "chebyshev", coding, 5)
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 600
    return said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward": np.array([Bomb()] * 4, object)}, "the array 'reward' is of type object: give plain numbers"),
        ({"x": np.array([["a"]] * 4)}, "the array 'x' is of type <U1"),
        ({"x": np.zeros((4, 0))}, "x has the shape (4, 0)"),
        ({"x": np.zeros((4, 2)), "x_next": np.zeros((4, 3))}, "x has 2 columns and x_next 3"),
        ({"x": np.zeros((4, 1))}, "give both as floats or indices"),
        ({"x": np.full((4, 1), 2**40)}, "features need a matrix of 1,099,511,627,777 by 1,099,511,627,777"),
        ({"x": np.full((4, 1), 2**64 - 1, np.uint64)}, "need a matrix of"),
        ({"x": np.full((4, 1), -1)}, "they must be from 0 to"),
        ({"start": np.full(4, np.nan)}, "start must hold 0 or 1"),
        ({"reward": np.zeros(0), "x": np.zeros((0, 1), int), "x_next": np.zeros((0, 1), int)}, "discounts of shape"),
        ({"reward": np.full(4, 1e308)}, "too large or too small to compute with"),
        ({"rho": np.zeros(3)}, "there are 4 rewards but 3 numbers of rho"),
    ],
)
def test_arrays_that_are_no_log_are_one_line(tmp_path, change, message):
    path = tmp_path / "log.npz"
    np.savez(path, **{**good_arrays(), **change})
    assert message in refusal(path)


def test_an_index_of_2_to_the_40_is_one_of_few_states(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, **{**good_arrays(8), "x": good_arrays(8)["x"] + 2**40})
    found = evaluate(path, 0.1, 0.9, "leave_one_out", "chebyshev", "one_hot", 5)
    assert found.lstd.size == 4


def test_an_array_that_claims_terabytes_is_refused_before_it_is_allocated(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, **good_arrays())
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }".ljust(117) + "\n"
    claim = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(1000)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, claim if name == "x.npy" else old.read(name))
    said = "the array 'x' is declared with shape (1000000000000, 2), but is smaller"
    assert said in refusal(tmp_path / "bomb.npz")


def test_more_bytes_than_memory_are_refused_before_they_are_read(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "log.npz", **{**good_arrays(), "reward": np.zeros(100_000)})
    monkeypatch.setattr("ucls.evaluation.logs.npz.memory", lambda: 500_000)
    assert "more than fit into memory" in refusal(tmp_path / "log.npz")


def test_other_files_under_these_names_are_one_line(tmp_path):
    np.save(tmp_path / "array.npy", np.zeros(3))
    for name in ("log.npz", "log.csv"):
        (tmp_path / name).write_bytes((tmp_path / "array.npy").read_bytes())
        assert "is an .npy, one array only" in refusal(tmp_path / name)
    np.savez(tmp_path / "log.npz", **good_arrays())
    (tmp_path / "zip.csv").write_bytes((tmp_path / "log.npz").read_bytes())
    assert "is a zip file: name it .npz" in refusal(tmp_path / "zip.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path, tmp_path / "pipe.csv", Path("/dev/zero")):
        assert "no file" in refusal(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reward,discount,x,x_next\n1,0.9," + "a" * 200_000 + ",1\n", "line 2: field larger than field limit"),
        ("reward,discount,x,x_next\n1,0.9," + "a" * 2000 + ",1\n", "line 2: could not convert string to float: 'aaa"),
        ('"a\nb",c\n1,2\n', "no column 'reward' (it has: a?b, c)"),
        ("x" * 50_000 + ",c\n", "no column 'reward' (it has: xxx"),
        ("reward,discount,x,x_next\n1,0.9,1e308,1\n1,0.9,1e308,-1e308\n", "too large or too small to compute with"),
    ],
)
def test_huge_fields_and_names_are_one_short_line(log, text, message):
    assert message in refusal(log(text))


def test_names_of_columns_are_no_markup(log):
    text = GOOD.replace("state", "[/red]")
    assert "[/red]" in ucls("evaluate-log", log(text), "--features", "one_hot").stdout


def test_mutated_logs_are_evaluated_or_refused_in_one_line():
    assert {logs.attempt(seed) for seed in range(300)} == {"fine", "refused"}


@pytest.mark.parametrize("estimator", ["leave_one_out", "sandwich", "robust", "block_bootstrap", "global_corrected"])
def test_what_a_single_transition_decides_has_no_interval(log, estimator):
    single = log("state,reward,discount,state_next\n0,1,0.9,1\n1,2,0,\n")  # one episode, every state seen once
    words = ("--features", "one_hot", "--estimator", estimator, "--json")
    rows = json.loads(ucls("evaluate-log", single, *words).stdout)["rows"]
    assert [(row["low"], row["high"]) for row in rows] == [(None, None), (None, None)]


@pytest.mark.parametrize("estimator", always(set(ESTIMATORS) - {"running"}, ESTIMATORS))
def test_an_evaluator_too_has_no_interval_from_a_single_transition(estimator):
    lstd = LSTD(size=2)
    lstd.observe([0], 1.0, 0.0)
    lstd.observe([1], 2.0, 0.0)
    lstd.observe([1], 3.0, 0.0)
    assert lstd.interval([0], estimator=estimator)[1:] == (-np.inf, np.inf)
    assert lstd.interval([1], estimator="sandwich").low < 2.5 < lstd.interval([1], estimator="sandwich").high < np.inf


# Columns that are not used


@pytest.mark.parametrize("name", ["Rho", "RHO", "rhos", "roh", "rh0", "rho_", "ro"])
def test_a_misspelled_ratio_is_refused_and_not_ignored(log, tmp_path, name):
    text = "\n".join(f"{line},{name if i == 0 else 0.5}" for i, line in enumerate(GOOD.splitlines()))
    assert f"the column {name!r} is not used: rename it to 'rho', or remove it" in refusal(log(text))
    np.savez(tmp_path / "log.npz", **good_arrays(), **{name: np.full(4, 0.5)})
    assert f"the array {name!r} is not used: rename it to 'rho', or remove it" in refusal(tmp_path / "log.npz")


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("x,reward,discount,x_next,Start", "the column 'Start' is not used: rename it to 'start', or remove it"),
        ("x,Reward,discount,x_next", "the column 'Reward' is not used: rename it to 'reward'"),
        ("x,reward,discount,x_next,b,b_nxt", "the column 'b_nxt' is not used: rename it to 'b_next'"),
        ("x,reward,discount,x_next,b,next_b", "the column 'next_b' is not used: rename it to 'b_next'"),
        ("x,reward,discount,x_next,b,B_Next", "the column 'B_Next' is not used: rename it to 'b_next'"),
        ("x,reward,discount,x_next,b_next", "the column 'b_next' is not used: there is no column 'b'"),
        ("rho,reward,discount,rho_next", "the column 'rho_next' is not used"),
    ],
)
def test_names_that_are_nearly_known_are_one_line(log, head, message):
    assert message in refusal(log(f"{head}\n" + ",".join("1" for _ in head.split(",")) + "\n"))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        *((name, "rho") for name in ("importance_ratio", "Importance Weight", "ratio", "iw", "is_ratio", "\u03c1")),
        *(("\uff52\uff48\uff4f", "rho"), ("rho\u200b", "rho"), ("RHO ", "rho"), ("is_first", "start")),
        *(("episode_start", "start"), ("starts", "start")),
    ],
)
def test_another_name_of_a_known_column_is_refused_and_not_ignored(log, tmp_path, name, known):
    text = "\n".join(f"{line},{name if i == 0 else 1}" for i, line in enumerate(GOOD.splitlines()))
    assert f"is not used: rename it to {known!r}, or remove it" in refusal(log(text, "log.csv"))
    np.savez(tmp_path / "log.npz", **good_arrays(), **{name: np.ones(4)})
    assert f"is not used: rename it to {known!r}, or remove it" in refusal(tmp_path / "log.npz")


@pytest.mark.parametrize("head", ["x,rewards,discount,x_next", "x,r,discount,x_next", "x,reward,Gamma,x_next"])
def test_another_name_of_what_is_required_is_named(log, head):
    assert "is not used: rename it to '" in refusal(log(f"{head}\n1,1,1,1\n"))


@pytest.mark.parametrize("name", ["done", "ratio", "gamma", "rewards", "start_x", "iw", "r", "row", "importance_ratio"])
def test_every_name_with_a_partner_is_a_feature(name):
    assert _columns(["reward", "discount", name, f"{name}_next"]) == ([name], [])


@pytest.mark.parametrize("name", ["done", "terminated", "truncated", "action", "weight", "time", "row", "X", "rewards"])
def test_a_column_that_means_something_else_is_not_refused(name):
    assert _columns(["reward", "discount", "x", "x_next", name]) == (["x"], [name])


def test_the_partner_of_a_column_that_is_no_feature_is_refused_for_that(log):
    text = "x,reward,discount,x_next,rho,rho_next\n1,1,0.5,1,1,1\n"
    assert "the column 'rho_next' is not used: 'rho' is not a feature, remove it" in refusal(log(text))


def test_columns_that_are_not_used_are_named(log, tmp_path):
    text = "\n".join(f"{i or ''},{line},{'time,row' if i == 0 else '7,8'}" for i, line in enumerate(GOOD.splitlines()))
    assert "not used: (no name), time, row" in ucls("evaluate-log", log(text), "--features", "one_hot").stdout
    found = json.loads(ucls("evaluate-log", log(text), "--features", "one_hot", "--json").stdout)
    assert found["unused"] == ["", "time", "row"]
    np.savez(tmp_path / "log.npz", **good_arrays(), action=np.zeros(4))
    assert json.loads(ucls("evaluate-log", tmp_path / "log.npz", "--json").stdout)["unused"] == ["action"]


def test_many_unused_columns_take_no_time():
    assert len(_columns([*(f"c{i}" for i in range(50_000)), "x", "x_next"])[1]) == 50_000
