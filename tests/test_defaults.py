"""One default algorithm, `ucls.algorithms.DEFAULT`, wherever none is named; agents may choose `LEARNED`."""

import ast
import inspect
from pathlib import Path

import pytest

import ucls
from ucls.algorithms import ALGORITHMS, DEFAULT, LEARNED
from ucls.cli import look
from ucls.cli.input.subject import subject_of
from ucls.core.run import make_run, plan_run
from ucls.study.declaration.run_spec import make_run_specs
from ucls.testing.small import small_run
from ucls.train.open_run import open_run

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
    [make_run, plan_run, make_run_specs, small_run, look.diagnose],
)
def test_functions_and_commands_share_the_default(function):
    parameters = inspect.signature(function).parameters
    assert parameters["algorithm" if "algorithm" in parameters else "agent"].default == DEFAULT


@pytest.mark.parametrize(
    ("env", "algorithm"),
    [
        ("ucls/OneState-v0", DEFAULT),
        ("FrozenLake-v1", DEFAULT),
        ("MountainCar-v0", DEFAULT),
        ("CartPole-v1", LEARNED),
        ("Acrobot-v1", LEARNED),
    ],
)
def test_agents_choose_their_algorithm_by_the_observation(env, algorithm):
    """Learned features where neither a table nor tiles suit; the same in Python and on the command line."""
    assert ucls.Agent(env).plan.agent == algorithm
    assert subject_of(env, None, None, 0, None, None, None, None).agent.plan.agent == algorithm
    assert open_run(env, None).plan.agent == algorithm


def test_a_choice_of_features_is_one_for_an_algorithm_with_fixed_features():
    assert ucls.Agent("CartPole-v1", features="scaled").plan.agent == DEFAULT
    assert ucls.Agent("CartPole-v1", features=lambda s: s[:2]).plan.agent == DEFAULT
