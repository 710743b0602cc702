"""The benchmark compares like with like: every version of the step agrees, and what it finds is written down."""

from collections import Counter
from importlib import import_module

import numpy as np
import pytest

from bench import __main__ as command
from bench import agents, check, evaluation, harness, native, queries, report
from bench.step import check_agreement
from bench.steps.dense_numpy import DenseNumpy
from bench.steps.kernel import ExactKernel, Kernel
from bench.steps.stream import N_ACTIVE, make_stream
from bench.steps.tuned_numpy import TunedNumpy
from bench.tables import Table, grid, plain
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
@pytest.mark.parametrize("version", [DenseNumpy, TunedNumpy])
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
def test_jax_agrees_with_the_kernel():
    pytest.importorskip("jax")
    from bench.steps.jax_scan import JaxScan

    ours, learner = Kernel(make_stream(D), "float64"), JaxScan(make_stream(D), "float64")
    ours.run(192)
    learner.run(192)
    check_agreement(JaxScan.NAME, learner, ours, 1e-8)


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


def test_measured_parts_replace_their_tables_and_others_stay_unless_the_machine_is_another(tmp_path):
    abacus, other = ({"processor": name, "date": "now"} for name in ("abacus", "other"))
    data = tmp_path / "data" / "performance.json"
    cases = [case(d, dtype) for dtype in ("float64", "float32") for d in (128, 512)]
    report.write({"step": {"cases": cases, "skipped": ["JAX: not installed"]}}, "a day", abacus, data)
    assert (tmp_path / "performance.svg").read_text().lstrip().startswith("<?xml")
    report.write({"shell": SHELL}, "a later day", {**abacus, "date": "later"}, data)
    found = report.sections(data)
    assert list(found) == ["step", "shell", "provenance"]
    assert "Skipped: JAX: not installed." in found["step"]
    assert "| 512 float64 | 10.0 | 8 | 750 | 3 |" in found["step"]
    assert "| sarsa | 2 (1..3) | 2 (1..3) | 2 (1..3) | 2 (1..3) |" in found["shell"]
    assert found["provenance"].startswith("Measured by parts: step at a day; shell at a later day.")
    assert "| date | later |" in found["provenance"]
    report.write({"shell": SHELL}, "a day", other, data)
    assert list(report.sections(data)) == ["shell", "provenance"]


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
    assert "| long name | 2 |" in grid(table)


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
