"""`python -m bench logs`: run replications; `python -m tools fill` then writes the tables of docs/log-coverage.md.

`python -m bench logs cautious` measures policies that were learned from logs, `cost` processor time and memory, `large
CASE RUNS` coverage with 5,000 episodes, and `baselines FOLDER` compares with other packages.
"""

import argparse
from pathlib import Path

from bench.logs import baselines, cautious, cost, large
from bench.logs.study import CASES, RUNS, SIZES, run_all
from bench.logs.tables import summarize

DATA = Path(__file__).parents[2] / "docs" / "data" / "log-coverage.csv"
CAUTIOUS = DATA.with_name("log-cautious.csv")
LARGE = DATA.with_name("log-large.csv")
REPLICATIONS = DATA.with_name("log-replications.csv")  # shipped, so that the study continues from them


def main(arguments: list[str]) -> int:
    """Make the missing replications, summarize, and print."""
    if arguments[:1] == ["baselines"] and len(arguments) == 2:
        return baselines.main(Path(arguments[1]))
    if arguments[:1] == ["cost"]:
        return cost.main(arguments[1:])
    if arguments[:1] == ["large"] and len(arguments) == 3:
        large.measure(LARGE, arguments[1], int(arguments[2]))
        return 0
    if arguments[:1] == ["cautious"]:
        return _cautious(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m bench logs", description=__doc__)
    parser.add_argument("--runs", default=",".join(map(str, RUNS)), help="replications for each number of episodes")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of episodes")
    parser.add_argument("--cases", default="", help="only these, separated by semicolons; all by default")
    parser.add_argument(
        "--replications", type=Path, default=REPLICATIONS, help="the file that replications are kept in"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="the file of the summary")
    given = parser.parse_args(arguments)
    runs = dict(zip(map(int, given.sizes.split(",")), map(int, given.runs.split(",")), strict=True))
    given.replications.parent.mkdir(parents=True, exist_ok=True)
    names = [name.strip() for name in given.cases.split(";") if name.strip()]
    cases = tuple(case for case in CASES if not names or case.name in names)
    for row in run_all(given.replications, runs, cases):
        print(f"{row.case}, {row.episodes} episodes, run {row.run}: {row.seconds:.2f} s", flush=True)
    summarize(given.replications, given.out)
    return 0


def _cautious(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench logs cautious")
    parser.add_argument("--runs", type=int, default=60, help="runs of every environment and number of episodes")
    parser.add_argument("--out", type=Path, default=CAUTIOUS, help="the file of the runs")
    parser.add_argument("--only", nargs="*", default=list(cautious.SETTINGS), choices=cautious.SETTINGS)
    given = parser.parse_args(arguments)
    for row in cautious.run_all(given.out, given.runs, given.only):
        print(f"{row.domain}, {row.episodes} episodes, run {row.run}", flush=True)
    return 0
