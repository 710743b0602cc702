"""The agent that a command is about: one that was kept, or a new one that has to learn first."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ucls.algorithms import DEFAULT
from ucls.cli.options import numbers_of
from ucls.errors import UserError, printable

if TYPE_CHECKING:
    from ucls.agent.agent import Agent

STEPS = 20_000  # that a new agent learns, if nobody says how many


class Subject(NamedTuple):
    """An agent, how many steps it is to learn first, and what its environment is made by, if a person named it."""

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
    """The agent in a run's folder or file; or a new one in the environment of that name."""
    from ucls import checkpoint
    from ucls.agent.agent import Agent
    from ucls.gym.registry import opened
    from ucls.settings import divided, parse
    from ucls.train.run_folder import checkpoint_of
    from ucls.train.same_env import recreated

    given = parse(settings or [])
    others, own = divided(given)
    bounds: dict[str, Any] = {"low": numbers_of("--low", low), "high": numbers_of("--high", high)}
    if not Path(what).exists():
        if env is not None:
            raise UserError("--env is for a run that was kept: a new one is in the environment that is named first")
        new = Agent(what, agent or DEFAULT, seed=seed, settings=given, features=features, **bounds)
        return Subject(new, STEPS if steps is None else steps, what)
    if others or any(bound is not None for bound in bounds.values()):
        raise UserError("a run has its settings and bounds: --set, --low and --high are for a new one")
    about, arrays = checkpoint.load(checkpoint_of(Path(what)))
    algorithm = _algorithm(about, agent, what)
    place = opened(env, given)[0] if env is not None else None if own else recreated(about)
    revived = Agent.revive(about, arrays, place, algorithm, features)
    return Subject(revived, steps or 0, env)


def _algorithm(about: Mapping[str, Any], agent: str | None, what: str) -> Any:
    """The module of the algorithm that a person named for a run; None for one of the package."""
    from ucls.algorithms import ALGORITHMS, algorithm_module, name_of

    plan = about.get("plan")
    saved = plan.get("agent") if isinstance(plan, Mapping) else None
    if agent is None:
        if isinstance(saved, str) and saved not in ALGORITHMS:
            raise UserError(f"{what} needs the algorithm {printable(saved)[:100]!r}: name its module by --algo")
        return None
    module = algorithm_module(agent)
    if saved not in (agent, name_of(module)):
        raise UserError(f"{what} holds the agent {printable(saved)[:100]!r}, not {agent!r}: leave out --algo")
    return module
