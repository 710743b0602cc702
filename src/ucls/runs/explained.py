"""The maps of an agent as a page: what its environment tells of the states, put together with what the agent thinks."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ucls import explain
from ucls._html import refuse_page
from ucls.runs import spaces
from ucls.runs.stage import Stage


def maps_of(
    agent: Any,
    stage: Stage,
    path: str | Path,
    steps: int,
    through: Sequence[float] | None,
    watch: Callable[[int], Any],
) -> Path:
    """Write the maps of an agent as it is, or of so many steps that it takes first."""
    refuse_page(Path(path))
    plan, id = agent.plan, spaces.id_of(stage.env)
    views = explain.views_of(
        plan.low,
        plan.high,
        discrete=plan.features == "one_hot",
        grid=spaces.grid_of(stage.env),
        through=through,
        names=explain.names_of(id),
    )
    maps = explain.record(agent, steps, views=views, watch=watch) if steps else explain.look(agent, views)
    title = f"What is {plan.agent} unsure of in {id or 'its environment'}?"
    facts = {"seed": plan.seed, "steps": f"{agent.steps:,}", "features": plan.features}
    return explain.write_page(Path(path), title, maps, action_names(agent, stage), facts)


def action_names(agent: Any, stage: Stage) -> list[str]:
    """What the actions are called: by our world, by the environment, by what is known of it; or else their numbers."""
    for names in (_told_names(stage), explain.actions_of(spaces.id_of(stage.env))):
        if len(names) == agent.plan.n_actions:
            return [str(name) for name in names]
    return [f"action {stage.first_action + a}" for a in range(agent.plan.n_actions)]


def _told_names(stage: Stage) -> Sequence[str]:
    if stage.ours is not None:
        return stage.ours.world.module.ACTIONS
    ask = getattr(getattr(stage.env, "unwrapped", None), "get_action_meanings", None)  # as Atari's have it
    names = ask() if callable(ask) else ()
    return names if isinstance(names, list | tuple) else ()
