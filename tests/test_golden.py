"""Golden runs: short runs of every algorithm whose numbers are kept in data/golden.json.

With the versions and the processor that the record was made with (constraints.txt has the versions), a run must equal
it to the last digit. Elsewhere its first steps must agree within a tolerance, because another compiler, library or
processor rounds differently.

The record holds only numbers, under names that users type (algorithm, environment, features): it stays valid when
modules, classes or settings are renamed.

    OMP_NUM_THREADS=1 python tests/test_golden.py          # add runs that are not recorded yet
    OMP_NUM_THREADS=1 python tests/test_golden.py --all    # record every run again, after raising RESULTS_VERSION
    python tests/test_golden.py --how                      # say how runs are compared on this machine
"""

import hashlib
import json
import os
import platform
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import ucls
from support.params import BASELINES
from support.uncompiled import run_uncompiled
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.envs import ENVIRONMENTS
from ucls.errors import UclsWarning

RECORD = Path(__file__).parent / "data" / "golden.json"
STEPS, EARLY, TOLERANCE = 400, 15, 1e-6
PACKAGES = ("numpy", "numba", "llvmlite", "gymnasium")
RIVER, PUDDLES, SEA = "ucls/RiverSwim-v0", "ucls/PuddleWorld-v0", "ucls/DeepSea-v0"
TILES = {"tilings": 4, "tiles": 4, "table_size": 64}
SMALL = {  # with time limits that are reached, and a table of tiles that overflows
    RIVER: {"time_limit": 37, "tilings": 4, "tiles": 4, "table_size": 12},
    PUDDLES: {"time_limit": 60, **TILES},
    "ucls/SparseMountainCar-v0": {"time_limit": 150, **TILES},
    "ucls/MountainCar-v0": {"time_limit": 150, **TILES},
    "ucls/OneState-v0": {"time_limit": 7},
    SEA: {"size": 4, "stochastic": True},
    "ucls/TrapChain-v0": {"size": 4, "time_limit": 20},
    "ucls/KeyGrid-v0": {"size": 4, "keys": 1, "time_limit": 50},
    "ucls/TabularRiverSwim-v0": {"time_limit": 37},
    "ucls/SixArms-v0": {"time_limit": 37},
}
FEATURES = ("tiles", "scaled", "fourier", "random_fourier")


def compiled(env, algorithm, features=None, **options):
    """A run in the compiled loop of a built-in environment."""
    settings = dict(SMALL[env])
    if features not in (None, "tiles") or hasattr(algorithm_module(algorithm), "FEATURES"):  # which have no tiles
        settings = {name: value for name, value in settings.items() if name not in TILES}
    return ucls.make_run(env, algorithm, seed=11, settings=settings, features=features, **options)


def stepped(env, algorithm, features=None, **settings):
    """A run of an agent in a Gymnasium environment, one call for each step."""
    features = np.eye(16) if features == "precomputed" else features
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UclsWarning)
        return ucls.Agent(env, algorithm, seed=11, features=features, **settings)


def case(make, env, algorithm, features=None, often=False, **options):
    """A run by a name that says what it is; only slow tests have those that few other tests have kernels for."""
    more = [features, *(f"{name}={value}" for name, value in options.items() if isinstance(value, str))]
    id = " ".join(filter(None, (make.__name__, algorithm, env, *more)))
    run = lambda: make(env, algorithm, features, **options)  # noqa: E731
    return pytest.param(id, run, id=id, marks=() if often else pytest.mark.slow)


