"""`python -m bench environments`: run the study, let Stable-Baselines3 run beside it, make the page."""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples" / "environments.toml"


def main(words: list[str]) -> int:
    """Run what was asked for."""
    asked = _asked(words)
    sys.path.append(str(STUDY.parent))
    from ucls.study.declare import read_study

    if asked.rivals:
        from bench.known import rivals

        rivals.measure(read_study(asked.study), asked.store, asked.only, asked.seeds or 3)
    elif not asked.no_run:
        from bench.known import run

        run.measure(read_study(asked.study), asked.store, asked.only, asked.seeds)
    if asked.page:
        from bench.known import page
        from bench.known.tasks import rivals_of

        page.write(asked.store, rivals_of(asked.store), asked.page)
    return 0


def _asked(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench environments", description="What agents reach at their defaults, measured in one process."
    )
    parser.add_argument("--study", type=Path, default=STUDY, help="the study; examples/environments.toml by default")
    parser.add_argument(
        "--store", type=Path, default=ROOT / "out" / "environments.sqlite", help="where results are kept"
    )
    parser.add_argument(
        "--only", nargs="*", default=[], metavar="WORD", help="environments with one of these in their title"
    )
    parser.add_argument("--seeds", type=int, help="the first so many seeds")
    parser.add_argument(
        "--rivals", action="store_true", help="DQN and PPO of Stable-Baselines3 (pip install 'ucls[baselines]')"
    )
    parser.add_argument("--no-run", action="store_true", help="run nothing")
    parser.add_argument("--page", type=Path, help="write the page from what there is, and its data beside it")
    return parser.parse_args(words)
