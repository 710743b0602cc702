"""`python -m bench logs`: run replications, and print the tables of docs/log-coverage.md.

`python -m bench logs cautious` measures policies that were learned from logs, `calibration` fitted probabilities,
`cost` processor time and memory, `large CASE RUNS` coverage with 5,000 episodes, and `baselines FOLDER` compares with
other packages. `marginalized` compares LSTD-Q with marginalized ratios.
"""

import argparse
from pathlib import Path

from bench.logs import baselines, calibration, cautious, cost, large, marginalized
from bench.logs.study import CASES, RUNS, SIZES, run_all
from bench.logs.tables import fill_page, pooled, summarize, tables

PAGE = Path(__file__).parents[2] / "docs" / "log-coverage.md"
DATA = Path(__file__).parents[2] / "docs" / "data" / "log-coverage.csv"
CAUTIOUS = DATA.with_name("log-cautious.csv")
LARGE = DATA.with_name("log-large.csv")
RERUN = DATA.with_name("log-coverage-rerun.csv")
REPLICATIONS = DATA.with_name("log-replications.csv")  # shipped, so that the study continues from them

CALIBRATIONS = 10  # runs


def main(arguments: list[str]) -> int:
    """Run what is missing, summarize, and print."""
    if arguments[:1] == ["baselines"] and len(arguments) == 2:
        return baselines.main(Path(arguments[1]))
    if arguments[:1] == ["cost"]:
        return cost.main(arguments[1:])
    if arguments == ["marginalized"]:
        fill_page(PAGE, marginalized.table(), "marginalized")
        return 0
    if arguments[:1] == ["large"]:
        if len(arguments) == 3:
            large.measure(LARGE, arguments[1], int(arguments[2]))
        fill_page(PAGE, large.table(LARGE), "large")
        return 0
    if arguments == ["calibration"]:
        print(text := calibration.table(CALIBRATIONS))
        fill_page(PAGE, text, "calibration")
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
    print(tables(given.out))
    if given.out.resolve() == DATA:
        fill_page(PAGE, tables(DATA))
    if given.out.resolve() == RERUN:
        fill_page(PAGE, pooled(RERUN), "rerun")
    return 0


def _cautious(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench logs cautious")
    parser.add_argument("--runs", type=int, default=60, help="runs of every environment and number of episodes")
    parser.add_argument("--out", type=Path, default=CAUTIOUS, help="the file of the runs")
    given = parser.parse_args(arguments)
    for row in cautious.run_all(given.out, given.runs):
        print(f"{row.domain}, {row.episodes} episodes, run {row.run}", flush=True)
    print(cautious.table(given.out))
    if given.out == CAUTIOUS:
        fill_page(PAGE, cautious.table(CAUTIOUS), "cautious")
    return 0
