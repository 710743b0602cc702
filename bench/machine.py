"""The machine, the versions and the date of measurements."""

import datetime
import importlib.metadata
import platform
import subprocess
import sys
from pathlib import Path

from bench import native
from bench.harness import cores

PACKAGES = ("ucls", "numpy", "numba", "llvmlite", "jax", "gymnasium")


def describe() -> dict[str, str]:
    """Everything that a reader needs to compare with another machine."""
    return {
        "processor": _processor(),
        "cores": str(len(cores())),
        "caches": _caches(),
        "system": platform.platform(),
        "python": sys.version.split()[0],
        **{name: _version(name) for name in PACKAGES},
        "compiler": native.compiler_version() or "none",
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    facts = dict(line.split("\t", 1) for line in lines if "\t" in line)
    wide = "AVX-512" if "avx512f" in facts.get("flags", "") else "AVX2" if "avx2" in facts.get("flags", "") else ""
    facts = {name.strip(): value.strip(" \t:") for name, value in facts.items()}
    named = (
        f"{facts.get('model name', platform.processor())}, family {facts.get('cpu family')} model {facts.get('model')}"
    )
    return f"{named}{', ' + wide if wide else ''}"


def _caches() -> str:
    found = {}
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((folder / name).read_text().strip() for name in ("level", "type", "size"))
        if kind != "Instruction":
            found[f"L{level}"] = size
    return ", ".join(f"{level} {size}" for level, size in found.items()) or "unknown"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "from its sources" if name == "ucls" else "none"


def revision() -> str:
    """The commit that is checked out, and whether files differ from it."""
    return _git("describe", "--always", "--dirty") or "unknown"


def package_revision() -> str:
    """The last commit that changed the package, and whether files of it differ from that."""
    commit, changed = _git("log", "-1", "--format=%h", "--", "src"), _git("status", "--porcelain", "--", "src")
    return f"{commit}{'-dirty' * bool(changed)}" if commit else "unknown"


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
