"""The number of cores that this process may use, by its affinity and a container's quota of processor time."""

import math
import os
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


def cores() -> int:
    """The number of processes that can run at once."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _quota(CGROUPS)))


def _quota(groups: Path) -> int:
    """Return the cores that a control group grants, rounded up; very many if there is no limit."""
    for file in ("cpu.max", "cpu/cpu.cfs_quota_us"):  # version 2; version 1
        try:
            words = (groups / file).read_text().split()
            period = words[1] if len(words) > 1 else (groups / "cpu/cpu.cfs_period_us").read_text()
            if words[0] not in ("max", "-1"):
                return max(1, math.ceil(int(words[0]) / int(period)))
        except (OSError, ValueError, IndexError, ZeroDivisionError):
            continue
    return 1 << 20
