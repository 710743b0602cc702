"""A Slurm of one node on this machine, for tests: `python -m faults.slurm` says whether it can be started here.

It consists of Debian's munged, slurmctld and slurmd, started as children with configuration, key, sockets and state in
a folder of their own. They listen on the loopback address only, and need no systemd.
"""

import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
INSTALL = "apt-get install --no-install-recommends slurmctld slurmd slurm-client munge"
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
SECONDS = 60.0  # until the node is ready
CONFIGURATION = """ClusterName=ucls
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=3 RealMemory=4096 State=UNKNOWN
PartitionName=short Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=long Nodes=ALL MaxTime=INFINITE State=UP
"""
CGROUPS = "CgroupPlugin=cgroup/v1\nCgroupMountpoint={folder}/cgroup\n"  # a folder that is not there: no groups are used


def missing() -> str:
    """Return what is missing to start Slurm, and how to install it; empty if nothing is."""
    if absent := [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]:
        return f"there is no Slurm here, {', '.join(absent)} not found: {INSTALL}"
    return "" if find_spec("submitit") else "submitit is not installed: pip install 'ucls[slurm]'"


@contextmanager
def one_node() -> Iterator[dict[str, str]]:
    """Start Slurm with partitions `short` and `long`, three jobs at a time; yield the environment variables for it."""
    folder = Path(tempfile.mkdtemp(prefix="ucls-slurm-"))
    folder.chmod(0o755)  # munged insists
    environment = {**os.environ, "PATH": PATH, "SLURM_CONF": str(folder / "slurm.conf")}
    _write_configuration(folder)
    children: list[subprocess.Popen[bytes]] = []
    try:
        key, conf = f"--key-file={folder}/munge.key", ["-f", str(folder / "slurm.conf")]
        files = [f"--{name}-file={folder}/munged.{name}" for name in ("log", "pid", "seed")]
        for command in (
            ["munged", "--foreground", f"--socket={folder}/munge.sock", key, *files],
            ["slurmctld", "-D", *conf],
            ["slurmd", "-D", *conf],
        ):
            with (folder / f"{command[0]}.txt").open("wb") as log:
                children.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
            time.sleep(1.0)  # the next one needs it
        _wait_until_idle(folder, environment, children)
        yield environment
        ask(environment, "scancel", "--me")
        deadline = time.monotonic() + 30
        while ask(environment, "squeue", "--noheader") and time.monotonic() < deadline:
            time.sleep(0.5)
    finally:
        for child in reversed(children):
            _end(child)
        shutil.rmtree(folder, ignore_errors=True)


def ask(environment: dict[str, str], *command: str) -> str:
    """Return the output of a Slurm command."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60).stdout.strip()


def _write_configuration(folder: Path) -> None:
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").touch(mode=0o600)
    (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
    ports = [_free_port(), _free_port()]
    user, host = _user(), platform.node().partition(".")[0]
    text = CONFIGURATION.format(folder=folder, host=host, ports=ports, user=user)
    (folder / "slurm.conf").write_text(text)
    (folder / "cgroup.conf").write_text(CGROUPS.format(folder=folder))


def _wait_until_idle(folder: Path, environment: dict[str, str], children: list[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + SECONDS
    while ask(environment, "sinfo", "--noheader", "--format=%t", "--partition=short") != "idle":
        if time.monotonic() > deadline or any(child.poll() is not None for child in children):
            said = [f"{log.stem}: {log.read_text(errors='replace')[-500:]}" for log in folder.glob("*.txt")]
            raise RuntimeError("Slurm does not start: " + "; ".join(said))
        time.sleep(0.3)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(20)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.geteuid()).pw_name


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


if __name__ == "__main__":
    if why := missing():
        sys.exit(why)
