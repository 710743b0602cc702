"""The benchmark compares like with like: every version of the step agrees, and what it finds is written down."""

import json
import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from bench import __main__ as command
from bench import agents, check, evaluation, first, harness, native, opening, queries, report
from bench.step import check_agreement
from bench.steps.dense_numpy import DenseNumpy
from bench.steps.kernel import ExactKernel, Kernel
from bench.steps.stream import N_ACTIVE, make_stream
from bench.steps.tuned_numpy import LazyNumpy, TunedNumpy
from bench.tables import Table, markdown, plain
from ucls.evaluation import LSTD
from ucls.study import Store
from ucls.study.storage.result import Circumstance

D, STEPS = 64, 300
THREE = [1.0, 2.0, 3.0]
SHELL = {"sarsa": dict.fromkeys(("agent", "environment", "step", "more"), THREE)}


@pytest.fixture(scope="module")
def kernel():
    """Our step, some way along the stream."""
    learner = Kernel(make_stream(D), "float64")
    learner.run(STEPS)
    return learner


def test_the_stream_has_distinct_features_and_closes():
    stream = make_stream(D)
    assert all(len(set(row)) == N_ACTIVE for row in stream.index)
    assert stream.index.min() == 0
    assert stream.index.max() == D - 1
    assert np.array_equal(stream.index[0], stream.index[-1])


@pytest.mark.slow
@pytest.mark.parametrize("version", [DenseNumpy, TunedNumpy, LazyNumpy])
def test_numpy_versions_agree_with_the_kernel(kernel, version):
    learner = version(make_stream(D), "float64")
    learner.run(STEPS)
    check_agreement(version.NAME, learner, kernel, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-8), ("float32", 1e-3)])
