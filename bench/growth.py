"""What a step costs while the block of seen features grows."""

from typing import Any

from bench.harness import Effort, Job, interleave, spread
from bench.steps.kernel import Kernel
from bench.steps.stream import make_stream
from bench.tables import Table, number, within

ROOM = 1536  # the features of Sparse Mountain Car
SEEN = (64, 128, 256, 384, 512, 768, 1024, 1280, 1536)
QUICK = (64, 512, 1536)


def measure(effort: Effort) -> dict[str, Any]:
    """Time the step with n features seen of 1536."""
    learners = {n: Kernel(make_stream(n), "float64", ROOM) for n in effort.of(SEEN, QUICK)}
    samples = interleave({str(n): Job(learner.run) for n, learner in learners.items()}, effort.of(15.0, 1.0))
    return {"room": ROOM, "us": {n: spread(samples[str(n)]) for n in learners}}


def tables(found: dict[str, Any]) -> list[Table]:
    """Microseconds and nanoseconds for each element of the block."""
    rows = [[str(n), within(us), number(1e3 * us[1] / int(n) ** 2)] for n, us in found["us"].items()]
    return [
        Table(
            f"UCLS step by number of features seen, d = {found['room']}",
            ["features seen n", "µs per step", "ns / n^2"],
            rows,
            "Arrays have their full size from the start; only features that have been seen cost time.",
        )
    ]
