"""`python -m bench environments`: run the study, and save its results."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples" / "environments.toml"


def main(words: list[str]) -> int:
    """Run the command."""
    asked = _asked(words)
    sys.path.append(str(STUDY.parent))
    from ucls.study.declaration.declare import read_study

    if not asked.no_run:
        from bench.known import run

        run.measure(read_study(asked.study), asked.store, asked.only, asked.seeds, asked.agents)
    if asked.data:
        from bench.known import page

        page.update(asked.store, asked.data)
    return 0


def _asked(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench environments",
        description="Measure agents with default settings in well-known environments, in one process.",
    )
    parser.add_argument("--study", type=Path, default=STUDY, help="the study; examples/environments.toml by default")
    parser.add_argument("--store", type=Path, default=ROOT / "out" / "environments.sqlite", help="the file of results")
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="WORD", help="environments with one of these in their title"
    )
    parser.add_argument("--agents", nargs="*", default=[], metavar="LABEL", help="agents with one of these labels")
    parser.add_argument("--seeds", type=int, help="number of seeds to run")
    parser.add_argument("--no-run", action="store_true", help="run nothing")
    parser.add_argument("--data", type=Path, help="add the results so far to this CSV file")
    return parser.parse_args(words)
