"""The commit of a folder: its id, whether the folder differs from it, whether a commit exists."""

import subprocess
from pathlib import Path


def commit_at(folder: Path) -> str:
    """The commit that a folder is at; nothing where there is none."""
    return _asked(folder, "rev-parse", "--short", "HEAD") or ""


def is_changed(folder: Path) -> bool:
    """Whether a folder differs from the commit that it is at."""
    return _asked(folder, "status", "--porcelain", "--", ".") != ""


def exists(commit: str, folder: Path) -> bool:
    """Whether the history of a folder has a commit."""
    return bool(commit) and _asked(folder, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}") is not None


def _asked(folder: Path, *words: str) -> str | None:
    try:
        answer = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
