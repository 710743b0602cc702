"""Logs of episodes are read as people write them; what is wrong with them is named, with its row."""

import itertools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from support import log_oracle as oracle
from ucls.cli import app
from ucls.errors import UserError
from ucls.evaluation.logs import check_log, read_log
from ucls.evaluation.logs.csvs import _read_rows, read_csv
from ucls.evaluation.logs.episodes import per_episode_product
from ucls.evaluation.logs.roles import guess

HEAD = "episode,t,stock,price,action,propensity,reward,truncated"
ROWS = ["0,0,5,1.5,1,0.5,2.0,0", "0,1,4,1.0,0,0.5,-1.0,1", "1,0,3,2.0,1,0.25,0.5,0", "1,1,2,1.0,1,0.5,1.5,0"]


@pytest.fixture
def write(tmp_path):
    def written(rows, head=HEAD, name="log.csv"):
        path = tmp_path / name
        path.write_text("\n".join([head, *rows]) + "\n")
        return path

    return written


def same(one, other):
    for name in ("states", "has_next", "action", "reward", "discount", "first", "row"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.next_states[one.has_next], other.next_states[other.has_next])


def test_a_log_as_it_usually_comes_is_read_without_options(write):
    log = read_log(write(ROWS), gamma=0.9)
    assert log.columns.state == ("stock", "price")
    assert log.columns.probability == "propensity"
    assert log.states.tolist() == [[5, 1.5], [4, 1], [3, 2], [2, 1]]
    assert log.first.tolist() == [0, 2, 4]
    assert log.has_next.tolist() == [True, False, True, False]
    assert log.next_states[log.has_next].tolist() == [[4, 1], [2, 1]]
    assert log.discount.tolist() == [0.9, 0.9, 0.9, 0.0], "only the last episode terminated"
    assert log.truncated.tolist() == [True, False]
    assert log.returns.tolist() == pytest.approx([2.0 - 0.9, 0.5 + 0.9 * 1.5])


def test_gamma_is_that_of_agents_unless_given(write):
    assert read_log(write(ROWS)).gamma == 0.99


def test_all_sources_give_the_same_log(write, tmp_path):
    table = oracle.small_table()
    text = [",".join(f"{x!r}" for x in map(float, row)) for row in zip(*table.values(), strict=True)]
    np.savez(tmp_path / "log.npz", **table)
    from_arrays = read_log(table, gamma=0.9)
    same(read_log(write(text, ",".join(table)), gamma=0.9), from_arrays)
    same(read_log(tmp_path / "log.npz", gamma=0.9), from_arrays)
    same(read_log(str(tmp_path / "log.npz"), gamma=0.9), from_arrays)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_read(library):
    frames = pytest.importorskip(library)
    table = oracle.small_table()
    same(read_log(frames.DataFrame(table), gamma=0.9), read_log(table, gamma=0.9))
    words = {**table, "action": np.where(table["action"] == 1, "buy", "hold")}
    log = read_log(frames.DataFrame(words), gamma=0.9)
    assert log.actions.tolist() == ["buy", "hold"]


def test_parquet_is_read(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = oracle.small_table()
    parquet.write_table(pyarrow.table(table), tmp_path / "log.parquet")
    same(read_log(tmp_path / "log.parquet", gamma=0.9), read_log(table, gamma=0.9))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + b"\0" * 50)
    with pytest.raises(UserError, match="not a Parquet file"):
        read_log(tmp_path / "bad.parquet")


class FakeMinari:
    """As much of a Minari dataset as is read."""

    class Episode:
        def __init__(self, seed):
            rng = np.random.default_rng(seed)
            self.observations = rng.normal(size=(4, 2))
            self.actions, self.rewards = rng.integers(0, 2, 3), rng.normal(size=3)
            self.terminations = np.array([False, False, seed % 2 == 0])
            self.truncations = np.array([False, False, seed % 2 == 1])

    def iterate_episodes(self):
        return iter([self.Episode(seed) for seed in range(6)])


def test_minari_datasets_know_the_state_after_a_truncation():
    log = read_log(FakeMinari(), gamma=0.9)
    assert log.n_episodes == 6
    assert log.truncated.sum() == 3
    assert log.has_next.sum() == 6 * 2 + 3
    last = FakeMinari.Episode(1).observations[-1]
    assert log.next_states[log.first[2] - 1].tolist() == last.tolist()


