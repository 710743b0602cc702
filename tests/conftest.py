"""What tests share: runs recorded so that an oracle can follow them, and modules of strangers."""

# ruff: noqa: E402, numpy reads how many threads it may have when it is imported
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# Two test processes with a BLAS thread for every core that they see are in each other's way: minutes for seconds.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import gymnasium
import numpy as np
import pytest

import browsers
import foreign
import ucls
from ucls.envs import ENVIRONMENTS
from ucls.kernels import active as la

UNLIKE = ("ucls/RiverSwim-v0", "ucls/PuddleWorld-v0")  # which share the kernels of algorithms with tiles


class Transition(NamedTuple):
    """One step as the learner sees it, with dense features: every action's, before and after."""

    xs: np.ndarray
    a: int
    r: float
    gamma: float
    xs_next: np.ndarray
    a_next: int
    starts: bool


def assert_same_learner(one, other):
    mine, theirs = one.checkpoint(), other.checkpoint()
    assert mine.keys() == theirs.keys()
    for name in mine:
        assert np.array_equal(mine[name], theirs[name]), name


def dense(xs, size):
    """Features as one dense row for each action."""
    rows = np.zeros((len(xs.index), size))
    for a, (index, value) in enumerate(zip(xs.index, xs.value, strict=True)):
        np.add.at(rows[a], index, value)
    return rows


def follow(run, steps):
    """Step a run with the same kernels as the loop, yielding each transition after it was learned from."""
    world, me, size = run.world, run.learner, run.learner.coder.size
    starts = False
    for _ in range(steps):
        if run.clock[0] == 0:
            world.reset(run.s, run.world_rng)
            me.begin(run.s)
            starts = True
        xs, a = dense(me.pending.xs, size), me.action
        r, gamma, terminated = world.step(run.s, a, run.world_rng)
        run.clock[0] += 1
        me.advance(r, gamma, run.s, terminated)
        truncated = run.clock[0] == world.cutoff
        xs_next = np.zeros_like(xs) if terminated else dense(me.pending.xs, size)
        yield Transition(xs, a, r, 0.0 if terminated else gamma, xs_next, me.action, starts)
        starts = False
        if terminated or truncated:
            run.clock[0] = 0


def random_stream(rng, size, n_actions, n_active, steps, reward=1.0, value=None):
    """Random transitions over a growing block of features: (xs, a, r, gamma, xs_next, a_next)."""
    states = size // n_actions

    def features(t):
        known = min(states, n_active + t // 2)
        tiles = rng.choice(known, n_active, replace=False)
        index = np.array([tiles * n_actions + a for a in range(n_actions)])
        return la.Active(index, np.full((n_actions, n_active), value or 1 / n_active))

    xs, a = features(0), 0
    for t in range(steps):
        xs_next, a_next = features(t + 1), int(rng.integers(n_actions))
        gamma = 0.0 if rng.random() < 0.02 else 0.99
        yield xs, a, float(reward * rng.normal()), gamma, xs_next, a_next
        xs, a = xs_next, a_next


def run_uncompiled(code):
    """Run some lines of Python in a process with the compiler off, where the tests are."""
    lines = f"import numba\nassert numba.config.DISABLE_JIT\nfrom ucls.envs import ENVIRONMENTS\n{code}"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "error"}
    environment["PYTHONPATH"] = str(Path(ucls.__file__).parents[1])
    subprocess.run([sys.executable, "-c", lines], cwd=Path(__file__).parent, env=environment, check=True)


def check_uncompiled(test_module, steps, *more):
    """Run a test file's `check_against_oracle` on every environment with the compiler off, with all arguments given."""
    lines = [f"from {test_module} import *", "for env in ENVIRONMENTS:"]
    run_uncompiled("\n".join([*lines, *(f"    check_against_oracle(env, {steps}, {words})" for words in more or [""])]))


@pytest.fixture(params=list(ENVIRONMENTS))
def env_id(request):
    """Every environment in turn."""
    return request.param


def always(often, names):
    """Names as parameters of a test that has kernels to compile for each: those that do not run often are slow."""
    return [pytest.param(name, marks=() if name in often else pytest.mark.slow) for name in names]


@pytest.fixture(params=always(UNLIKE, ENVIRONMENTS))
def unlike(request):
    """Environments that differ in actions and ends: to compile every algorithm for other features takes minutes.

    The others are slow; uncompiled, `check_uncompiled` has them all.
    """
    return request.param


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """Say last how many tests found no browser: among many results nobody misses them."""
    ended = yield
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    line = browsers.skipped_line(terminal.stats.get("skipped", ())) if terminal else ""
    if line:
        terminal.write_line(line, yellow=True)
    return ended


@pytest.fixture
def lakes(tmp_path, monkeypatch):
    """The folder of the module `lakes`, which can be imported until the test is over."""
    monkeypatch.syspath_prepend(foreign.write_lakes(tmp_path))
    yield tmp_path
    for name in ("lakes", "muddy", "broken", "gone"):
        sys.modules.pop(name, None)
    gymnasium.registry.pop("LakeOfTests-v0", None)
