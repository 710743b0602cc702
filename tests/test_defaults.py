"""One default algorithm, `ucls.algorithms.DEFAULT`, wherever none is named."""

import ast
import inspect
from pathlib import Path

import pytest

import ucls
from ucls.algorithms import ALGORITHMS, DEFAULT
from ucls.cli import look, train
from ucls.cli.input.subject import subject_of
from ucls.core.run import make_run, plan_run
from ucls.study.declaration.run_spec import make_run_specs
from ucls.testing.small import small_run

HERE = Path(ucls.__file__).parent
OTHERS = {("callbacks/weights_and_biases.py", "project")}  # defaults that only happen to have the name of an algorithm


def defaults(tree):
    """Every default of a parameter or a field: the name of the one, and the syntax of the other."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            names = [arg.arg for arg in (*node.posonlyargs, *node.args)][-len(node.defaults) :]
            yield from zip(names, node.defaults, strict=False)
            yield from zip((arg.arg for arg in node.kwonlyargs), node.kw_defaults, strict=True)
        elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
            yield node.target.id, node.value


def second_defaults(source):
    """Parameters and fields whose default is an algorithm by its name, not `DEFAULT`."""
    found = defaults(ast.parse(source))
    return [name for name, value in found if isinstance(value, ast.Constant) and value.value in ALGORITHMS]


def test_no_default_names_an_algorithm_of_its_own():
    files = {path.relative_to(HERE).as_posix(): path for path in HERE.rglob("*.py")}
    found = {(file, name) for file, path in files.items() for name in second_defaults(path.read_text())}
    assert found == OTHERS


@pytest.mark.parametrize("source", ['def f(env, agent="ucls"): ...', 'def f(*, a="sarsa"): ...', 'x: str = "ucls"'])
def test_a_second_default_would_be_found(source):
    assert second_defaults(source)


@pytest.mark.parametrize(
    "function",
    [ucls.Agent, make_run, plan_run, make_run_specs, small_run, train.train, look.diagnose],
)
def test_functions_and_commands_share_the_default(function):
    parameters = inspect.signature(function).parameters
    assert parameters["algorithm" if "algorithm" in parameters else "agent"].default == DEFAULT


def test_new_agents_of_explain_and_watch_have_the_default_too():
    new = subject_of("ucls/OneState-v0", None, None, 0, None, None, None, None)
    assert new.agent.plan.agent == DEFAULT