def test_two_dimensional_arrays_are_several_columns():
    table = oracle.small_table()
    states = np.column_stack([table.pop("place"), table["t"]])
    assert read_log({**table, "state": states}, gamma=0.9).columns.state == ("state_0", "state_1")


def test_the_old_columns_are_accepted(write):
    rows = ["0.5,1,0,0.9,1,1.0", "1.0,,1,0.0,0,2.0", "0.3,0.4,0,0.9,1,0.0"]
    log = read_log(write(rows, "x,x_next,action,discount,start,reward"))
    assert log.first.tolist() == [0, 2, 3]
    assert log.discount.tolist() == [0.9, 0.0, 0.9]
    assert log.has_next.tolist() == [True, False, True], "after the last row NAME_next says what follows"


def test_steps_of_parallel_episodes_are_put_in_order(write):
    mixed = [ROWS[0], ROWS[2], ROWS[1], ROWS[3]]
    log = read_log(write(mixed), gamma=0.9)
    assert log.row.tolist() == [1, 3, 2, 4]
    same_states = read_log(write(ROWS), gamma=0.9).states
    assert np.array_equal(log.states, same_states)
    head = HEAD.replace(",t,", ",")
    with pytest.raises(UserError, match="column with the step is needed"):
        read_log(write([",".join(row.split(",")[:1] + row.split(",")[2:]) for row in mixed], head), gamma=0.9)


@pytest.mark.parametrize(
    ("row", "cell", "told"),
    [
        (1, "0,1,4,1.0,0,0,-1.0,1", "row 2: propensity must be above 0"),
        (1, "0,1,4,1.0,0,1.5,-1.0,1", "row 2: propensity must be above 0"),
        (1, "0,2,4,1.0,0,0.5,-1.0,1", "skips steps"),
        (1, "0,0,4,1.0,0,0.5,-1.0,1", "row 2: t does not increase"),
        (1, "0,1,4,1.0,0,0.5,nan,1", "row 2: reward is missing"),
        (1, "0,1,,1.0,0,0.5,-1.0,1", "row 2: stock is missing"),
        (1, "0,1,4,1.0,,0.5,-1.0,1", "row 2: action is missing"),
        (1, "0,1,4,1.0,0.5,0.5,-1.0,1", "row 2: action must be a whole number"),
        (1, "0,1,4,1.0,0,0.5,-1.0,2", "row 2: truncated must be 0 or 1"),
        (0, "0,0,5,1.5,1,0.5,2.0,1", "row 1: the episode was truncated here, but goes on"),
        (1, "0,1,four,1.0,0,0.5,-1.0,1", "row 2: stock is 'four'"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(write, row, cell, told):
    rows = list(ROWS)
    rows[row] = cell
    more = ["2,0,1,1,1,0.5,0,0", "2,1,1,1,0,0.5,0,0", "2,2,1,1,0,0.5,0,1"]  # so that gaps are not the usual step
    log, problems = check_log(write([*rows, *more]), columns={"state": "stock,price"})
    assert log is None
    assert any(told in problem.text for problem in problems if problem.error), problems
    with pytest.raises(UserError, match=r"^log\.csv: "):
        read_log(write([*rows, *more]), columns={"state": "stock,price"})


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("rewrad", "reward"),
        ("Truncatd", "truncated"),
        ("propensty", "probability"),
        ("epsode", "episode"),
        ("acton", "action"),
    ],
)
def test_a_misspelled_column_is_an_error(write, wrong, meant):
    right = {"probability": "propensity"}.get(meant, meant)
    with pytest.raises(UserError, match=f"'{wrong}' is not used: rename it to '{meant}'"):
        read_log(write(ROWS, HEAD.replace(right, wrong)))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("done", "terminated or was truncated"),
        ("gamma", "rename it to 'discount'"),
        ("log_prob", "not their logarithms"),
    ],
)
def test_columns_whose_meaning_is_unclear_are_errors(write, name, told):
    head = HEAD.replace("propensity", name)
    with pytest.raises(UserError, match=told):
        read_log(write(ROWS, head))


