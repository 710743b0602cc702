"""What the project promises of its speed, and whether one run keeps it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.tables import Table, number, within

# At d, in float64: how many times as long others take (at least), ours over C (at most), the part of the ceiling.
STEP = {
    128: {"NumPy, dense": 40.0, "NumPy, tuned": 18.0, "JAX, structured": 4.0, "C": 1.25, "ceiling": 0.33},
    512: {"NumPy, dense": 70.0, "NumPy, tuned": 8.0, "JAX, structured": 3.5, "C": 1.15, "ceiling": 0.39},
}
SPEED = {"River Swim": 20_000, "Puddle World": 6_000, "Sparse Mountain Car": 700}
TWO_PROCESSES = 1.8
RAY_OVER_LOCAL = 0.9
QUERY_SECONDS = {10_000: 2.0, 100_000: 15.0}


class Verdict(NamedTuple):
    """A target, what was found (low, median, high; None if it could not be measured), and whether it is met."""

    name: str
    limit: float
    at_most: bool
    found: list[float] | None

    @property
    def met(self) -> bool | None:
        if self.found is None:
            return None
        return self.found[1] <= self.limit if self.at_most else self.found[1] >= self.limit

    @property
    def words(self) -> str:
        """Met or missed, and by how much."""
        if self.found is None:
            return "not measured"
        share = self.limit / self.found[1] if self.at_most else self.found[1] / self.limit
        return f"met, {share - 1:+.0%}" if self.met else f"MISSED, {share - 1:+.0%}"


def verdicts(found: dict[str, Any]) -> list[Verdict]:
    """Every target of the parts that were measured."""
    verdicts = list(_of_steps(found["step"])) if "step" in found else []
    if "runs" in found:
        for name, limit in SPEED.items():
            verdicts.append(Verdict(f"{name}, steps a second", limit, False, found["runs"]["domains"][name]["whole"]))
        verdicts.append(Verdict("two processes over one", TWO_PROCESSES, False, found["runs"]["two"].get("ratio")))
    if "study" in found:
        verdicts += _of_studies(found["study"])
    return verdicts


def _of_studies(found: dict[str, Any]) -> Iterator[Verdict]:
    speed = found["speed"]
    yield Verdict("a study with two local workers over one", TWO_PROCESSES, False, speed.get("two over one"))
    yield Verdict("a study on Ray over the local runner", RAY_OVER_LOCAL, False, speed.get("Ray over local"))
    for cells, limit in QUERY_SECONDS.items():
        for query in ("status", "compare"):
            seconds = found["queries"].get(str(cells), {}).get(query)
            yield Verdict(f"`study {query}` of {cells:,} cells, seconds", limit, True, seconds)


def _of_steps(found: dict[str, Any]) -> Iterator[Verdict]:
    cases = {c["d"]: c for c in found["cases"] if c["dtype"] == "float64"}
    for d, limits in STEP.items():
        for name, limit in limits.items():
            case = cases.get(d)
            if name == "ceiling":
                top = case and case["ceiling"]
                yield Verdict(f"d = {d}: part of the ceiling", limit, False, top["part"] if top else None)
                continue
            over = case["times_ours"].get(name) if case else None
            if name == "C":
                inverse = [1 / value for value in reversed(over)] if over else None
                yield Verdict(f"d = {d}: ours over C", limit, True, inverse)
            else:
                yield Verdict(f"d = {d}: {name} over ours", limit, False, over)


def table(found: dict[str, Any]) -> Table:
    """The targets with their verdicts."""
    rows = [
        [v.name, f"{'<=' if v.at_most else '>='} {number(v.limit)}", within(v.found), v.words] for v in verdicts(found)
    ]
    return Table("Targets", ["what", "target", "found", "verdict"], rows, "By medians, float64; quartiles in brackets.")
