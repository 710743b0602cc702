"""The maps of an agent as a page: what its environment tells of the states, put together with what the agent thinks."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls import explain
from ucls._html import refuse_page
from ucls.core.learner import Learner
from ucls.errors import UserError
from ucls.gym import spaces
from ucls.gym.adapter import EnvAdapter
from ucls.gym.copies import copy_of
from ucls.gym.feature_functions import GIVEN
from ucls.gym.wrapping import wrapped_world

WALK = 2000  # steps that show where a kept agent goes


def maps_of(
    agent: Any,
    stage: EnvAdapter,
    path: str | Path,
    steps: int,
    through: Sequence[float] | None,
    watch: Callable[[int], Any],
) -> Path:
    """Write the maps of an agent as it is, or of so many steps that it takes first."""
    refuse_page(Path(path))
    if agent.plan.features == GIVEN:
        raise UserError("maps need states to lie on: the features are a function of yours, ask agent.interval(...)")
    plan, id, copy = agent.plan, spaces.id_of(stage.env), _copy(agent, stage)
    if through is None and copy is not None and len(plan.low) > 2:
        through = copy.reset(0).tolist()
    numbers = explain.names_of(id)
    numbers = numbers if len(numbers) == len(plan.low) else stage.observed.names()
    views = explain.views_of(
        plan.low,
        plan.high,
        discrete=plan.features == "one_hot",
        grid=spaces.grid_of(stage.env),
        through=through,
        names=numbers,
    )
    if steps:
        maps, noted = explain.record(agent, steps, views=views, watch=watch), "while it learned"
    else:
        walked = (None, None) if copy is None else _walk(agent.learner, copy)
        maps, noted = explain.look(agent, views, *walked), f"in {WALK:,} steps that it took here, without learning"
    title = f"What is {plan.agent} unsure of in {id or 'its environment'}?"
    facts = {"seed": plan.seed, "steps": f"{agent.steps:,}", "features": plan.features}
    facts["states noted"] = noted if maps.unsure else "none: without its environment nobody knows where it goes"
    return explain.write_page(Path(path), title, maps, action_names(agent, stage), facts, numbers)


def _copy(agent: Any, stage: EnvAdapter) -> EnvAdapter | None:
    """A stage like the agent's own, if its environment can be made again: looking leaves its run alone."""
    try:
        return None if stage.env is None else stage.on(spaces.with_discrete_actions(copy_of(stage.env)), agent.plan)
    except UserError:
        return None


def _walk(learner: Learner, stage: EnvAdapter) -> tuple[np.ndarray, np.ndarray]:
    """The states that an agent comes to by its own rule, learning nothing, and where episodes ended."""
    states, ended = [stage.reset(0)], [False]
    for step in range(1, WALK + 1):
        states.append(stage.step(learner.choose(states[-1]), step).s)
        ended.append(stage.between_episodes)
        if stage.between_episodes:
            states.append(stage.reset(step))
            ended.append(False)
    return np.array(states), np.array(ended)


def action_names(agent: Any, stage: EnvAdapter) -> list[str]:
    """What the actions are called: by our world, by the environment, by what is known of it; or else their numbers."""
    for names in (_told_names(stage), explain.actions_of(spaces.id_of(stage.env))):
        if len(names) == agent.plan.n_actions:
            return [str(name) for name in names]
    return [f"action {stage.first_action + a}" for a in range(agent.plan.n_actions)]


def _told_names(stage: EnvAdapter) -> Sequence[str]:
    ours = wrapped_world(stage.env)
    if ours is not None and ours.action_space == stage.env.action_space:
        return ours.world.module.ACTIONS
    tells = (env for env in _from_outside(stage.env) if callable(getattr(env, "get_action_meanings", None)))
    env = next(tells, None)  # as Atari's do, and our DiscreteActions
    names = () if env is None else env.get_action_meanings()
    return names if isinstance(names, list | tuple) else ()


def _from_outside(env: Any) -> Iterator[Any]:
    """An environment, and what is in its wrappers."""
    while env is not None:
        yield env
        env = vars(env).get("env") if hasattr(env, "__dict__") else None