def test_done_is_read_if_it_is_said_what_it_means(write):
    log = read_log(write(ROWS, HEAD.replace("truncated", "done")), columns={"terminated": "done"})
    assert log.truncated.tolist() == [False, True]


def test_columns_can_be_given_and_others_are_listed(write):
    log = read_log(write(ROWS), columns={"state": ["stock"]})
    assert log.columns.state == ("stock",)
    assert log.columns.unused == ("price",)
    with pytest.raises(UserError, match="unknown column 'stok': did you mean 'stock'"):
        read_log(write(ROWS), columns={"state": "stok"})
    with pytest.raises(UserError, match="unknown role"):
        read_log(write(ROWS), columns={"rewardd": "reward"})


def test_columns_named_like_states_are_preferred_and_texts_are_not_states():
    head = ["episode", "obs_0", "obs_1", "action", "reward", "terminated", "user", "weather"]
    found = guess(head, {"user"})
    assert found.state == ("obs_0", "obs_1")
    assert found.unused == ("user", "weather")


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("episode,t,stock,price,action,propensity,payoff,truncated", "no column looks like the reward"),
        ("episode,t,stock,price,choice,propensity,reward,truncated", "no column looks like the action"),
        ("place,t,stock,price,action,propensity,reward,truncated", "which episode a row belongs to"),
        ("episode,t,stock,price,action,propensity,reward,weather", "how episodes end"),
        ("episode,t,stock,stock,action,propensity,reward,truncated", "two columns are named 'stock'"),
        ("episode,t,stock,r,action,propensity,reward,truncated", "two columns look like the reward"),
        ("episode,t,stock,price_next,action,propensity,reward,truncated", "'price' is not part of the state"),
    ],
)
def test_a_missing_or_ambiguous_column_is_one_line(write, head, told):
    with pytest.raises(UserError, match=told):
        read_log(write(ROWS, head))


def test_a_file_that_is_no_log_is_one_line(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "b.csv").write_text("")
    (tmp_path / "c.csv").write_text("episode,reward\n")
    (tmp_path / "d.csv").write_text("episode,reward\n1,2,3\n")
    (tmp_path / "e.npz").write_bytes(b"PK\x03\x04broken")
    for name, told in [("a.csv", "not text"), ("b.csv", "empty"), ("c.csv", "no rows"), ("d.csv", "3 cells"),
                       ("e.npz", "not an .npz"), ("f.csv", "no file")]:  # fmt: skip
        with pytest.raises(UserError, match=told):
            read_log(tmp_path / name)
    for thing in (3, None, [1, 2]):
        with pytest.raises(UserError, match="a log cannot be"):
            read_log(thing)


def test_plain_files_are_read_fast_and_like_others(write):
    path = write([*ROWS, "", *(row.replace("1,", "2,", 1) for row in ROWS[2:])])
    slow = _read_rows(path, HEAD.split(","), ",")
    fast = read_csv(path)
    assert fast.keys() == slow.keys()
    for name in fast:
        assert np.array_equal(fast[name], slow[name])
    quoted = write(['"a, b",1,x', "c,,y"], "name,number,word", "quoted.csv")
    columns = read_csv(quoted)
    assert columns["name"].tolist() == ["a, b", "c"]
    assert np.array_equal(columns["number"], [1, np.nan], equal_nan=True)


def test_a_row_with_too_many_cells_is_found_although_another_has_too_few(write):
    rows = [ROWS[0] + ",7", *ROWS[1:3], ROWS[3].rpartition(",")[0]]
    with pytest.raises(UserError, match="9 cells"):
        read_csv(write(rows))


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_recognized(write, delimiter):
    path = write([row.replace(",", delimiter) for row in ROWS], HEAD.replace(",", delimiter))
    same(read_log(path), read_log(write(ROWS, name="comma.csv")))


def test_discounts_multiply_along_an_episode():
    factors = np.random.default_rng(0).random(20)
    first = np.array([0, 1, 7, 8, 20])
    expected = [np.prod(factors[begin:t]) for begin, end in itertools.pairwise(first) for t in range(begin, end)]
    assert np.allclose(per_episode_product(factors, first), expected)


