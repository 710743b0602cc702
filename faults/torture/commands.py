"""Command lines from a grammar of all commands, with good words and absurd ones: done, or one line that says why not.

Steps and runs are tiny: no absurd number in the pools is one that a run could start with.
"""

import contextlib
import io
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ucls import cli
from ucls.algorithms import ALGORITHMS
from ucls.envs import ENVIRONMENTS

STUDY = 'name = "tiny"\nsteps = 20\nseeds = "0-1"\n[[run]]\nalgorithm = "sarsa"\nenv = "ucls/RiverSwim-v0"\n'
LOG = "reward,discount,a,a_next\n1,0.9,0,1\n0,0.9,1,0\n1,0,0,1\n"
NASTY = (
    *("", " ", ".", "..", "../x", "/", "/dev/null", "/dev/null/x", "/proc/nowhere", "-", "--", "-1", "0x10", "1.5"),
    *("nan", "inf", "-inf", "1e30", "1e400", "9" * 40, "9" * 5000, "a" * 300, "é", "\u202e", "a\nb", "a b", "a:b"),
    *("[red]", "{}", "%s", "*", "a=b", "=", "x=", "None", "true", "os", "ucls", "numpy", "ucls.agent.agent", "'", '"'),
    *("\\", "~", "$HOME"),
)
FILES = ("study.toml", "log.csv", "notes.txt", "folder", "run", "run/agent.safetensors", "nowhere", "s.sqlite")
SETTINGS = (
    *("p=0.1", "alpha=0.2", "epsilon=0", "lambda=0.5", "tilings=2", "table_size=16", "initial_value=return_max", "p=0"),
    *("alpha=-1", "p=nan", "beta=1", "tilings=0", "agent.p=1", "features.tilings=3", "env.nothing=1", "lambda=x"),
    *("p=1e400", "bogus=1"),
)
ENVS = (*ENVIRONMENTS, *ENVIRONMENTS, "CartPole-v1", "CliffWalking-v1", "Pendulum-v1", "Nothing-v0")
TINY = ("1", "2", "5", "60")
GRAMMAR: dict[str, tuple[tuple[str, ...], dict[str, tuple[str, ...]]]] = {
    "envs": ((), {}),
    "algorithms": ((), {}),
    "doctor": ((), {}),
    "train": (
        ENVS,
        {
            "--algo": (*ALGORITHMS, "nobody"),
            "--seed": ("0", "1", str(2**40)),
            "--out": ("out", "run", "folder", "a/b/c"),
            "--set": SETTINGS,
            "--features": ("tiles", "one_hot", "scaled"),
            "--dtype": ("float64", "float32"),
            "--discount": ("0.9", "0", "1"),
            "--low": ("-1", "-3,-3,-3,-3", "0,0"),
            "--high": ("1", "3,3,3,3", "1,1"),
            "--resume": ("run", "run/agent.safetensors"),
            "--checkpoint-interval": ("0", "0.006", "300"),
        },
    ),
    "evaluate-log": (
        ("log.csv",),
        {
            "--confidence": ("0.9",),
            "--lambda": ("0.5",),
            "--estimator": ("leave_one_out", "robust"),
            "--factor": ("chebyshev", "normal"),
            "--features": ("columns", "affine", "one_hot"),
            "--eta": ("0", "0.1"),
            "--rows": ("1", "3"),
        },
    ),
    "diagnose": (
        ("ucls/OneState-v0", "CartPole-v1"),  # the others plan for a minute where nothing is compiled
        {
            "--algo": ("ucls", "gv-ucb", "sarsa", "nobody"),
            "--seed": ("0", "1"),
            "--runs": ("1", "2"),
            "--distribution": ("start", "uniform", "x"),
            "--measurements": ("1", "2", "100"),
            "--out": ("out", "notes.txt"),
        },
    ),
    "study list": ((), {"--store": FILES}),
    "study show": (FILES, {"--store": FILES, "--runs": TINY}),
    "study run": (FILES, {"--store": FILES, "--runs": TINY, "--jobs": ("1",), "--checkpoint-interval": ("0", "1")}),
    "study status": ((*FILES, "tiny"), {"--store": FILES}),
    "study compare": ((*FILES, "tiny"), {"--store": FILES, "--metric": ("reward",), "--baseline": ("sarsa",)}),
    "study export": ((*FILES, "tiny"), {"--store": FILES, "--out": FILES, "--format": ("csv", "parquet")}),
    "study retry": ((*FILES, "tiny"), {"--store": FILES}),
    "study recover": (FILES, {"--store": FILES}),
    "paper run": ((), {"--only": ("5", "1", "x"), "--out": ("out", "run"), "--store": FILES}),
}
ALWAYS = {
    "train": ("--steps", TINY),
    "diagnose": ("--steps", TINY),
    "study run": ("--dry-run", ()),
    "paper run": ("--dry-run", ()),
}


