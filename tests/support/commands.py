"""The command line, in this process or in one of its own."""

import subprocess
import sys

from typer.testing import CliRunner

from ucls import cli

RIVER = "ucls/RiverSwim-v0"


def ucls(*words):
    """Run a command in this process; a UserError is what `main` turns into exit code 2."""
    result = CliRunner().invoke(cli.app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def ucls_process(*words, **environment):
    """Run a command as a process of its own."""
    command = [sys.executable, "-m", "ucls", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


HEAVY = ("gymnasium", "numba", "numpy", "matplotlib", "rich", "scipy", "sqlite3")
