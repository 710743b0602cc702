"""The benchmark compares like with like: every version of the step agrees, and what it finds is written down."""

import numpy as np
import pytest

from bench import evaluation, exact, harness, native, profile, report, targets
from bench.step import check_agreement
from bench.steps.dense_numpy import DenseNumpy
from bench.steps.kernel import Kernel
from bench.steps.stream import N_ACTIVE, make_stream
from bench.steps.tuned_numpy import LazyNumpy, TunedNumpy
from bench.tables import Table, markdown, plain
from ucls.evaluation import LSTD

D, STEPS = 64, 300


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


@pytest.mark.parametrize("version", [DenseNumpy, TunedNumpy, LazyNumpy])
def test_numpy_versions_agree_with_the_kernel(kernel, version):
    learner = version(make_stream(D), "float64")
    learner.run(STEPS)
    check_agreement(version.NAME, learner, kernel, 1e-8)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-8), ("float32", 1e-3)])
@pytest.mark.skipif(native.compiler() is None, reason="no C compiler")
def test_c_agrees_with_the_kernel(kernel, dtype, tolerance):
    from bench.steps.c import Native

    learner = Native(make_stream(D), dtype)
    learner.run(STEPS // 3)
    learner.run(STEPS - STEPS // 3)
    check_agreement("C", learner, kernel, tolerance)


def test_jax_scans_agree_with_the_kernel():
    pytest.importorskip("jax")
    from bench.steps.jax_scan import PlainScan, StructuredScan

    ours = Kernel(make_stream(D), "float64")
    ours.run(192)
    for version in (PlainScan, StructuredScan):
        learner = version(make_stream(D), "float64")
        learner.run(192)
        check_agreement(version.NAME, learner, ours, 1e-8)


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


def test_a_wrong_version_is_refused(kernel):
    other = DenseNumpy(make_stream(D), "float64")
    other.run(STEPS)
    other.C[3, 2] *= 1 + 1e-6
    with pytest.raises(ArithmeticError, match="differ in C"):
        check_agreement("wrong", other, kernel, 1e-8)


def test_the_step_taken_apart_is_the_step(kernel):
    apart = Kernel(make_stream(D), "float64")
    parts = profile.walk(apart, STEPS)
    assert parts.shape == (STEPS, len(profile.PARTS))
    assert (parts >= 0).all()
    assert np.array_equal(apart.w, kernel.w)
    assert np.array_equal(apart.C, kernel.C)


def test_jobs_take_turns_in_whole_units():
    taken = {"one": [], "many": []}

    def job(name):
        return lambda steps: taken[name].append((steps, sum(range(1000 * steps))))

    samples = harness.interleave({"one": harness.Job(job("one")), "many": harness.Job(job("many"), 8)}, 0.01, 3)
    assert len(samples["one"]) == len(samples["many"]) >= 3
    assert all(steps % 8 == 0 for steps, _ in taken["many"])


def case(d, dtype):
    us = {"ucls": [9.0, 10.0, 11.0], "C": [8.0, 8.0, 8.0], "NumPy, dense": [700.0, 750.0, 800.0]}
    times = {name: [value / 10.0 for value in spread] for name, spread in us.items()}
    top = {"binds": "read 4", "us": [3.0, 3.0, 3.0], "part": [0.2, 0.3, 0.4]}
    return {"d": d, "dtype": dtype, "us": us, "times_ours": times, "ceiling": top}


def test_the_report_writes_page_and_picture(tmp_path):
    cases = [case(d, dtype) for dtype in ("float64", "float32") for d in (128, 512)]
    found = {"machine": {"processor": "abacus"}, "step": {"cases": cases, "skipped": ["JAX: not installed"]}}
    text = report.write(found, tmp_path / "docs", "python -m bench step").read_text()
    assert "`python -m bench step`" in text
    assert "abacus" in text
    assert "Skipped: JAX: not installed." in text
    assert "| d = 512: NumPy, dense over ours | >= 70.0 | 75.0 (70.0..80.0) | met, +7% |" in text
    assert "| d = 512: ours over C | <= 1.15 | 1.25 (1.25..1.25) | MISSED, -8% |" in text
    assert "| d = 512: part of the ceiling | >= 0.39 | 0.3 (0.2..0.4) | MISSED, -23% |" in text
    assert "| d = 512: JAX, structured over ours | >= 3.5 | - | not measured |" in text
    assert (tmp_path / "docs/performance.svg").read_text().lstrip().startswith("<?xml")


def test_a_target_is_met_on_its_limit():
    at_least, at_most = (
        targets.Verdict("a", 2.0, False, [1.0, 2.0, 3.0]),
        targets.Verdict("b", 2.0, True, [1.0, 2.0, 3.0]),
    )
    assert at_least.met
    assert at_most.met
    assert not targets.Verdict("c", 2.0, True, [1.0, 2.1, 3.0]).met


def test_tables_line_up():
    table = Table("Title", ["what", "us"], [["a", "1,000"], ["long name", "2"]], "A note.")
    assert plain(table).splitlines()[2:6] == [
        "what          us",
        "---------  -----",
        "a          1,000",
        "long name      2",
    ]
    assert "| long name | 2 |" in markdown(table)


def test_the_inverse_of_ucls_exact_drifts_by_rounding_only():
    """A^-1 against A summed in the open, over 40,000 steps."""
    found = exact.drift("float64", 40_000)
    assert found["off"] < 1e-10
    assert found["guarded"] == 0