OPTIMA = """from ucls.envs import ENVIRONMENTS, make_builtin
for id in ENVIRONMENTS:
    make_builtin(id).optimal()"""


def prepare() -> Callable[[int], str]:
    """Plan the optima that `train` shows, which takes minutes where nothing is compiled, and return `attempt`."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0", "PYTHONPATH": str(Path(cli.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", OPTIMA], env=environment, check=True)
    return attempt


def attempt(seed: int) -> str:
    """Run one command: "fine", "refused" (one line, exit code 2) or "failed" (that or a divergence, exit code 1)."""
    rng = random.Random(seed)
    words = command(rng)
    with _folder():
        end = _outcome(words)
        if end != "fine":
            train = ["train", "ucls/RiverSwim-v0", "--algo", "sarsa", "--steps", "2"]
            plain = train if seed % 10 == 0 else ["algorithms"]
            if _outcome([*plain, "--json"]) != "fine":
                raise AssertionError(f"after {words} a plain command does not work")
    return end


def command(rng: random.Random) -> list[str]:
    """Make a command line; about half of them have something absurd in them."""
    absurd = rng.choice((0.0, 0.1, 0.3))
    name = rng.choice([*GRAMMAR, *["train"] * 6])
    places, options = GRAMMAR[name]
    words = name.split() + ([_word(rng, places, absurd)] if places else [])
    if name in ALWAYS:
        option, values = ALWAYS[name]
        words += [option, *([_word(rng, values, absurd)] if values else [])]
    for option in rng.sample(sorted(options), min(len(options), rng.choice((0, 1, 1, 2, 3)))):
        words += [option, _word(rng, options[option], absurd)]
    if rng.random() < absurd:
        words.insert(rng.randrange(len(words) + 1), rng.choice((*NASTY, "--bogus", "--help", "--json")))
    return words + ["--json"] * (rng.random() < 0.3)


def _word(rng: random.Random, good: tuple[str, ...], absurd: float) -> str:
    return rng.choice(NASTY if rng.random() < absurd else good)


@contextlib.contextmanager
def _folder() -> Iterator[None]:
    """A folder with a study, a log, a broken run and notes, to be in for the while."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="ucls-torture-") as name:
        folder = Path(name)
        (folder / "study.toml").write_text(STUDY)
        (folder / "log.csv").write_text(LOG)
        (folder / "notes.txt").write_text("mine")
        (folder / "folder").mkdir()
        (folder / "run").mkdir()
        (folder / "run" / "agent.safetensors").write_bytes(np.arange(40.0).tobytes())
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _outcome(words: list[str]) -> str:
    """Run a command in this process and judge how it ended."""
    out, errors, before = io.StringIO(), io.StringIO(), (sys.argv, list(sys.path))
    code: object = None
    try:
        sys.argv = ["ucls", *words]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            cli.main()
    except SystemExit as end:
        code = end.code
    except BaseException as error:
        raise AssertionError(f"{words}: {type(error).__name__}: {error}") from error
    finally:
        sys.argv, sys.path[:] = before[0], before[1]
    lines = errors.getvalue().strip().splitlines()
    told = len(lines) == 1 and lines[0].startswith("ucls: ")
    if code in (0, None):
        return "fine"
    if code == 2 and told:
        return "refused"
    if code == 1 and (told or "diverged" in out.getvalue()):
        return "failed"
    raise AssertionError(f"{words}: exit code {code}, {errors.getvalue()[-500:]!r}")
