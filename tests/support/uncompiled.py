"""Tests in processes with the compiler off.

To start Python and import everything takes a second, which is longer than most of these tests do. So one process does
that, once for every process of pytest, and each test runs in a copy of it (`os.fork`).
"""

import atexit
import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import ucls
from ucls.algorithms import ALGORITHMS

TESTS = Path(__file__).parents[1]
UNCOMPILED = {"NUMBA_DISABLE_JIT": "1"}
IMPORTED = (
    *("pytest", "typer.testing", "gymnasium.wrappers.vector", "ucls.agent.agent", "ucls.cli.train", "ucls.study"),
    *("ucls.testing", "ucls.train.train", *ALGORITHMS.values()),
)
COPIES = sys.platform == "linux"  # elsewhere libraries may not work in a copy of a process

_server = None


def run_uncompiled(code):
    """Run some lines of Python in a process with the compiler off, where the tests are."""
    done = _ask({"code": code, "folder": str(TESTS), "environment": _environment()})
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def check_uncompiled(test_module, steps, *more):
    """Run a test file's `check_against_oracle` on every environment with the compiler off, with all arguments given."""
    lines = [f"from {test_module} import *", "for env in ENVIRONMENTS:"]
    run_uncompiled("\n".join([*lines, *(f"    check_against_oracle(env, {steps}, {words})" for words in more or [""])]))


def ucls_uncompiled(folder, *words):
    """Run `ucls` in a folder with the compiler off, as a process of its own; it must start no others."""
    return _ask({"words": [*map(str, words)], "folder": str(folder), "environment": {**os.environ, **UNCOMPILED}})


def _ask(request):
    global _server
    if _server is None or _server.poll() is not None or not COPIES:
        _server = _start()
    try:
        _server.stdin.write(json.dumps(request) + "\n")
        _server.stdin.flush()
        return subprocess.CompletedProcess(request.get("words", ()), *json.loads(_server.stdout.readline()))
    except BaseException:  # a time limit, say: what it is doing would answer the next question
        _server.kill()
        _server = None
        raise


def _environment():
    path = os.pathsep.join(map(str, (Path(ucls.__file__).parents[1], TESTS.parent / "examples")))
    return {**os.environ, **UNCOMPILED, "PYTHONWARNINGS": "error", "PYTHONPATH": path}


def _start():
    code = "from ucls.envs import ENVIRONMENTS; from support.uncompiled import serve; serve()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen([sys.executable, "-c", code], **pipes, text=True, cwd=TESTS, env=_environment())
    atexit.register(server.stdin.close)
    return server


def serve():
    """Do what is asked line by line, each in a copy of this process, and answer with exit code, output and errors."""
    from numba import config

    assert config.DISABLE_JIT
    for name in IMPORTED:
        importlib.import_module(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            child = os.fork()
            if child == 0:
                _end(_do, (output.fileno(), errors.fileno()), json.loads(line))
            answer = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
            for file in (output, errors):
                file.seek(0)
                answer.append(file.read().decode(errors="replace"))
            print(json.dumps(answer), flush=True)


def _do(folder, environment, code=None, words=None):
    """Run lines of Python, or a command with the warnings and the path that `python -m ucls` has."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    if words is None:
        exec(compile(code, "the code of a test", "exec"), vars(sys.modules["__main__"]))
        return
    from ucls.__main__ import main

    warnings.resetwarnings()
    for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)
    sys.path[:] = [folder, *(each for each in sys.path[1:] if each != str(TESTS.parent / "examples"))]
    sys.argv = ["ucls", *words]
    main()


def _end(function, outputs, request):
    """Call a function and end this process as Python would."""
    for descriptor, file in enumerate(outputs, 1):
        os.dup2(file, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    code = 1
    try:
        function(**request)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
