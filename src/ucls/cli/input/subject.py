"""The agent that a command works on: a saved one, or a new one to train first."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ucls.cli.input.options import numbers_of
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.agent.agent import Agent

STEPS = 20_000  # for which a new agent trains by default


class Subject(NamedTuple):
    """An agent, the steps to train it first, and the name of its environment if the user gave one."""

    agent: "Agent"
    steps: int
    name: str | None


def subject_of(
    what: str,
    agent: str | None,
    steps: int | None,
    seed: int,
    env: str | None,
    settings: list[str] | None,
    low: str | None,
    high: str | None,
    features: str | None = None,
) -> Subject:
    """Load the agent of a saved run, or make a new one in the environment of that name."""
    from ucls.agent.agent import Agent
    from ucls.algorithms import algorithm_of_saved
    from ucls.core.config import read_saved
    from ucls.core.saving import checkpoint
    from ucls.gym.registry import open_env
    from ucls.settings import divided, parse
    from ucls.train.run_folder import checkpoint_of
    from ucls.train.same_env import recreated

    given = parse(settings or [])
    others, own = divided(given)
    bounds: dict[str, Any] = {"low": numbers_of("--low", low), "high": numbers_of("--high", high)}
    if not Path(what).exists():
        if env is not None:
            raise UserError(
                "--env applies to saved runs: remove it, a new agent trains in the environment named as TARGET"
            )
        new = Agent(what, agent, seed=seed, settings=given, features=features, **bounds)
        return Subject(new, STEPS if steps is None else steps, what)
    if others or any(bound is not None for bound in bounds.values()):
        raise UserError("a saved run keeps its settings: remove --low, --high and every --set except env.NAME")
    about, arrays = checkpoint.load(checkpoint_of(Path(what)))
    algorithm = algorithm_of_saved(read_saved(about).plan.agent, agent, what)
    place = open_env(env, given)[0] if env is not None else None if own else recreated(about)
    revived = Agent.revive(about, arrays, place, algorithm, features)
    return Subject(revived, steps or 0, env)
