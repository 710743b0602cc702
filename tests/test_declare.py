"""Studies in TOML: whatever is written, one line says what is wrong, and where."""

import gc
import os
import re

import pytest

from faults.torture import studies
from ucls.errors import UserError
from ucls.study import make_run_specs, parse_study, read_study
from ucls.study.declaration.declare import parse_seeds
from ucls.study.declaration.sweep import Range, Sweep, candidates
from ucls.study.declaration.toml import line_of

PLAIN, TUNED = studies.PLAIN, studies.TUNED


def refusal(text):
    with pytest.raises(UserError) as caught:
        parse_study(text, "f.toml")
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 600
    return said


# A change there may be a mistake elsewhere: a label that the baseline names, settings that another agent lacks.
ELSEWHERE = ("unknown label", "unknown setting")


@pytest.fixture
def no_collection():
    """Some values are nested so deep that a finalizer which happened to run meanwhile would find no room to."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("text", [PLAIN, TUNED])
def test_a_wrong_value_is_named_with_its_own_line(text):
    lines, refused = text.split("\n"), 0
    for i, line in enumerate(lines):
        for value in studies.VALUES if "=" in line else ():
            changed = [*lines[:i], line.split("=")[0] + "= " + value, *lines[i + 1 :]]
            try:
                parse_study("\n".join(changed), "f.toml")
            except UserError as error:
                refused += 1
                said = str(error)
                assert f"line {i + 1}:" in said or f"line {i + 1}," in said or any(w in said for w in ELSEWHERE), said
    assert refused > 300


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps = 2000", f"steps = {'9' * 5000}", "f.toml, line 2: a number has too many digits"),
        (
            '"0-2"',
            '"0-9999999"',
            "line 3: seeds cannot be '0-9999999': that is 10,000,000 seeds, and a study has at most",
        ),
        ('"0-2"', '"5-2"', "line 3: seeds cannot be '5-2': seeds go from 0 to 999,999,999, ranges from low"),
        ('"0-2"', '"-2"', "line 3: seeds cannot be '-2'"),
        ('"0-2"', "[1, -2]", "line 3: seeds cannot be [1, -2]"),
        ('"0-2"', "[1, 1]", "line 3: seeds cannot be [1, 1]: give at least one seed, and none twice"),
        ('"0-2"', '"0-²"', "line 3: seeds cannot be '0-²'"),
        ('"0-2"', "[" * 3000 + "]" * 3000, "line 3: lists or tables are nested too deeply"),
        ("steps = 2000", "steps = nan", "line 2: 'steps' is invalid: input should be a valid integer"),
        ("steps = 2000", "steps = 9223372036854775808", "line 2: 'steps' is invalid"),
        ('name = "tiny"', f'name = "{"a" * 256}"', "line 1: 'name' is invalid: string should have at most 200"),
        ('name = "tiny"', 'name = "a/b"', "line 1: 'name' is invalid"),
        ('label = "sarsa"', f'label = "{"a" * 256}"', "line 9: 'label' is invalid: string should have at most 200"),
        ('label = "sarsa"', 'label = "a\\nb"', "line 9: 'label' is invalid: it contains unprintable characters"),
        ("p = [0.01, 0.1]", "p = nan", "line 18: 'set' is invalid: setting 'p' cannot be nan"),
        ("p = [0.01, 0.1]", "p = [0.01, inf]", "line 18: 'set' is invalid: setting 'p' cannot be inf"),
        ("p = [0.01, 0.1]", "p = 2020-01-01", "line 18: 'set' is invalid: a setting must be a number, a short string"),
        ("p = [0.01, 0.1]", "p = { low = 0.1, high = 1 }", "line 18: setting 'p' is a range, which requires a [sweep]"),
        ('algorithm = "ucls"', 'algorithm = "../x"', "line 13: 'algorithm' is invalid: give a name from"),
        ('algorithm = "ucls"', 'algorithm = "sarsa"\nlabel = "x"\nsteps = 0', "line 15: 'steps' is invalid"),
    ],
)
def test_what_is_absurd_is_one_line(old, new, said):
    assert said in refusal(PLAIN.replace(old, new, 1))


def test_an_astronomical_grid_is_refused_with_its_size_before_it_is_built():
    values = ", ".join(map(str, range(1, 1001)))
    grid = ", ".join(f"{name} = [{values}]" for name in ("p", "beta", "eta", "c_max", "tilings"))
    said = refusal(PLAIN.replace("p = [0.01, 0.1]", grid.replace("tilings", '"features.tiles"')))
    runs = 2 * 3 * 1000**5 + 3
    assert f"line 18: that makes {runs:,} runs, but a study has at most 1,000,000: list fewer values" in said


def test_a_sweep_of_2_to_the_63_is_refused_and_a_sample_of_a_large_grid_is_drawn():
    assert "line 5: 'size' is invalid" in refusal(TUNED.replace("size = 4", "size = 9223372036854775808"))
    assert "line 5: 'size' is invalid" in refusal(TUNED.replace("size = 4", "size = 9223372036854775807"))
    assert "at most 1,000,000" in refusal(TUNED.replace("size = 4", "size = 900000"))
    assert "line 6: unknown metric 'sum'" in refusal(TUNED.replace('"reward"', '"sum"'))
    space = {name: list(range(1000)) for name in "abcd"}
    found = candidates(Sweep("a", "ucls", "ucls/RiverSwim-v0", space, size=5))
    assert len({tuple(point.items()) for point in found}) == 5
    with pytest.raises(UserError, match="has 1,000,000,000,000 candidates"):
        candidates(Sweep("a", "ucls", "ucls/RiverSwim-v0", space))


def test_a_sample_of_a_grid_is_the_one_it_always_was():
    space = {"a": [1, 2, 3], "b": [4, 5], "c": [6, 7, 8]}
    found = candidates(Sweep("a", "ucls", "ucls/RiverSwim-v0", space, size=4))
    want = ((1, 5, 7), (2, 4, 8), (2, 5, 7), (3, 4, 6))  # as drawn when the whole grid was built first
    assert found == [{"a": a, "b": b, "c": c} for a, b, c in want]


def test_the_same_run_twice_is_refused():
    again = PLAIN + PLAIN[PLAIN.index("[[run]]") : PLAIN.index("[[run]]", PLAIN.index("[[run]]") + 1)]
    assert re.search(r"line 2\d: the run 'sarsa' in ucls/RiverSwim-v0, seed 0 is declared twice", refusal(again))


def test_strings_comments_and_tables_do_not_mislead_about_lines():
    text = 'a = """\nb = 1\n"""\n# b = 2\n[t]\nb = 3 # b\n[[run]]\nx = [\n 1, # ]\n 2]\n[run.set]\np = 1\n'
    assert line_of(text, ("t", "b")) == 6
    assert line_of(text, ("run", 0, "x")) == 8
    assert line_of(text, ("run", 0, "set", "p")) == 12
    assert line_of(text, ("run", 0)) == 7
    assert line_of("x = [\n  { a = 1 },\n  { b = 2 },\n]", ("x", 1, "b")) == 3


def test_files_that_are_no_text_too_large_or_no_files_are_one_line(tmp_path):
    path = tmp_path / "s.toml"
    path.write_bytes(PLAIN.encode() + b"# \xff\n")
    with pytest.raises(UserError, match="not UTF-8 text at byte"):
        read_study(path)
    path.write_bytes(b"\xef\xbb\xbf" + PLAIN.encode())
    assert read_study(path).name == "tiny"
    path.write_text("#" * (2 << 20))
    with pytest.raises(UserError, match="at most 1,048,576 bytes"):
        read_study(path)
    os.mkfifo(tmp_path / "pipe.toml")
    for other in (tmp_path, tmp_path / "pipe.toml", tmp_path / "none.toml", tmp_path / ("x" * 300 + ".toml")):
        with pytest.raises(UserError, match="cannot read"):
            read_study(other)


def test_numbers_that_no_store_can_keep_are_refused_at_the_door():
    for change in ({"steps": 10**13}, {"seeds": [2**63]}, {"seeds": [-1]}):
        with pytest.raises(UserError):
            make_run_specs("ucls/RiverSwim-v0", "ucls", **{"steps": 10, "seeds": [0], **change})
    with pytest.raises(UserError, match="at most 1,000,000 runs"):
        parse_study(PLAIN, runs=10**18)
    with pytest.raises(UserError, match="from 0 to 999,999,999"):
        parse_seeds(10**300)
    assert Range(1, 9, whole=True).at(1.0) == 9


def test_mutated_files_are_studies_or_one_line():
    assert {studies.attempt(seed) for seed in range(250)} == {"fine", "refused"}
