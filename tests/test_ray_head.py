"""A Ray whose head dies ends a study in one line with an exit code of its own, and the study continues elsewhere."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from faults.torture import shell
from ucls.errors import ClusterLost
from ucls.study.runners import ray

UNCOMPILED = {"NUMBA_DISABLE_JIT": "1"}


@contextmanager
def ray_head():
    """A Ray of one core on this machine; gives its address and its process, which leads a group."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="ucls-ray-", dir="/tmp")  # sockets there must have short names
    words = [f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=1", "--include-dashboard=false"]
    words += ["--object-store-memory=100000000", f"--temp-dir={folder}", "--min-worker-port=0", "--max-worker-port=0"]
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", *words]
    environment = {**os.environ, **UNCOMPILED, **ray.SETTINGS, **ray.LOOPBACK, "RAY_AUTH_MODE": "disabled"}
    with Path(folder, "head.txt").open("wb") as log:
        head = subprocess.Popen(command, env=environment, start_new_session=True, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 300  # seconds, as everywhere here, for a machine that is busy
        while not answers(port) and head.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        assert answers(port), Path(folder, "head.txt").read_text()
        yield f"127.0.0.1:{port}", head
    finally:
        with suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        head.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'ucls[ray]'")
def test_a_study_whose_ray_head_is_killed_ends_in_one_line_with_code_3_and_resumes(tmp_path, monkeypatch):
    for name, value in {**UNCOMPILED, **ray.LOOPBACK, "RAY_AUTH_MODE": "disabled"}.items():
        monkeypatch.setenv(name, value)
    ours, other = tmp_path / "ours", tmp_path / "other"
    ours.mkdir(), other.mkdir()
    with ray_head() as (address, head):
        process = shell.begin(ours, "run", "study.toml", "--ray", address, "--checkpoint-interval", "0.1", "--json")
        kept, deadline = ours / "s.sqlite.partial", time.monotonic() + 300
        while not list(kept.glob("[!.]*")) and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(head.pid, signal.SIGKILL)
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 3, errors
    assert errors.startswith(
        f"ucls: the Ray head node at {address} does not answer: finished runs are saved; restart Ray"
    )
    assert (errors.count("\n"), out) == (1, "")
    status = shell.begin(ours, "status", "campaign", "--json")
    assert json.loads(status.communicate(timeout=300)[0])["done"] < 4
    assert list(kept.glob("[!.]*"))
    assert shell.finished(ours) == shell.finished(other)


def test_a_head_is_gone_once_it_has_not_answered_for_a_while(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can answer there
        head = ray._Head(f"127.0.0.1:{taken.getsockname()[1]}")
        assert not head.answers()
        monkeypatch.setattr(ray, "HEAD_SECONDS", 0.0)
        with pytest.raises(ClusterLost, match="repeat the command to resume"):
            head.answers()
        taken.listen()
        assert head.answers()
    assert ray._Head("local").answers()  # of a client that knows no address of the head
    assert ClusterLost.code == 3
