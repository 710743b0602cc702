"""How much memory there is: what would not fit is refused before it is allocated."""

import os
from pathlib import Path

from ucls.errors import UserError

UNKNOWN = 8 << 30
COPIES = 4  # of A, while it is decomposed


def memory() -> int:
    """Bytes of memory that this process may have: the machine's, and no more than its container's."""
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        size = UNKNOWN
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        limit = "max"
    return min(size, int(limit)) if limit.isdigit() else size


def refuse_features(size: int) -> None:
    """Refuse a number of features whose matrix A does not fit."""
    most = int((memory() / (8 * COPIES)) ** 0.5)
    if size > most:
        raise UserError(
            f"{size:,} features need a matrix of {size:,} by {size:,}, and there is memory for {most:,}: "
            "number them from 0 without gaps (for logs: --features one_hot)"
        )
