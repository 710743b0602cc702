"""Processor time and memory of a comparison relative to `evaluate-log`: `python -m bench logs cost [--rows N]`.

Both read a log of as many transitions from an .npz: `evaluate-log` with 512 features of which 8 are active, and a
comparison with the features that it chooses, and with 512 Fourier features. Each has its own process, in turns.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.logs.domains import Array
from ucls.evaluation.comparison.basis import Scale, fourier_basis
from ucls.evaluation.logs import read_log

STEPS, GAMMA, TURNS = 20, 0.95, 2
EVALUATE, CHOSEN, LARGE = "evaluate-log", "compare", "compare, d = 512"


def soft(states: Array) -> Array:
    """Return the probabilities of the new policy."""
    p = 0.1 + 0.8 * states[:, 0]
    return np.column_stack([1 - p, p])


def write_logs(folder: Path, rows: int) -> None:
    """Write the same episodes for both: with two numbers as the state, and with 8 of 512 tiles of states and
    actions."""
    rng, n, parts = np.random.default_rng(0), rows // STEPS, []
    s = rng.uniform(size=(n, 2))
    for t in range(STEPS):
        p = 0.3 + 0.4 * s[:, 0]
        a = (rng.random(n) < p).astype(float)
        r = np.sin(4 * s[:, 0]) + a * s[:, 1] + 0.3 * rng.normal(size=n)
        own = np.where(a == 1, p, 1 - p)
        parts.append(np.column_stack([np.arange(n), np.full(n, t), s, a, own, r, np.full(n, t == STEPS - 1)]))
        s = np.abs(s + np.column_stack([0.1 * (2 * a - 1), np.full(n, 0.05)]) + 0.1 * rng.normal(size=(n, 2)))
        s = np.where(s > 1, 2 - s, s)
    cells = np.concatenate(parts)
    cells = cells[np.lexsort((cells[:, 1], cells[:, 0]))]
    names = ("episode", "t", "x", "y", "action", "propensity", "reward", "terminated")
    table = dict(zip(names, cells.T, strict=True))
    np.savez(folder / "states.npz", **table)  # pyright: ignore[reportArgumentType]
    k, over = np.arange(8) / 8, table["terminated"] == 1
    i, j = ((table["x"][:, None] * 7 + k).astype(int), (table["y"][:, None] * 3 + k).astype(int))
    x = ((table["action"][:, None].astype(int) * 8 + np.arange(8)) * 8 + i) * 4 + j
    np.savez(
        folder / "tiles.npz", x=x, x_next=np.vstack([x[1:], x[:1]]), reward=table["reward"],
        discount=np.where(over, 0.0, GAMMA), start=np.append(1.0, over[:-1]),
    )  # fmt: skip


def run(kind: str, folder: Path) -> None:
    """One of the jobs, in this process."""
    if kind == EVALUATE:
        from ucls.evaluation.logs import logfile

        logfile.evaluate(folder / "tiles.npz", 0.9, None, "leave_one_out", "chebyshev", "columns", 10)
        return
    from ucls.evaluation import compare

    log = read_log(folder / "states.npz", GAMMA)
    found = compare(log, soft, features=fourier_basis(15, 2, Scale(log)).rows if kind == LARGE else None)
    print(f"{kind}: {found.n_features} features and, to compare, "
          f"{', '.join(line.name for line in found.candidates[0].features[1:])}", file=sys.stderr)  # fmt: skip


def main(arguments: list[str]) -> int:
    """Run the jobs alternately, and print processor time and memory."""
    parser = argparse.ArgumentParser(prog="python -m bench logs cost")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--job", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.job:
        run(given.job[0], Path(given.job[1]))
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)
        return 0
    found: dict[str, list[Array]] = {EVALUATE: [], CHOSEN: [], LARGE: []}
    with tempfile.TemporaryDirectory() as name:
        write_logs(Path(name), given.rows)
        for turn in range(TURNS + 1):  # the first compiles
            for kind, all_of in found.items():
                command = [sys.executable, "-m", "bench", "logs", "cost", "--job", kind, name]
                told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ).stdout
                if turn:
                    all_of.append(np.array(told.split(), float))
    least = {kind: np.min(all_of, axis=0) for kind, all_of in found.items()}
    print("| job | processor time | memory | times evaluate-log |\n|---|--:|--:|--:|")
    for kind, (seconds, memory) in least.items():
        print(f"| {kind} | {seconds:.1f} s | {memory:.2f} GB | {seconds / least[EVALUATE][0]:.1f} |")
    return 0
