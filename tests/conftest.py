"""Fixtures, and the order in which test files run."""

# ruff: noqa: E402, numpy reads how many threads it may have when it is imported
import os
import sys

# Two test processes with a BLAS thread for every core that they see are in each other's way: minutes for seconds.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import gymnasium
import pytest

from support import browsers, foreign
from support.params import UNLIKE, always
from ucls.envs import ENVIRONMENTS

# The files that take longest run first, so that two test processes end together. The first compiles for more than a
# minute; the next four hardly need its kernels.
FIRST = (
    *("contract", "runners", "pages", "planning", "site"),
    *(
        "model_based",
        "ucls",
        "ucls_plan",
        "ucls_exact",
        "coverage",
        "export",
        "jit",
        "survival",
        "foreign_study",
        "masks",
    ),
    *("diagnostics", "naming", "plain_engine", "rlsvi", "identity", "lstd_cg", "spaces", "learning", "cli", "lapack"),
)


def pytest_collection_modifyitems(items):
    """Order files as `FIRST` says, for `--no-loadscope-reorder`."""
    places = {f"test_{name}": place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.fixture(params=list(ENVIRONMENTS))
def env_id(request):
    """Every environment in turn."""
    return request.param


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
