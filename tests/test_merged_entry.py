"""A benchmark entry some of whose tasks were run again: what is replaced, what stays, and what is refused."""

import numpy as np
import pytest
from typer.testing import CliRunner

from support.entries import made_up
from tools.__main__ import app
from tools.exploration import merged
from ucls.benchmark import result
from ucls.benchmark.check import check
from ucls.benchmark.tasks import PUBLIC, chosen
from ucls.errors import UserError

AGAIN = chosen(PUBLIC, only=["river-swim", "deep-sea-10"])


def test_tasks_that_were_run_again_replace_runs_and_refusals(tmp_path):
    old, new = made_up(0, refused=("river-swim",)), made_up(1, tasks=AGAIN)
    result.write(old, tmp_path / "old.json")
    result.write(new, tmp_path / "new.json")
    done = CliRunner().invoke(app, ["merge", str(tmp_path / "old.json"), str(tmp_path / "new.json")])
    assert done.exit_code == 0, done.output
    found, part = check(tmp_path / "old.json")
    assert (part, found.refused, len(found.runs)) == ("quick", {}, len(old.runs) + 3)  # river-swim was refused
    by_run = {(run.task, run.seed): run for run in found.runs}
    for source, ids in ((new, {"river-swim", "deep-sea-10"}), (old, {"cart-pole", "taxi"})):
        for run in (run for run in source.runs if run.task in ids):
            assert np.array_equal(by_run[run.task, run.seed].greedy_returns, run.greedy_returns)
    assert found.scores["tasks"]["deep-sea-10"] == new.scores["tasks"]["deep-sea-10"]
    assert found.scores["overall"] != old.scores["overall"]


@pytest.mark.parametrize(
    ("new", "words"),
    [
        (made_up(1, tasks=AGAIN, seeds=2), "the files have different seeds: 3 and 2"),
        (made_up(1, label="theirs", tasks=AGAIN), "the files are of different entries: mine and theirs"),
        (made_up(1, tasks=chosen(PUBLIC, only=["taxi"])), "the older file lacks the tasks taxi"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(new, words):
    with pytest.raises(UserError, match=words):
        merged(made_up(0), new)
