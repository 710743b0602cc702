"""The command: `python -m bench [PART ...] [--quick] [--json] [--docs]`, `python -m bench check`, and others.

The commands in `COMMANDS` have options of their own, which `--help` lists.
"""

import argparse
import json
import os
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

PARTS = (
    *("first", "step", "runs", "shell", "baselines", "study", "algorithms", "evaluation", "one_hot"),
    *("planners", "lapack", "agents"),
)
ROOT = Path(__file__).parent.parent
DATA = ROOT / "docs" / "data" / "performance.json"

COMMANDS = {
    "ablations": "bench.ablations.runs",  # UCLS-Plan with one part changed
    "deep": "bench.deep.command",  # deep agents with settings that others tuned
    "environments": "bench.known.command",  # agents in well-known environments
    "lakes": "bench.lakes",  # UCLS-Plan in both FrozenLakes, and what is possible there
    "learned": "bench.learned",  # ucls-deep and its ablations
    "logs": "bench.logs.command",  # coverage of comparisons from logs
    "long": "bench.long",  # UCLS-Plan for 500,000 steps
    "network": "bench.network",  # a gradient step of ucls-deep beside PyTorch and JAX
    "published": "bench.published",  # baselines beside results that their papers report
    "queries": "bench.queries",  # `study status` and `study compare` on a store of any size
    "regret": "bench.regret",  # regrets of tabular baselines
    "torture": "faults.torture.campaign",  # fuzzing and fault injection
}


def main() -> int:
    """Measure the chosen parts and print them; or run another command."""
    if (name := "".join(sys.argv[1:2])) in COMMANDS:
        _one_thread()
        return import_module(COMMANDS[name]).main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure performance.")
    more = f"{', '.join(PARTS)} (default: all of these); check; {', '.join(COMMANDS)}."
    parser.add_argument("parts", nargs="*", metavar="PART", help=more)
    parser.add_argument("--quick", action="store_true", help="less than a minute, to check that everything runs")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--docs", action="store_true", help="update the data and the figure of docs/performance.md")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - {*PARTS, "check"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")

    _one_thread()
    from bench.harness import cores, pin

    if asked.parts == ["check"]:
        pin(cores()[-1])
        return _gate(asked.json)
    return _measure(asked.parts or list(PARTS), asked.quick, asked.json, asked.docs)


def _one_thread() -> None:
    """Limit BLAS to one thread: a second one on the same core would make NumPy ten times slower."""
    if "numpy" in sys.modules:
        raise RuntimeError("NumPy was imported before its threads could be limited")
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))


def _measure(parts: list[str], quick: bool, as_json: bool, docs: bool) -> int:
    from bench import machine, report
    from bench.harness import Effort, cores, pin
    from bench.tables import plain

    about, found = {**machine.describe(), "commit": machine.revision()}, dict[str, Any]()
    import_module("bench.runs")  # counts the cores
    warnings.simplefilter("ignore", import_module("ucls.errors").UclsWarning)  # of tables that are full on purpose
    pin(cores()[-1])
    for part in parts:
        began = time.perf_counter()
        found[part] = import_module(f"bench.{part}").measure(Effort(quick))
        print(f"{part}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    found = json.loads(json.dumps(found))
    if as_json:
        print(json.dumps({"machine": about, **found}))
    else:
        _show(about)
        for table in [table for part, one in found.items() for table in report.tables(part, one)]:
            print(plain(table))
    if docs:
        report.write(found, f"{about['commit']}, {about['date']}", about, DATA)
        print("updated the data of docs/performance.md: write its tables with `python -m tools fill`", file=sys.stderr)
    return 0


def _show(machine: dict[str, str]) -> None:
    for name, value in machine.items():
        print(f"{name:10} {value}")
    print()


def _gate(as_json: bool) -> int:
    from bench import check
    from bench.tables import plain

    found = check.gates()
    print(json.dumps(check.as_data(found)) if as_json else plain(check.table(found)))
    return 0 if all(gate.holds for gate in found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
