"""Mutated TOML files: a valid study, or a one-line error that says what is wrong and where."""

import random
import tempfile
from collections.abc import Callable
from pathlib import Path

from faults.torture.damage import cut, flip
from ucls.errors import UserError
from ucls.study import read_study
from ucls.study.declaration.declare import name_of
from ucls.study.forecast import groups_of

PLAIN = """name = "tiny"
steps = 2000
seeds = "0-2"
baseline = "sarsa"
metric = "reward"
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
label = "sarsa"
resolution = 10
keep = true
[[run]]
algorithm = "ucls"
env = ["ucls/RiverSwim-v0", "ucls/PuddleWorld-v0"]
features = "tiles"
dtype = "float64"
probe = "start"
set = { p = [0.01, 0.1], tilings = 4, "env.noise_std" = 0.01 }
"""
TUNED = """name = "tuned"
seeds = [0, 1, 2]
[sweep]
runs = 2
size = 4
metric = "reward"
sampler = "random"
[[run]]
algorithm = "sarsa"
env = "ucls/RiverSwim-v0"
[run.set]
alpha = { low = 0.01, high = 1.0, log = true }
epsilon = [0.0, 0.1]
"""
VALUES = (
    *("1", "0", "-1", "1.5", "nan", "-inf", "inf", "true", '""', '"x"', "[]", "{}", "[[]]", "[1, 2]", "[1, [2]]"),
    *("9" * 25, "9" * 400, "9" * 5000, "1e308", "-1e-320", "0x7fffffffffffffff", "9223372036854775808", "1_000"),
    *("2020-01-01", "07:32:00", '"0-9999999"', '"0-999999999999999999"', '"9-0"', '"-3"', '"0-3, 2"', '"1,,2"'),
    *('"' + "a" * 300 + '"', '"a/b"', '"../x"', '"\\u0000"', '"\\n"', '"\u202e"', '"é"', '["a", 1, true]', '"os"'),
    *("{ low = 0, high = 1 }", '{ low = "a", high = 2 }', "{ low = 1, high = inf, log = true }", "{ a = { b = 1 } }"),
    *("{ low = 0, high = 1, log = 3 }", "{ low = 1, high = 9, whole = true }", '"ucls"', '"ucls/PuddleWorld-v0"'),
    *('".."', '"a.b"', '"one_hot"', '"scaled"', '"float32"', '"optuna"', '["sarsa"]', '"reward"'),
    *("[" + ", ".join(map(str, range(2000))) + "]", "[" * 2000 + "]" * 2000),
)
KEYS = (
    *("name", "steps", "seeds", "run", "set", "sweep", "agent", "p", "alpha", "x" * 300, '""', "a.b.c", "run.set", "é"),
)


def attempt(seed: int) -> str:
    """Mutate a study and declare it: "refused" or "fine"."""
    rng = random.Random(seed)
    content = rng.choice((PLAIN, TUNED)).encode()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(MUTATIONS)(rng, content)
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as folder:
        path = Path(folder) / "study.toml"
        path.write_bytes(content)
        return _declared(rng, path)


def _declared(rng: random.Random, path: Path) -> str:
    try:
        study = read_study(path, *rng.choice(((None, None),) * 9 + ((2, 5), (10**18, None), (None, 10**18))))
        groups_of(study)
        name_of(path)
        return "fine"
    except UserError as error:
        said = str(error)
        if not said.isprintable() or len(said) > 1000 or not (str(path) in said or "a study has" in said):
            raise AssertionError(f"not one line with its place: {said[:300]!r}") from None
        return "refused"


def _lines(rng: random.Random, content: bytes, change: Callable[[list[bytes], int], None]) -> bytes:
    lines = content.split(b"\n")
    change(lines, rng.randrange(len(lines)))
    return b"\n".join(lines)


def _value(rng: random.Random, content: bytes) -> bytes:
    """Give a key another value."""

    def change(lines: list[bytes], i: int) -> None:
        i = rng.choice([i for i, line in enumerate(lines) if b"=" in line] or [0])
        lines[i] = lines[i].split(b"=")[0] + b"= " + rng.choice(VALUES).encode()

    return _lines(rng, content, change)


def _inner(rng: random.Random, content: bytes) -> bytes:
    """Give a setting another value."""
    name = rng.choice([b"p = [0.01, 0.1]", b"tilings = 4", b"0.01", b"0.1", b"1.0", b"low = 0.01"])
    value = rng.choice(VALUES).encode()
    return content.replace(name, name.split(b"=")[0] + b"= " + value if b"=" in name else value, 1)


def _key(rng: random.Random, content: bytes) -> bytes:
    def change(lines: list[bytes], i: int) -> None:
        lines[i] = rng.choice(KEYS).encode() + b" = " + rng.choice(VALUES).encode()

    return _lines(rng, content, change)


def _drop(rng: random.Random, content: bytes) -> bytes:
    return _lines(rng, content, lambda lines, i: lines.pop(i) and None)


def _repeat(rng: random.Random, content: bytes) -> bytes:
    return _lines(rng, content, lambda lines, i: lines.insert(rng.randrange(len(lines)), lines[i]))


def _again(rng: random.Random, content: bytes) -> bytes:
    """The last [[run]] many times."""
    head, table, rest = content.rpartition(b"[[run]]")
    return head + (table + rest + b"\n") * rng.choice((2, 40))


def _insert(rng: random.Random, content: bytes) -> bytes:
    place = rng.randrange(len(content) + 1)
    some = rng.choice((b"\x00", b"\xff", b'"""', b"'''", b"[", b"{", b"=", b"#", b"\r", b"\n", b"]]", b"\xef\xbb\xbf"))
    return content[:place] + some + content[place:]


def _grow(rng: random.Random, content: bytes) -> bytes:
    return content + b"# " + b"x" * rng.choice((10, 10, 10, 2_000_000)) + b"\n"


MUTATIONS = (_value, _value, _value, _value, _inner, _inner, _key, _drop, _repeat, _again, _insert, flip, cut, _grow)
