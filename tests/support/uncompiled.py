"""Tests in a process with the compiler off."""

import os
import subprocess
import sys
from pathlib import Path

import ucls


def run_uncompiled(code):
    """Run some lines of Python in a process with the compiler off, where the tests are."""
    lines = f"import numba\nassert numba.config.DISABLE_JIT\nfrom ucls.envs import ENVIRONMENTS\n{code}"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    tests = Path(__file__).parents[1]
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (Path(ucls.__file__).parents[1], tests.parent / "examples")))
    subprocess.run([sys.executable, "-c", lines], cwd=tests, env=environment, check=True)


def check_uncompiled(test_module, steps, *more):
    """Run a test file's `check_against_oracle` on every environment with the compiler off, with all arguments given."""
    lines = [f"from {test_module} import *", "for env in ENVIRONMENTS:"]
    run_uncompiled("\n".join([*lines, *(f"    check_against_oracle(env, {steps}, {words})" for words in more or [""])]))
