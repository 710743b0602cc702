"""The agent that a command is about: one that was kept, or a new one that has to learn first."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ucls.cli.options import numbers_of
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.runs.agent import Agent

STEPS = 20_000  # that a new agent learns, if nobody says how many


class Subject(NamedTuple):
    """An agent, how many steps it is to learn first, and what its environment is made by, if by a name."""

    agent: "Agent"
    steps: int
    name: str | None


def subject_of(
    what: str,
    agent: str,
    steps: int | None,
    seed: int,
    env: str | None,
    settings: list[str] | None,
    low: str | None,
    high: str | None,
) -> Subject:
    """The agent in a run's folder or file; or a new one in the environment of that name."""
    from ucls import checkpoint
    from ucls.runs.agent import Agent
    from ucls.runs.naming import opened
    from ucls.runs.run_folder import checkpoint_of
    from ucls.settings import divided, parse

    given = parse(settings or [])
    others, own = divided(given)
    bounds: dict[str, Any] = {"low": numbers_of("--low", low), "high": numbers_of("--high", high)}
    if not Path(what).exists():
        if env is not None:
            raise UserError("--env is for a run that was kept: a new one is in the environment that is named first")
        new = Agent(what, agent, seed=seed, settings=given, **bounds)
        return Subject(new, STEPS if steps is None else steps, what)
    if others or any(bound is not None for bound in bounds.values()):
        raise UserError("a run has its settings and bounds: --set, --low and --high are for a new one")
    about, arrays = checkpoint.load(checkpoint_of(Path(what)))
    name = env or (None if own else _remembered(about))
    return Subject(Agent.revive(about, arrays, opened(name, given)[0]), steps or 0, name)


def _remembered(about: Mapping[str, Any]) -> str | None:
    """The environment of a run that was kept, if it is Gymnasium's own as it comes: a file chooses no other code."""
    from ucls.runs.spaces import is_gymnasiums_own

    named = about.get("named")
    plain = isinstance(named, Mapping) and not named.get("settings") and not named.get("wrappers")
    id = named.get("env") if plain and isinstance(named, Mapping) else None
    return id if isinstance(id, str) and is_gymnasiums_own(id) else None
