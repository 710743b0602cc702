"""A gate for regressions that noise cannot trip: ratios with wide margins."""

from typing import Any, NamedTuple

from bench import agents
from bench.runs import every_core
from bench.step import case
from bench.tables import Table, number

# Others over ours, at least: about half of what was found on a machine with AVX-512 and one BLAS thread.
RATIOS = {128: {"NumPy, dense": 10.0, "NumPy, tuned": 5.0}, 512: {"NumPy, dense": 12.0, "NumPy, tuned": 2.0}}
OVER_C = 2.0  # ours over C, at most
SPEED_UP = {4: 2.0, 8: 3.0}  # of environments with 10 ms per step, at least
MASKS = 4.0  # a step with action masks over one without, at most
CALLS = 1000.0  # empty function calls that a step without masks may take; 500 were found


class Gate(NamedTuple):
    """What must hold, what was found, and whether it does."""

    name: str
    limit: str
    found: str
    holds: bool


def gates() -> list[Gate]:
    """Go through every gate."""
    return [gate for d in RATIOS for gate in _ratios(d)] + _agents()


def _ratios(d: int) -> list[Gate]:
    measured = case(d, "float64", seconds=3.0)["times_ours"]
    found = []
    for name, limit in RATIOS[d].items():
        value = measured[name][1]
        found.append(Gate(f"d = {d}: {name} over ours", f">= {number(limit)}", number(value), value >= limit))
    if "C" in measured:
        value = 1 / measured["C"][1]
        found.append(Gate(f"d = {d}: ours over C", f"<= {number(OVER_C)}", number(value), value <= OVER_C))
    return found


def _agents() -> list[Gate]:
    """Several slow environments at once, and steps with and without masks."""
    with every_core():
        over = agents.speed_of_vectors(turns=3, rounds=30)["over one"]
    masks = agents.speed_of_masks(seconds=3.0)
    found = []
    for n, limit in SPEED_UP.items():
        value = over[str(n)][1]
        name = f"{n} environments of 10 ms per step over one"
        found.append(Gate(name, f">= {number(limit)}", number(value), value >= limit))
    for name, key, limit in (
        ("Agent.learn: masks over none", "masks over none", MASKS),
        ("Agent.learn without masks, in empty function calls", "none over step", CALLS),
    ):
        value = masks[key][1]
        found.append(Gate(name, f"<= {number(limit)}", number(value), value <= limit))
    return found


def table(found: list[Gate]) -> Table:
    """The gates, as a table."""
    rows = [[gate.name, gate.limit, gate.found, "holds" if gate.holds else "BROKEN"] for gate in found]
    return Table("Gates", ["what", "limit", "found", "verdict"], rows)


def as_data(found: list[Gate]) -> list[dict[str, Any]]:
    """The gates, as plain data."""
    return [gate._asdict() for gate in found]
