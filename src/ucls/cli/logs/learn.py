"""`ucls learn-log`: an agent that learned from a log."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ucls.algorithms import DEFAULT
from ucls.cli.input.options import AlgorithmName, FeaturesName, Json, Settings, path_of
from ucls.cli.logs import options as opt
from ucls.cli.output.streams import print_json


@opt.reads_log
def learn_log(
    file: opt.LogFile,
    env: Annotated[str, typer.Option(help="The environment that the log comes from, by name.")],
    out: Annotated[str, typer.Option(help="The file of the agent.")],
    agent: AlgorithmName = DEFAULT,
    settings: Settings = None,
    features: FeaturesName = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed of the agent.")] = 0,
    as_json: Json = False,
    *,
    gamma: float | None,
    columns: Mapping[str, Any],
    ends: str | None,
) -> None:
    """Train an agent on a log and save it, to continue in the environment or to use its policies.

    `ucls compare-log --policy greedy:FILE` (or cautious:FILE, optimistic:FILE) judges a policy of the agent. Use
    episodes that it did not learn from.
    """
    from ucls.agent.agent import Agent
    from ucls.evaluation import read_log
    from ucls.settings import parse

    path = path_of("--out", out)
    log = read_log(file, gamma, columns, ends)
    learner = Agent(env, agent, seed=seed, features=features, settings=parse(settings or []))
    written = learner.learn_from(log).save(path or out)
    used = int((log.has_next | log.terminated).sum())
    told: dict[str, Any] = {
        "env": env,
        "agent": agent,
        "episodes": log.n_episodes,
        "transitions": used,
        "gamma": log.gamma,
    }
    if as_json:
        print_json({**told, "out": str(written)})
    else:
        from ucls.cli.logs.show import show_log

        show_log(log)
        print(f"{agent} learned from {used:,} transitions: {written}")
