"""`python -m bench ablations`: make the runs that are missing from the file of results."""

import argparse
import csv
import multiprocessing
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from bench.ablations.changes import CHANGES
from bench.ablations.domains import DOMAINS
from bench.machine import package_revision
from ucls.algorithms.ucls_plan import RESULTS_VERSION

FILE = Path(__file__).parents[2] / "docs" / "data" / "planning-ablations.csv"
HEAD = ["change", "domain", "seed", "score", "version", "commit"]


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench ablations", description=__doc__)
    parser.add_argument("--only", nargs="*", default=list(DOMAINS), choices=list(DOMAINS), metavar="DOMAIN")
    parser.add_argument("--changes", nargs="*", default=list(CHANGES), choices=list(CHANGES), metavar="CHANGE")
    parser.add_argument("--runs", type=int, help="at most this many runs of each")
    parser.add_argument("--out", type=Path, default=FILE, help="the file of results")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as caches:
        for change in asked.changes:
            os.environ["UCLS_CACHE_DIR"] = str(Path(caches) / change.replace(" ", "-"))
            for domain in asked.only:
                run_missing(change, domain, asked.runs or DOMAINS[domain].runs, asked.out)
    return 0


def run_missing(change: str, domain: str, most: int, out: Path) -> None:
    """Make the missing runs with these first seeds, in a new process, and add them to the file."""
    if settings_of(change, domain) is None:
        return
    there = rows(out)
    mine = (change, domain, str(RESULTS_VERSION))
    had = {int(row["seed"]) for row in there if (row["change"], row["domain"], row["version"]) == mine}
    seeds = [seed for seed in range(most) if seed not in had]
    if not seeds:
        return
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        scores = pool.apply(scores_of, (change, domain, seeds))
    commit = package_revision()
    with out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not there and not out.stat().st_size:
            writer.writerow(HEAD)
        for seed, score in zip(seeds, scores, strict=True):
            writer.writerow([change, domain, seed, f"{score:.6g}", RESULTS_VERSION, commit])
    print(f"{domain}, {change}: {np.mean(scores):.4g}, worst {min(scores):.4g}", flush=True)


def rows(file: Path = FILE) -> list[dict[str, str]]:
    """The runs in a file."""
    if not file.exists():
        return []
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def settings_of(change: str, domain: str) -> Mapping[str, object] | None:
    """The settings of a change in a domain; None if it changes nothing there."""
    return CHANGES[change].one_hot if DOMAINS[domain].one_hot else CHANGES[change].tiles


def scores_of(change: str, domain: str, seeds: list[int]) -> list[float]:
    """Apply a change to the package, and run; only in a separate process."""
    replace = CHANGES[change].replace
    if replace is not None:
        replace()
    return [DOMAINS[domain].score(dict(settings_of(change, domain) or {}), seed) for seed in seeds]
