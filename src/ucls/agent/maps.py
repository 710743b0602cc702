"""The maps of an agent as an HTML page, with names from its environment."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ucls._util.html import refuse_page
from ucls.agent import explain
from ucls.core.learner import Learner
from ucls.errors import UserError
from ucls.features import is_discrete, is_precomputed
from ucls.gym import spaces
from ucls.gym.adapter import EnvAdapter
from ucls.gym.copies import copy_of
from ucls.gym.wrapping import wrapped_world

WALK = 2000  # steps that show which states a saved agent visits


def maps_of(
    agent: Any,
    stage: EnvAdapter,
    path: str | Path,
    steps: int,
    through: Sequence[float] | None,
    watch: Callable[[int], Any],
) -> Path:
    """Write the maps of an agent as it is, or along `steps` further steps of learning."""
    refuse_page(Path(path))
    if is_precomputed(agent.plan.features):
        raise UserError(
            "maps need a state space, but the features are your own function: use agent.value_estimates(...)"
        )
    plan, id, copy = agent.plan, spaces.id_of(stage.env), _copy(agent, stage)
    if through is None and copy is not None and len(plan.low) > 2:
        through = copy.reset(0).tolist()
    numbers = component_names(agent, stage)
    views = explain.views_of(
        plan.low,
        plan.high,
        discrete=is_discrete(agent.learner.features),
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
    facts["states noted"] = noted if maps.unsure else "none: without its environment its visits are unknown"
    return explain.write_page(Path(path), title, maps, action_names(agent, stage), facts, numbers)


def _copy(agent: Any, stage: EnvAdapter) -> EnvAdapter | None:
    """An adapter for a copy of the agent's environment, if it can be copied: the run must not change."""
    try:
        return None if stage.env is None else stage.on(spaces.with_discrete_actions(copy_of(stage.env)), agent.plan)
    except UserError:
        return None


def _walk(learner: Learner, stage: EnvAdapter) -> tuple[np.ndarray, np.ndarray]:
    """The states that an agent visits while exploring without learning, and where episodes ended."""
    states, ended = [stage.reset(0)], [False]
    for step in range(1, WALK + 1):
        states.append(stage.step(learner.choose(states[-1], stage.mask), step).s)
        ended.append(stage.between_episodes)
        if stage.between_episodes:
            states.append(stage.reset(step))
            ended.append(False)
    return np.array(states), np.array(ended)


def component_names(agent: Any, stage: EnvAdapter) -> Sequence[str]:
    """The names of the observation's components: those that the environment declares, well-known ones, or numbers."""
    builtin = wrapped_world(stage.env)
    declared = () if builtin is None else builtin.world.observations
    for names in (declared, explain.names_of(spaces.id_of(stage.env))):
        if len(names) == len(agent.plan.low):
            return names
    return stage.observed.names()


def action_names(agent: Any, stage: EnvAdapter) -> list[str]:
    """The names of the actions: those that the environment declares, well-known ones, or else numbers."""
    for names in (_declared_names(stage), explain.actions_of(spaces.id_of(stage.env))):
        if len(names) == agent.plan.n_actions:
            return [str(name) for name in names]
    return [f"action {stage.first_action + a}" for a in range(agent.plan.n_actions)]


def _declared_names(stage: EnvAdapter) -> Sequence[str]:
    builtin = wrapped_world(stage.env)
    if builtin is not None and builtin.action_space == stage.env.action_space:
        return builtin.world.module.ACTIONS
    declaring = (env for env in _from_outside(stage.env) if callable(getattr(env, "get_action_meanings", None)))
    env = next(declaring, None)  # Atari environments and `DiscreteActions` have this method
    names = () if env is None else env.get_action_meanings()
    return names if isinstance(names, list | tuple) else ()


def _from_outside(env: Any) -> Iterator[Any]:
    """An environment and the environments inside its wrappers."""
    while env is not None:
        yield env
        env = vars(env).get("env") if hasattr(env, "__dict__") else None