CASES = [
    *(case(compiled, RIVER, name, often=True) for name in ALGORITHMS if name not in BASELINES),
    *(case(compiled, env, "sarsa", often=True) for env in ENVIRONMENTS if env != RIVER),
    case(compiled, RIVER, "sarsa", dtype="float32"),
    case(stepped, "FrozenLake-v1", "ucls-exact", often=True),
    case(stepped, "FrozenLake-v1", "ucls-exact", "precomputed", often=True),
    case(stepped, "FrozenLake-v1", "sarsa", often=True),
    case(stepped, "CartPole-v1", "ucls-exact", "tiles", often=True, **TILES),
    case(stepped, "CartPole-v1", "sarsa", often=True),
    case(stepped, "CartPole-v1", "sarsa", "random_fourier", often=True, n_features=20),
    case(stepped, PUDDLES, "ucls-exact", "scaled"),
    *(case(compiled, PUDDLES, name) for name in ALGORITHMS if name not in {"sarsa", *BASELINES}),
    *(case(compiled, SEA, name) for name in ALGORITHMS if name != "sarsa"),
    *(case(compiled, PUDDLES, name, features) for name in ("sarsa", "ucls-exact") for features in FEATURES[1:]),
    *(case(stepped, "FrozenLake-v1", name) for name in ("ucls", "ucls-l", "gv-ucb", "ucbootstrap", "rlsvi")),
    *(case(stepped, "FrozenLake-v1", name) for name in ("lstd-sm", "lstd-cg")),
    case(stepped, "FrozenLake-v1", "lspi-rmax", return_max=1.0),
    case(stepped, "FrozenLake-v1", "dgpq", r_max=1.0),
    *(case(stepped, "CartPole-v1", name) for name in ("ucls-exact", "ucls", "rlsvi")),
    case(stepped, "MountainCar-v0", "ucls-exact"),
    case(stepped, "FrozenLake-v1", "ucls-plan"),
    case(stepped, "CartPole-v1", "ucls-plan"),
    case(stepped, "CartPole-v1", "ucls-deep"),
]


def digest(array):
    """Some digits for the bytes of an array."""
    array = np.ascontiguousarray(array)
    return hashlib.sha256(f"{array.dtype.str}{array.shape}".encode() + array.tobytes()).hexdigest()[:12]