@pytest.mark.skipif(native.compiler() is None, reason="no C compiler")
def test_c_agrees_with_the_kernel(kernel, dtype, tolerance):
    from bench.steps.c import Native

    learner = Native(make_stream(D), dtype)
    learner.run(STEPS // 3)
    learner.run(STEPS - STEPS // 3)
    check_agreement("C", learner, kernel, tolerance)


@pytest.mark.slow
def test_jax_scans_agree_with_the_kernel():
    pytest.importorskip("jax")
    from bench.steps.jax_scan import PlainScan, StructuredScan

    ours = Kernel(make_stream(D), "float64")
    ours.run(192)
    for version in (PlainScan, StructuredScan):
        learner = version(make_stream(D), "float64")
        learner.run(192)
        check_agreement(version.NAME, learner, ours, 1e-8)


@pytest.mark.slow
def test_the_numpy_loop_of_policy_evaluation_agrees_with_the_evaluator():
    stream = make_stream(D)
    loop, lstd = evaluation.NumpyLoop(stream, D), LSTD(D, evaluation.LAMBDA)
    loop.learn(STEPS)
    x, x_next = ((stream.index[i : i + STEPS], stream.value[i : i + STEPS]) for i in (0, 1))
    lstd.observe_batch(x, stream.r[:STEPS], evaluation.DISCOUNT, x_next)
    fit = lstd.fit()
    textbook = evaluation.NumpyLoop(stream, D)
    textbook.textbook(STEPS)
    for version in (loop, textbook):
        np.testing.assert_allclose(lstd._At, version.At, rtol=1e-9, atol=1e-12)
    again = evaluation.NumpyLoop(stream, D)
    again.w[: fit.size] = fit.w
    again.spread(STEPS)
    S = again.S[: fit.size, : fit.size] / STEPS
    np.testing.assert_allclose(lstd.spread("sandwich").covariance, fit.around(S), rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_a_wrong_version_is_refused(kernel):
    other = DenseNumpy(make_stream(D), "float64")
    other.run(STEPS)
    other.C[3, 2] *= 1 + 1e-6
    with pytest.raises(ArithmeticError, match="differ in C"):
        check_agreement("wrong", other, kernel, 1e-8)


def test_jobs_take_turns_in_whole_units():
    taken = {"one": [], "many": []}

    def job(name):
        return lambda steps: taken[name].append((steps, sum(range(1000 * steps))))

    samples = harness.interleave({"one": harness.Job(job("one")), "many": harness.Job(job("many"), 8)}, 0.01, 3)
    assert len(samples["one"]) == len(samples["many"]) >= 3
    assert all(steps % 8 == 0 for steps, _ in taken["many"])


def test_every_part_can_be_measured_and_shown():
    for part in command.PARTS:
        module = import_module(f"bench.{part}")
        assert callable(module.measure), part
        assert callable(module.tables), part


def test_a_store_that_was_filled_at_once_is_like_one_that_was_filled_run_by_run(tmp_path):
    queries.fill(tmp_path / "filled", 1000)
    with Store(tmp_path / "filled", write=True) as store:
        before = store.rows(queries.NAME)
        assert Counter(row.status for row in before) == {"done": 997, "diverged": 1, "failed": 1, "waiting": 1}
        for row in before[3:5]:
            result, about = store.account(row.id)
            assert isinstance(about, Circumstance)
            store._db.write("DELETE FROM result WHERE cell = (SELECT number FROM cell WHERE id = ?)", (row.id,))
            assert store.finish(row.id, result, about)
        assert store.rows(queries.NAME) == before


def case(d, dtype):
    us = {"ucls": [9.0, 10.0, 11.0], "C": [8.0, 8.0, 8.0], "NumPy, dense": [700.0, 750.0, 800.0]}
    times = {name: [value / 10.0 for value in spread] for name, spread in us.items()}
    top = {"binds": "read 4", "us": [3.0, 3.0, 3.0], "part": [0.2, 0.3, 0.4]}
    return {"d": d, "dtype": dtype, "us": us, "times_ours": times, "ceiling": top}


def test_the_report_writes_page_and_picture(tmp_path):
    cases = [case(d, dtype) for dtype in ("float64", "float32") for d in (128, 512)]
    about = {"machine": {"processor": "abacus"}, "when": {"step": "a day"}}
    found = {**about, "step": {"cases": cases, "skipped": ["JAX: not installed"]}}
    text = report.write(found, tmp_path / "docs", "python -m bench step").read_text()
    assert "`python -m bench step`" in text
    assert "abacus" in text
    assert "Skipped: JAX: not installed." in text
    first, second = text.splitlines()[2:4]
    assert first == "- A step of `ucls` with 512 features takes 10.0 µs. For comparison: C 0.8 times as long."
    assert second.startswith("- That is 30% of the roofline")
    assert (tmp_path / "docs/performance.svg").read_text().lstrip().startswith("<?xml")


def test_the_page_opens_with_sentences_of_every_part_that_has_some():
    one = [1.0, 2.0, 3.0]
    name = next(iter(first.OURS))
    found = {
        "runs": {"domains": {"River Swim": {"whole": [1.0, 25_000.0, 3e5]}}},
        "shell": {"sarsa": {"agent": [30.0] * 3, "environment": one, "step": one}},
        "baselines": {"over": {"DQN": one, "sarsa": one}},
        "first": {"warm": {name: one}, "over": {name: {opening.BARE: one}}, "cold": {name: [30.0] * 3}},
        "study": {
            "speed": {"two over one": one},
            "short": {"cells": 40, "steps": 1000, "two over one": one},
            "shortest": {"cells": 40, "steps": 100, "two over one": one},
            "queries": {"1000": {"status": one, "compare": one}},
        },
    }
    assert opening.sentences(found) == [
        "`ucls train ucls/RiverSwim-v0 --steps 1` takes 2 s, 2 times as long as `import numba, gymnasium`. The first"
        " time it takes 30.0 s, because kernels are compiled.",
        "A run of 50,000 steps of `ucls` takes 2 s in River Swim.",
        "In CartPole, `Agent.learn` with `sarsa` takes 30.0 µs per step: 2 µs in the environment and 2 µs in the"
        " learner.",
        "In CartPole, Stable-Baselines3 takes longer than `ucls-exact`: DQN 2 times as long.",
        "Two workers run 2 times as many steps per second as one.",
        "They finish 40 short runs, start-up included, 2 times as fast with 1,000 steps each and 2 times as fast with"
        " 100 steps each.",
        "With 1,000 runs in a store, `study status` takes 2 s and `study compare` takes 2 s.",
    ]


def test_the_page_of_a_quick_run_stays_beside_it(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "QUICK", tmp_path)
    report.keep({"machine": {"processor": "abacus"}, "when": {"shell": "a day"}, "shell": SHELL}, tmp_path)
    monkeypatch.setattr(sys, "argv", ["bench", "page", "--quick"])
    monkeypatch.setattr(command, "_one_thread", lambda: None)
    assert command.main() == 0
    assert "Made by `python -m bench --quick`" in (tmp_path / "performance.md").read_text()
    [table] = json.loads((tmp_path / "data" / "performance.json").read_text())["tables"]
    assert table["rows"] == [["sarsa", *["2 (1..3)"] * 4]]


def test_the_page_shows_the_first_tables_and_the_data_have_all(tmp_path):
    about = {"machine": {"processor": "abacus"}, "when": {"step": "a day", "shell": "a day"}}
    found = {**about, "step": {"cases": [case(512, "float64")], "skipped": []}, "shell": SHELL}
    text = report.write(found, tmp_path, "python -m bench").read_text()
    titles = [table["title"] for table in json.loads((tmp_path / "data" / "performance.json").read_text())["tables"]]
    assert titles == [table.title for table in report.tables(found)]
    assert [title for title in titles if f"## {title}\n" in text] == ["UCLS step, microseconds"]


def test_what_was_measured_part_by_part_is_kept_for_the_page_unless_the_machine_is_another(tmp_path):
    abacus, other = ({"processor": name, "date": "now"} for name in ("abacus", "other"))
    report.keep({"machine": abacus, "when": {"step": "a day"}, "step": 1}, tmp_path)
    report.keep({"machine": {**abacus, "date": "later"}, "when": {"first": "another"}, "first": 2}, tmp_path)
    found = report.kept(tmp_path)
    assert (found["step"], found["first"], found["machine"]["date"]) == (1, 2, "later")
    assert report.when(found) == "Measured in 2 sessions: step at a day; first at another."
    report.keep({"machine": other, "when": {"first": "a day"}, "first": 3}, tmp_path)
    assert report.kept(tmp_path) == {"machine": other, "when": {"first": "a day"}, "first": 3}


def test_gates_of_agents_compare_within_one_run(monkeypatch):
    three = [1.0, 2.0, 3.0]
    vectors = {"rates": {}, "over one": {"2": three, "4": [1.0] * 3, "8": [5.0] * 3}}
    masks = {"masks over none": three, "none over step": [2e3] * 3}
    monkeypatch.setattr(agents, "speed_of_vectors", lambda turns, rounds: vectors)
    monkeypatch.setattr(agents, "speed_of_masks", lambda seconds: masks)
    assert [(gate.limit, gate.found, gate.holds) for gate in check._agents()] == [
        (">= 2", "1", False),
        (">= 3", "5", True),
        ("<= 4", "2", True),
        ("<= 1,000", "2,000", False),
    ]


@pytest.mark.slow
def test_several_slow_environments_at_once_are_faster_than_one():
    assert agents.speed_of_vectors(turns=1, rounds=10)["over one"]["4"][1] > 1.5


def test_tables_line_up():
    table = Table("Title", ["what", "us"], [["a", "1,000"], ["long name", "2"]], "A note.")
    assert plain(table).splitlines()[2:6] == [
        "what          us",
        "---------  -----",
        "a          1,000",
        "long name      2",
    ]
    assert "| long name | 2 |" in markdown(table)


@pytest.mark.slow
def test_the_inverse_of_ucls_exact_drifts_by_rounding_only():
    """A^-1 against A summed in the open, over ten rounds of a stream."""
    stream = make_stream(D, 4096)
    learner, rounds = ExactKernel(stream, "float64"), 10
    learner.run(rounds * len(stream.r))
    dense = np.zeros((len(stream.index), D))
    np.put_along_axis(dense, stream.index, stream.value, axis=1)
    z, first, later = np.zeros(D), np.zeros((D, D)), np.zeros((D, D))
    for part in (first, later):  # all rounds after the first begin with the same trace
        for t in range(len(stream.r)):
            z = stream.gamma * learner.hyper.lambda_ * z + dense[t]
            part += np.outer(z, dense[t] - stream.gamma * dense[t + 1])
    A = first + (rounds - 1) * later + learner.state.kappa[0] * np.eye(D)
    lazy = learner.state.inverse
    inverse = lazy.M - lazy.left[: lazy.count[0]].T @ lazy.right[: lazy.count[0]]
    assert np.abs(inverse @ A - np.eye(D)).max() < 1e-10
    assert learner.state.guarded[0] == 0
