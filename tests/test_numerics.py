"""A change of the code behind runs is noticed: it must raise RESULTS_VERSION, or be shown to change no run.

That code is found, not listed: every algorithm, every kind of features and every environment, what makes and steps a
run, and all that these import. tests/test_golden.py compares the numbers of runs; this covers what those runs do not
reach. `python tests/test_numerics.py` writes the digests again.
"""

import ast
import hashlib
import json
from pathlib import Path

import grimp
import pytest

import ucls
from ucls._util.randomness import generator
from ucls.agent.build import assemble
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.config import choose
from ucls.core.learner import Learner
from ucls.core.steps import compiled
from ucls.envs import ENVIRONMENTS, module_of
from ucls.features import FEATURES, features_module
from ucls.gym import observations, spaces
from ucls.gym.adapter import EnvAdapter
from ucls.gym.bounds import bounds_of
from ucls.gym.feature_functions import reader_of
from ucls.gym.layout import layout_of
from ucls.kernels.compilation.jit import jit
from ucls.settings import resolve
from ucls.study.declaration.run_spec import RESULTS_VERSION
from ucls.study.runners.run_cell import run_cell
from ucls.train.open_run import open_run

RECORD = Path(__file__).parent / "data" / "numerics.json"
PACKAGE = Path(ucls.__file__).parent


def parts():
    """The modules that runs are made of; what they import counts too."""
    yield from (algorithm_module(name).__name__ for name in ALGORITHMS)
    yield from (features_module(name).__name__ for name in FEATURES)
    yield from (module_of(name).__name__ for name in ENVIRONMENTS)
    yield from (made.__module__ for made in (ucls.make_run, assemble, jit))


def drivers():
    """The modules that only carry runs out: most of what they import is for files, pages and tables."""
    yield from (each.__module__ for each in (ucls.Agent, open_run, run_cell))


def modules():
    """Every module of the package that can change a run."""
    graph, found = grimp.build_graph("ucls", cache_dir=None), {*parts(), *drivers()}
    for name in set(parts()):
        found |= graph.find_upstream_modules(name)
    return sorted(found)


def source(module):
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text()


def plain(node):
    """A piece of syntax as data that every version of Python reads the same from the same lines.

    Docstrings, and what an error says, are left out.
    """
    if isinstance(node, list):
        return [plain(each) for each in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Raise):
        return ["Raise"]
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    body = fields.get("body")
    if isinstance(body, list) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        fields["body"] = body[1:]
    return [type(node).__name__, {name: plain(value) for name, value in fields.items()}]


def digest(text):
    """The digest of some code, without comments and layout."""
    return hashlib.sha256(json.dumps(plain(ast.parse(text)), sort_keys=True).encode()).hexdigest()[:16]


def found():
    return {"numerics": RESULTS_VERSION, "modules": {module: digest(source(module)) for module in modules()}}


def test_the_code_behind_runs_changes_only_with_its_version():
    recorded, here = json.loads(RECORD.read_text()), found()
    assert recorded["numerics"] == RESULTS_VERSION, "RESULTS_VERSION was raised: run `python tests/test_numerics.py`"
    changed = sorted(name for name, _ in recorded["modules"].items() ^ here["modules"].items())
    assert not changed, (
        f"the code behind runs has changed, in {', '.join(dict.fromkeys(changed))}: if any run differs, raise "
        "RESULTS_VERSION in study/declaration/run_spec.py, so that stores do not mix old results with new; then run "
        "`python tests/test_numerics.py`"
    )


def test_what_steps_plans_and_bounds_a_run_is_covered():
    behind = (
        compiled,
        choose,
        resolve,
        generator,
        bounds_of,
        spaces,
        observations,
        layout_of,
        reader_of,
        EnvAdapter,
        Learner,
    )
    assert {getattr(each, "__module__", None) or each.__name__ for each in behind} <= set(modules())
    assert not {module.partition(".")[2].partition(".")[0] for module in modules()} & {"cli", "report", "explain"}


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("if t == cutoff: end()", "if t == cutoff - 1: end()", False),
        ("def f(): return 2", 'def f():\n    """Two."""\n    return 2  # always', True),
        ("if x: raise UserError('bad')", "if x: raise UserError('x is bad; choose another')", True),
        ("if x: raise UserError('bad')", "if y: raise UserError('bad')", False),
    ],
)
def test_a_digest_changes_with_what_is_computed_and_not_with_what_is_said(before, after, same):
    assert (digest(before) == digest(after)) == same


if __name__ == "__main__":
    RECORD.write_text(json.dumps(found(), indent=1) + "\n")
