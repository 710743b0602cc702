"""Model-free baselines: every kernel equals its paper's pseudocode on lists of transitions, and each learns Deep Sea.

Everything runs in processes without the compiler; with it, tests are slow.
"""

import numpy as np
import pytest

from support import lsvi_boxes as boxes
from support.shadow import assert_close, shadow
from support.uncompiled import run_uncompiled
from ucls.algorithms import algorithm_module
from ucls.core.run import Run, suits_env
from ucls.errors import UserError
from ucls.testing import small_run

BOXES = {
    "ucb-q": boxes.UCBQ,
    "rlsvi-tabular": boxes.RLSVITabular,
    "lsvi-ucb": boxes.LSVIUCB,
    "lsvi-phe": boxes.LSVIPHE,
}
OTHER = {  # than the defaults: values within the range, ties only where values are clipped
    "ucb-q": {"bonus_scale": 0.07},
    "rlsvi-tabular": {"sigma": 0.2, "prior_visits": 0.3, "resample_every": 25},
    "lsvi-ucb": {"bonus_scale": 0.2, "ridge": 0.3, "growth": 1.5},
    "lsvi-phe": {"sigma": 0.2, "ridge": 0.3, "resample_every": 25, "samples": 3},
}


def oracle_of(run):
    hyper = run.learner.hyper._asdict()
    if "prior_visits" in hyper:
        hyper["ridge"] = hyper.pop("prior_visits")
    return BOXES[run.plan.agent](run.learner.coder.size, **hyper)


def check_against_oracle(env, algorithm, steps, **settings):
    settings = {"return_max": 10.0 if "Sea" in env or "Puddle" in env else 1e4, **OTHER[algorithm], **settings}
    run = small_run(env, algorithm, seed=7, **settings)
    oracle = oracle_of(run)

    def learn(box, t, rng):
        box.update(t.xs[t.a], t.xs, t.a, t.r, t.gamma, t.xs_next, rng)

    shadow(run, oracle, steps, lambda box, xs, rng: box.values(xs), learn, lambda box, rng: box.start(rng), True)
    state = run.learner.state
    assert state.step[0] == oracle.h
    if algorithm == "ucb-q":
        assert_close(state.Q, oracle.Q, "Q")
        assert np.array_equal(state.visits, oracle.N)
    else:
        assert_close(state.Q if algorithm == "rlsvi-tabular" else state.w, oracle.w, "w", rtol=1e-7)
    return run, oracle


def check_all():
    for algorithm in BOXES:
        for env, steps in (("ucls/DeepSea-v0", 100), ("ucls/RiverSwim-v0", 60), ("ucls/OneState-v0", 60)):
            for horizon in (0, 3) if suits_env(algorithm, env) else ():
                check_against_oracle(env, algorithm, steps, horizon=horizon)


def check_regressions_are_as_lazy_as_the_determinant():
    """One-hot features of 20 states and actions, and 240 steps: each doubles its count a few times."""
    _, oracle = check_against_oracle("ucls/DeepSea-v0", "lsvi-ucb", 240, growth=2.0)
    assert 10 < oracle.solves < 120, oracle.solves


def check_each_finds_the_treasure_and_keeps_to_it():
    """Deep Sea of 6 rows, where a random policy finds it once in 64 episodes."""
    for algorithm in BOXES:
        for horizon in (0, 6):
            run = small_run("ucls/DeepSea-v0", algorithm, seed=1, size=6, stochastic=False, horizon=horizon)
            found = run.advance(6 * (120 if algorithm == "ucb-q" else 45)).episode_returns > 0.9
            assert found[-15:].mean() >= 0.8, (algorithm, horizon, found)


