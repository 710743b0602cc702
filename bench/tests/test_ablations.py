"""Ablations of UCLS-Plan: which runs are missing, and what the table says of those there are."""

import csv

import pytest

from bench.ablations import runs
from bench.ablations.changes import CHANGES
from bench.ablations.domains import DOMAINS
from bench.ablations.table import table


def row(change, seed, score, version=6, domain="One-State"):
    return {"change": change, "domain": domain, "seed": str(seed), "score": str(score), "version": str(version)}


def test_a_star_marks_a_difference_on_common_seeds_between_runs_of_the_newest_version():
    usual = [row("none", seed, 1.0 + 0.1 * seed) for seed in range(4)]
    worse = [row("no clip", seed, 0.5 + 0.101 * seed) for seed in range(4)]
    alike = [row("mixed policies", seed, 1.0 + 0.1 * (3 - seed)) for seed in range(4)]
    columns, lines = table([*usual, *worse, *alike, row("no noise term", 0, 9.0, version=5)])
    assert columns == ["change", "One-State"]
    assert lines == [["none", "1.15 (4)"], ["mixed policies", "1.15 (4)"], ["no clip", "0.6515* (4)"]]


def test_large_means_have_all_their_digits():
    assert table([row("none", seed, 10_800.0 + seed) for seed in range(3)])[1] == [["none", "10,801 (3)"]]


def test_only_missing_runs_are_made(tmp_path, monkeypatch):
    file, asked = tmp_path / "runs.csv", []

    class Pool:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def apply(self, _, args):
            asked.append(args)
            return [float(seed) for seed in args[2]]

    class Context:
        Pool = staticmethod(lambda _: Pool())

    monkeypatch.setattr(runs.multiprocessing, "get_context", lambda _: Context)
    for most in (2, 3, 3):
        runs.run_missing("no clip", "One-State", most, file)
    runs.run_missing("lambda = 0", "One-State", 1, file)  # nothing that one-hot features know
    assert asked == [("no clip", "One-State", [0, 1]), ("no clip", "One-State", [2])]
    with file.open(newline="") as opened:
        assert [line["score"] for line in csv.DictReader(opened)] == ["0", "1", "2"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_change_says_what_it_changes(domain):
    for change, what in CHANGES.items():
        settings = runs.settings_of(change, domain)
        assert settings is None or settings or what.replace or change == "none"
