"""The maps of an agent as a page: what its environment tells of the states, put together with what the agent thinks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ucls import explain
from ucls._html import refuse_page
from ucls.runs import spaces


def maps_of(
    agent: Any,
    env: Any,
    path: str | Path,
    steps: int,
    through: Sequence[float] | None,
    watch: Callable[[int], Any],
) -> Path:
    """Write the maps of an agent as it is, or of so many steps that it takes first."""
    refuse_page(Path(path))
    plan, id = agent.plan, spaces.id_of(env)
    views = explain.views_of(
        plan.low,
        plan.high,
        discrete=plan.features == "one_hot",
        grid=spaces.grid_of(env),
        through=through,
        names=explain.names_of(id),
    )
    maps = explain.record(agent, steps, views=views, watch=watch) if steps else explain.look(agent, views)
    title = f"What is {plan.agent} unsure of in {id or 'its environment'}?"
    actions = () if agent.world is None else agent.world.module.ACTIONS
    facts = {"seed": plan.seed, "steps": f"{agent.steps:,}", "features": plan.features}
    return explain.write_page(Path(path), title, maps, actions, facts)
