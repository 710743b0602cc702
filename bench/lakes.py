"""UCLS-Plan in both FrozenLakes on seeds that nothing was chosen on: `python -m bench lakes [--runs N] [--no-run]`.

The return of a greedy policy is not sampled: the lake's table gives its expectation under the time limit. The same
table gives the largest return there is. Runs that docs/data/frozen-lake.csv lacks are made and added to it, and a
table of all is printed.
"""

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import ucls
from bench.machine import package_revision

FILE = Path(__file__).parents[1] / "docs" / "data" / "frozen-lake.csv"
HEAD = ["env", "seed", "steps", "greedy", "last_20", "policy", "commit"]
LAKES = ("FrozenLake-v1", "FrozenLake8x8-v1")
FIRST_SEED, STEPS = 6000, (5_000, 20_000)
DISCOUNT = 0.99  # of the agent

Outcomes = np.ndarray  # [state, action]: expected rewards, or the chance of every next state that is not an end


def table_of(env: gymnasium.Env[Any, Any]) -> tuple[Outcomes, Outcomes, int]:
    """Expected rewards and chances of a lake, and its time limit."""
    known: Any = env.unwrapped
    rewards, chances = np.zeros((len(known.P), 4)), np.zeros((len(known.P), 4, len(known.P)))
    for s, actions in known.P.items():
        for a, outcomes in actions.items():
            for chance, to, reward, end in outcomes:
                rewards[s, a] += chance * reward
                chances[s, a, to] += chance * (not end)
    assert env.spec is not None
    assert env.spec.max_episode_steps is not None
    return rewards, chances, env.spec.max_episode_steps


def exact_return(env: gymnasium.Env[Any, Any], policy: Sequence[int]) -> float:
    """The expected return of a policy within the time limit."""
    rewards, chances, limit = table_of(env)
    states, value = np.arange(len(policy)), np.zeros(len(policy))
    for _ in range(limit):
        value = rewards[states, policy] + chances[states, policy] @ value
    return float(value[0])


def best_return(env: gymnasium.Env[Any, Any]) -> float:
    """The largest expected return within the time limit, of policies that see the time."""
    rewards, chances, limit = table_of(env)
    value = np.zeros(len(rewards))
    for _ in range(limit):
        value = (rewards + chances @ value).max(axis=1)
    return float(value[0])


def discounted_policy(env: gymnasium.Env[Any, Any], discount: float = DISCOUNT) -> list[int]:
    """The policy that is optimal with a discount and without a time limit."""
    rewards, chances, _ = table_of(env)
    q = np.zeros_like(rewards)
    for _ in range(20_000):
        q = rewards + discount * chances @ q.max(axis=1)
    return [int(a) for a in q.argmax(axis=1)]


def policy_of(agent: ucls.Agent) -> list[int]:
    """The greedy action in every state."""
    assert agent.env is not None
    return [int(agent.predict(s, deterministic=True)[0]) for s in range(int(agent.env.observation_space.n))]  # pyright: ignore


def measure(env: str, seed: int) -> list[list[Any]]:
    """The lines of one run, for each of `STEPS`."""
    agent, lines = ucls.Agent(env, "ucls-plan", seed=seed), []
    for steps in STEPS:
        agent.learn(steps - agent.steps)
        policy, last = policy_of(agent), np.mean(agent.history.episode_returns[-20:])
        told = "".join(map(str, policy))
        lines.append([env, seed, steps, f"{exact_return(agent.env, policy):.5g}", f"{last:.4g}", told])  # pyright: ignore
    return lines


def rows(file: Path = FILE) -> list[dict[str, str]]:
    """The lines of a file."""
    if not file.exists():
        return []
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def table(found: Sequence[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """A line for each lake and number of steps: means, the worst run, and what is possible."""
    lines = []
    for env in LAKES:
        made = gymnasium.make(env)
        possible = [f"{best:.3f}" for best in (best_return(made), exact_return(made, discounted_policy(made)))]
        for steps in STEPS:
            mine = [row for row in found if (row["env"], row["steps"]) == (env, str(steps))]
            greedy, last = (np.array([float(row[name]) for row in mine]) for name in ("greedy", "last_20"))
            if mine:
                told = [f"{number:.3f}" for number in (greedy.mean(), greedy.min(), last.mean())]
                lines.append([env, f"{steps:,}", str(len(mine)), *told, *possible])
    columns = ["lake", "steps", "runs", "greedy, mean", "greedy, worst run", "last 20 episodes", "possible"]
    return [*columns, f"with the best policy for a discount of {DISCOUNT}"], lines


def main(words: list[str]) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m bench lakes", description=__doc__)
    parser.add_argument("--runs", type=int, default=30, help=f"runs in each lake, with seeds from {FIRST_SEED} on")
    parser.add_argument("--no-run", action="store_true", help="only print the summary")
    parser.add_argument("--out", type=Path, default=FILE, help="the file of results")
    asked = parser.parse_args(words)
    had = {(row["env"], int(row["seed"])) for row in rows(asked.out)}
    for seed in range(FIRST_SEED, FIRST_SEED + asked.runs):
        for env in LAKES:
            if asked.no_run or (env, seed) in had:
                continue
            new = not asked.out.exists()
            with asked.out.open("a", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerows([HEAD] * new + [[*line, package_revision()] for line in measure(env, seed)])
    columns, lines = table(rows(asked.out))
    print("\n".join(" | ".join(line) for line in [columns, *lines]))
    return 0
