"""Coverage of the upper bound of UCLS-Plan over q*: `python -m bench.bound_coverage [--runs N] [--out FILE]`.

Each run is measured once, at its end, on the visited pairs (see `ucls.diagnostics.coverage`); a row for each run.
"""

import argparse
import csv
import io
from pathlib import Path

from ucls._util.files import write_atomic
from ucls.core.run import make_run
from ucls.diagnostics import optimal_values
from ucls.diagnostics.coverage import Coverage, coverage, nominal_rate

ENVIRONMENTS = ("DeepSea", "OneState", "RiverSwim", "PuddleWorld", "SparseMountainCar")
FIRST_SEED = 3000
HEAD = ("environment", "seed", "steps", "noise_scale", "nominal", *Coverage._fields)


def measure(name: str, seed: int, steps: int) -> list[str]:
    """The row of one run."""
    run = make_run(f"ucls/{name}-v0", "ucls-plan", seed=seed)
    run.advance(steps)
    found, scale = coverage(run.learner, optimal_values(run)), run.learner.hyper.noise_scale
    return [name, *(f"{number:.6g}" for number in (seed, steps, scale, nominal_rate(scale), *found))]


def main() -> None:
    """Measure all runs; the file is complete after each of them."""
    parser = argparse.ArgumentParser(prog="python -m bench.bound_coverage", description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="runs in each environment, with consecutive seeds")
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="seed of the first run")
    parser.add_argument("--steps", type=int, default=10_000, help="steps of a run")
    parser.add_argument("--out", type=Path, default=Path("docs/data/bound-coverage.csv"), help="the CSV file")
    asked = parser.parse_args()
    rows: list[list[str]] = []
    for seed in range(asked.seed, asked.seed + asked.runs):
        for name in ENVIRONMENTS:
            rows.append(measure(name, seed, asked.steps))
            print(*rows[-1], flush=True)
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([HEAD, *sorted(rows)])
            write_atomic(asked.out, lambda path, text=text: path.write_text(text.getvalue()))


if __name__ == "__main__":
    main()