def check_the_form_of_a_diagonal_matrix_is_that_of_a_whole_one():
    """One-hot features, and the same with a second active feature whose value is 0, which are stored whole."""
    from ucls.kernels.active import Active
    from ucls.kernels.planning import lsvi as ls

    one, whole = ls.memory(6, 2, 1, 0, 0.5), ls.memory(6, 2, 2, 0, 0.5)
    assert (one.inverse.shape, whole.inverse.shape) == ((1, 6, 1), (1, 6, 6))
    rng, grew = np.random.default_rng(0), [0.0, 0.0]
    for _ in range(40):
        s, s_next, a = *rng.integers(3, size=2), int(rng.integers(2))
        for i, memory in enumerate((one, whole)):
            k, pad = i + 1, np.zeros((2, i))
            rows = [Active(np.array([[2 * c + b] * k for b in range(2)]), np.c_[np.ones(2), pad]) for c in (s, s_next)]
            grew[i] += ls.remember(memory, 0, rows[0], a, 1.0, 0.9, rows[1])
    assert_close(np.diag(whole.inverse[0]), one.inverse[0, :, 0], "inverse")
    assert_close(grew[1], grew[0], "determinant")


def check_data_that_outgrow_their_arrays_are_kept():
    from ucls.kernels.planning import lsvi as ls

    for algorithm, settings in (("lsvi-ucb", {}), ("lsvi-phe", {"samples": 2})):
        roomy = small_run("ucls/RiverSwim-v0", algorithm, seed=1, horizon=20, **settings)
        expected = roomy.advance(100).rewards
        before, ls.CELLS, ls.MOVES = (ls.CELLS, ls.MOVES), 2, 2
        tight = small_run("ucls/RiverSwim-v0", algorithm, seed=1, horizon=20, **settings)
        ls.CELLS, ls.MOVES = before
        assert np.array_equal(expected, tight.advance(100).rewards)
        assert np.array_equal(roomy.learner.state.w, tight.learner.state.w)
        assert len(tight.learner.state.memory.moves.rows) < len(roomy.learner.state.memory.moves.rows)


def check_files_with_moves_that_lead_nowhere_are_refused():
    run = small_run("ucls/DeepSea-v0", "lsvi-phe", seed=1)
    run.advance(60)
    saved = run.checkpoint()
    for name, value in (("cells.rows", 10**6), ("moves.rows", 10**6), ("n_actions", 1), ("seen", 0)):
        name = f"state.memory.{name}"
        with pytest.raises(UserError, match="cannot be right"):
            run.restore({**saved, name: np.full_like(saved[name], value)}, 60)
    with pytest.raises(UserError, match="the inverse is not positive"):
        run.restore({**saved, "state.memory.inverse": 0 * saved["state.memory.inverse"]}, 60)


def check_the_horizon_takes_memory_that_is_refused_in_one_line():
    with pytest.raises(UserError, match="GB of memory"):
        small_run("ucls/PuddleWorld-v0", "lsvi-ucb", horizon=10**6, table_size=10**4)


CHECKS = [name for name in dir() if name.startswith("check_") and name != "check_against_oracle"]


def test_without_the_compiler():
    """All in one process: to start one takes longer than most of these."""
    calls = "\n".join(f"test_lsvi.{name}()" for name in CHECKS)
    run_uncompiled(f"import warnings\nwarnings.simplefilter('ignore')\nimport test_lsvi\n{calls}")


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", BOXES)
def test_compiled(algorithm, tmp_path):
    for horizon in (0, 4):
        run, _ = check_against_oracle("ucls/DeepSea-v0", algorithm, 200, horizon=horizon)
        again = Run.load(run.save(tmp_path / "run.safetensors"))
        assert np.array_equal(run.advance(300).rewards, again.advance(300).rewards)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", BOXES)
def test_each_solves_deep_sea_20(algorithm):
    """A random policy would take a million episodes."""
    for seed in range(3):
        run = small_run("ucls/DeepSea-v0", algorithm, seed=seed, size=20, stochastic=False)
        assert (run.advance(20 * 2000).episode_returns[-100:] > 0.9).mean() >= 0.9


def test_tables_are_refused_where_states_are_not_discrete():
    for algorithm in BOXES:
        if not suits_env(algorithm_module(algorithm), "ucls/RiverSwim-v0"):
            with pytest.raises(UserError, match="learns a table of discrete states"):
                small_run("ucls/RiverSwim-v0", algorithm)
