"""Logs in files: one command gives values and intervals, and one line says what is wrong with a file."""

import json

import numpy as np
import pytest

from test_cli import ucls
from ucls.errors import UserError
from ucls.evaluation import LSTD
from ucls.evaluation.logfile import evaluate

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
    value, low, high = lstd.interval([0], p=0.1)
    row = found["rows"][0]
    assert row == {
        "x": [0.0],
        "visits": 4,
        "value": pytest.approx(value),
        "low": pytest.approx(low),
        "high": pytest.approx(high),
    }
    assert (found["transitions"], found["rank"], found["breaks"], found["lambda"], found["p"]) == (6, 2, 0, 0.5, 0.1)


def test_the_table_is_readable_and_warns_of_breaks(log):
    text = ucls("evaluate-log", log(GOOD.replace("0,2,0.9,1", "0,2,0.9,0")), "--features", "one_hot").stdout
    assert "6 transitions; rank 2 of 2 features" in text
    assert "in 1 transitions x is not the x_next before" in text


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
        (("--p", 0), "p must be between 0 and 1"),
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
