"""Tests in processes with the compiler off.

To start Python and import everything takes a second, which is longer than most of these tests do. So one process does
that, once for every process of pytest, and each test runs in a copy of it (`os.fork`).
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import ucls

TESTS = Path(__file__).parents[1]
COPIES = sys.platform == "linux"  # elsewhere libraries may not work in a copy of a process

_server = None


def run_uncompiled(code):
    """Run some lines of Python in a process with the compiler off, where the tests are."""
    global _server
    if _server is None or _server.poll() is not None or not COPIES:
        _server = _start()
    try:
        _server.stdin.write(json.dumps({"code": code, "environment": _environment()}) + "\n")
        _server.stdin.flush()
        failed, said = json.loads(_server.stdout.readline())
    except BaseException:  # a time limit, say: what it is doing would answer the next question
        _server.kill()
        _server = None
        raise
    assert not failed, said


def check_uncompiled(test_module, steps, *more):
    """Run a test file's `check_against_oracle` on every environment with the compiler off, with all arguments given."""
    lines = [f"from {test_module} import *", "for env in ENVIRONMENTS:"]
    run_uncompiled("\n".join([*lines, *(f"    check_against_oracle(env, {steps}, {words})" for words in more or [""])]))


def _environment():
    found = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    found["PYTHONPATH"] = os.pathsep.join(map(str, (Path(ucls.__file__).parents[1], TESTS.parent / "examples")))
    return found


def _start():
    code = "from ucls.envs import ENVIRONMENTS; from support.uncompiled import serve; serve()"
    command = [sys.executable, "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen(command, **pipes, text=True, cwd=TESTS, env=_environment())
    atexit.register(server.stdin.close)
    return server


def serve():
    """Run code that is read line by line, each in a copy of this process, and say whether it failed and why."""
    import numba

    from ucls.algorithms import ALGORITHMS, algorithm_module

    assert numba.config.DISABLE_JIT
    for name in ALGORITHMS:
        algorithm_module(name)
    for line in sys.stdin:
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if child == 0:
                _run(said.fileno(), **json.loads(line))
            failed = os.waitpid(child, 0)[1]
            said.seek(0)
            print(json.dumps([failed, said.read().decode(errors="replace")[-5000:]]), flush=True)


def _run(said, code, environment):
    """Run code and end this process."""
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.clear()
    os.environ.update(environment)
    failed = 1
    try:
        exec(compile(code, "the code of a test", "exec"), vars(sys.modules["__main__"]))
        failed = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(failed)