def arrays(parts):
    """The arrays of a NamedTuple and of those in it."""
    for part in parts:
        if isinstance(part, np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from arrays(part)


def bounds(learner):
    """The mean and the radius of every action in a state near the lower and one near the upper bounds, as numbers."""
    low, high = np.array(learner.plan.low), np.array(learner.plan.high)
    points = np.array([low + share * (high - low) for share in (0.125, 0.75)])
    points = np.floor(points) if learner.plan.features == "one_hot" else points
    with np.errstate(all="ignore"):
        return [part.ravel().tolist() for part in learner.intervals(points)]


def first_steps(run):
    """The numbers of a run's first steps, which agree within a tolerance wherever it is made."""
    early = run.advance(EARLY)
    return early, {
        "early rewards": early.rewards.tolist(),
        "early ends": early.ends.tolist(),
        "early bounds": bounds(run.learner),
    }


def record(run):
    """The numbers of a run: some that people can read, and digests of all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UclsWarning)
        early, first = first_steps(run)
        late = run.advance(STEPS - EARLY)
    rewards, ends = (np.concatenate([getattr(part, name) for part in (early, late)]) for name in ("rewards", "ends"))
    learner = run.learner
    return {
        **first,
        "total": float(rewards.sum()),
        "ends": [int((ends == kind).sum()) for kind in (1, 2)],
        "bounds": bounds(learner),
        "history": [digest(rewards), digest(ends)],
        "arrays": sorted(
            digest(array) for part in (learner.coder, learner.state, learner.pending) for array in arrays(part)
        ),
    }


def provenance():
    """What may change the last digit of a run."""
    import numba
    from numba.core.registry import cpu_target

    triple, processor, features = cpu_target.target_context.codegen().magic_tuple()
    simd = sorted(name for name, there in np._core._multiarray_umath.__cpu_features__.items() if there)
    return {
        **{name: version(name) for name in PACKAGES},
        "python": ".".join(platform.python_version_tuple()[:2]),
        "libc": " ".join(platform.libc_ver()),
        "compiled": not numba.config.DISABLE_JIT,
        "processor": f"{triple} {processor} {hashlib.sha256(f'{features} {simd}'.encode()).hexdigest()[:12]}",
    }


def compare_roughly(found, expected):
    """Compare the first steps of a run with its record, within a tolerance."""
    for name in ("early rewards", "early ends", "early bounds"):
        np.testing.assert_allclose(found[name], expected[name], rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)


def compare_exactly(found, expected):
    """Compare all of a run with its record, to the last digit."""
    assert set(expected["arrays"]) <= set(found["arrays"]), "arrays of the learner differ"
    assert {**found, "arrays": None} == {**expected, "arrays": None}


def comparison(made_with, here):
    """How runs are compared: to the last digit with the same versions and processor, otherwise within a tolerance."""
    return compare_exactly if made_with == here else compare_roughly


def recorded():
    return json.loads(RECORD.read_text())


@pytest.mark.parametrize(("id", "make"), CASES)
def test_a_run_is_what_it_was(id, make):
    golden = recorded()
    compare = comparison(golden["made with"], provenance())
    compare(record(make()), golden["runs"][id])


def check_first_steps():
    """Compare the first steps of every run, which takes seconds where nothing is compiled."""
    for id, make in (each.values for each in CASES):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UclsWarning)
            compare_roughly(first_steps(make())[1], recorded()["runs"][id])


def test_the_first_steps_of_every_run_are_the_same_without_the_compiler():
    run_uncompiled("from test_golden import check_first_steps\ncheck_first_steps()")


def test_a_time_limit_that_is_one_step_off_is_noticed_within_the_tolerance_too():
    limit = SMALL["ucls/OneState-v0"]["time_limit"] + 1
    off = ucls.make_run("ucls/OneState-v0", "sarsa", seed=11, settings={"time_limit": limit})
    with pytest.raises(AssertionError, match="early ends"):
        compare_roughly(record(off), recorded()["runs"]["compiled sarsa ucls/OneState-v0"])


def test_only_the_recorded_versions_and_processor_are_compared_to_the_last_digit():
    made_with = recorded()["made with"]
    assert comparison(made_with, dict(made_with)) is compare_exactly
    for name in made_with:
        assert comparison(made_with, {**made_with, name: "another"}) is compare_roughly


def test_the_last_digit_counts_in_the_exact_comparison_and_only_there():
    expected = recorded()["runs"]["compiled ucls-exact ucls/RiverSwim-v0"]
    compare_exactly(expected, expected)
    [means, radii] = expected["early bounds"]
    slightly = {**expected, "early bounds": [[float(np.nextafter(means[0], 1.0)), *means[1:]], radii]}
    compare_roughly(slightly, expected)
    with pytest.raises(AssertionError):
        compare_exactly(slightly, expected)
    with pytest.raises(AssertionError):
        compare_exactly({**expected, "arrays": expected["arrays"][1:]}, expected)
    with pytest.raises(AssertionError, match="early bounds"):
        compare_roughly({**expected, "early bounds": [[means[0] + 0.001, *means[1:]], radii]}, expected)


def test_the_record_was_made_with_the_versions_of_the_constraints_file():
    lines = (RECORD.parents[2] / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {name: recorded()["made with"][name] for name in PACKAGES} == {name: pinned[name] for name in PACKAGES}


@pytest.mark.parametrize("route", ["compiled", "stepped"])
def test_every_algorithm_has_a_run_in_the_compiled_loop_and_one_in_gymnasium(route):
    words = [each.values[0].split() for each in CASES]
    left_out = BASELINES if route == "stepped" else set()  # which the contract compares in both routes
    assert {name for how, name, *_ in words if how == route} == set(ALGORITHMS) - left_out


def test_every_run_is_recorded():
    assert {each.values[0] for each in CASES} == set(recorded()["runs"]), "run `python tests/test_golden.py`"


def write(anew):
    """Record the runs that are not recorded yet, or all of them."""
    if os.environ.get("OMP_NUM_THREADS") != "1":
        sys.exit("give products of matrices one thread, as tests have: OMP_NUM_THREADS=1 python tests/test_golden.py")
    here = provenance()
    known = {} if anew else recorded()["runs"]
    if not anew and recorded()["made with"] != here:
        sys.exit("the record was made with other versions or another processor; add --all to replace it")
    runs = {id: known.get(id) or record(make()) for id, make in (each.values for each in CASES)}
    lines = ",\n".join(f"{json.dumps(id)}: {json.dumps(run)}" for id, run in runs.items())
    RECORD.write_text(f'{{"made with": {json.dumps(here)}, "runs": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    if "--how" in sys.argv:
        exact = comparison(recorded()["made with"], provenance()) is compare_exactly
        print("to the last digit" if exact else "with a tolerance over the first steps", provenance())
    else:
        write("--all" in sys.argv)