def test_suspicious_columns_are_warned_of():
    table = oracle.small_table(40)
    rows = len(table["t"])
    table |= {"always": np.full(rows, 3.0), "user": table["episode"] * 10, "leak": table["reward"]}
    log, problems = check_log(table, gamma=0.9)
    assert log is not None
    told = " | ".join(problem.text for problem in problems)
    assert "'always' is 3 in every row" in told
    assert "'user' identifies its episode" in told
    assert "'leak' equals the reward" in told


def test_actions_never_taken_are_warned_of():
    table = oracle.small_table(40)
    _, problems = check_log({**table, "action": 2 * table["action"]}, gamma=0.9)
    assert any("never taken: action 1" in problem.text for problem in problems)


def test_a_drift_of_the_returns_is_warned_of_and_chance_is_not():
    quiet, loud = 0, 0
    for seed in range(40):
        table = oracle.small_table(60, seed)
        _, problems = check_log(table, gamma=0.9)
        quiet += any(problem.kind == "drift" for problem in problems)
        later = {**table, "reward": table["reward"] + 3.0 * (table["episode"] >= 30)}
        _, problems = check_log(later, gamma=0.9)
        loud += any("the return" in problem.text for problem in problems if problem.kind == "drift")
    assert quiet <= 4
    assert loud >= 36


def test_next_states_from_the_next_episode_are_refused():
    table = oracle.small_table(20)
    place = table["place"]
    with pytest.raises(UserError, match="leaks across a reset"):
        read_log({**table, "place_next": np.append(place[1:], 0.0)}, gamma=0.9)


def test_evaluate_log_points_to_the_command_for_logs_of_episodes(write):
    result = CliRunner().invoke(app, ["evaluate-log", str(write(ROWS))])
    assert "use `ucls compare-log`" in str(result.exception)


def test_check_log_on_the_command_line(write):
    result = CliRunner().invoke(app, ["check-log", str(write(ROWS)), "--gamma", "0.9"])
    assert result.exit_code == 0
    assert "2 episodes, 4 steps" in result.output
    assert "stock, price" in result.output
    rows = [*ROWS[:3], "1,1,2,1.0,1,7,1.5,0"]
    result = CliRunner().invoke(app, ["check-log", str(write(rows)), "--json"])
    assert result.exit_code == 2
    [problem] = json.loads(result.output)["problems"]
    assert problem["row"] == 4
    assert problem["error"]


def corrupted(content, rng):
    """The bytes of a file with a few of them replaced, removed or added."""
    words = (b"nan", b"inf", b"-1", b"", b"1e400", b",", b"\n", b'"', b"abc", b"\x00", b"\xff", b"9" * 400, b"\r", b";")
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        place = int(rng.integers(len(content)))
        content[place : place + int(rng.integers(0, 4))] = words[rng.integers(len(words))]
    return bytes(content)


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_corrupted_files_are_read_or_refused_in_one_line(tmp_path, kind):
    table = oracle.small_table(20)
    rows = [",".join(f"{x:g}" for x in row) for row in zip(*table.values(), strict=True)]
    (tmp_path / "log.csv").write_text("\n".join([",".join(table), *rows]) + "\n")
    np.savez(tmp_path / "log.npz", **table)
    content, rng, told = (tmp_path / f"log.{kind}").read_bytes(), np.random.default_rng(0), []
    for _ in range(60):
        path = tmp_path / f"bad.{kind}"
        path.write_bytes(corrupted(content, rng))
        try:
            log, problems = check_log(path, gamma=0.9)
            assert log is not None or any(problem.error for problem in problems)
        except UserError as error:
            told.append(str(error))
    assert len(told) > 10
    assert all("\n" not in text and "bad." in text for text in told)


def test_cells_that_list_numbers_are_components():
    table = {"episode": [0, 0, 1], "action": [0, 1, 1], "reward": [1.0, 2.0, 3.0], "terminated": [0, 1, 1]}
    state = np.empty(3, object)
    state[:] = [np.array([1.0, 2.0]), [3, 4], (5, 6)]
    log = read_log({**table, "state": state})
    assert log.columns.state == ("state_0", "state_1")
    assert log.states.tolist() == [[1, 2], [3, 4], [5, 6]]
    state[1] = [3]
    with pytest.raises(UserError, match="'state' must list equally many numbers"):
        read_log({**table, "state": state})
