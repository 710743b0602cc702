"""The memory that a learner takes, known from its configuration before anything is allocated."""

import os
from pathlib import Path

from ucls.core.config import Resolved
from ucls.errors import UserError

SPARE = 2**29  # bytes that a learner loaded from a small file may take: matrices are trimmed in files


def allocation_of(resolved: Resolved, steps: int = 0) -> int:
    """The number of array elements of a learner after some steps.

    An algorithm that does not say (`allocation`, or `allocation_at` if its data grow) counts as quadratic.
    """
    plan, algorithm, hyper, features, settings = resolved
    known = features.allocation(settings, plan.low, plan.high, plan.n_actions)
    sizes = known.size, plan.n_actions, known.n_active
    if hasattr(algorithm, "allocation_at") and (steps or not hasattr(algorithm, "allocation")):
        own = algorithm.allocation_at(hyper, *sizes, steps)
    else:
        own = algorithm.allocation(hyper, *sizes) if hasattr(algorithm, "allocation") else 4 * known.size**2
    return known.numbers + 6 * plan.n_actions * known.n_active + own


def refuse_large_learner(resolved: Resolved, file: int | None = None, steps: int = 0) -> int:
    """Refuse a learner that would not fit in memory, now or after some steps; return the number of its elements.

    `file` is the size of the file that the configuration was read from, if any.
    """
    plan, algorithm, amount = resolved.plan, resolved.algorithm, allocation_of(resolved, steps)
    size = resolved.features.allocation(resolved.feature_settings, plan.low, plan.high, plan.n_actions).size
    what = f"{plan.agent} with {size:,} features ({plan.features}, {plan.n_actions:,} actions)"
    if steps and hasattr(algorithm, "allocation_at"):
        what += f" after {steps:,} steps"
    elif not hasattr(algorithm, "allocation") and not hasattr(algorithm, "allocation_at"):
        what += ", whose `allocation` is missing, so that 4 * features^2 numbers are assumed,"
    refuse_too_large(amount, what, file)
    return amount


def refuse_too_large(amount: int, what: str, file: int | None = None) -> None:
    """Refuse to allocate more numbers of 8 bytes than the machine has memory for, or than a file could contain.

    The arrays of a learner that takes more than `SPARE` bytes are stored whole, so ten times the size of its file is
    more than it can need.
    """
    if file is not None and 8 * amount > 10 * file + SPARE:
        raise UserError(f"the checkpoint cannot be right: {what} does not fit in {file:,} bytes")
    if 8 * amount > (memory := machine_memory()):
        raise UserError(f"{what} needs {8 * amount / 2**30:,.1f} GB of memory, this machine has {memory / 2**30:,.1f}")


def machine_memory() -> int:
    """Return the memory of this machine or container in bytes; 64 GB if the system does not say."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        machine = 2**36
    try:
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (ValueError, OSError):  # "max", or no such thing
        return machine
