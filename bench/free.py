"""Model-free baselines beside epsilon-greedy Sarsa in Deep Sea and FrozenLake: `python -m bench.free`.

Deep Sea is solved with the last of 20 successive episodes of which 18 find the treasure. All settings are defaults;
in FrozenLake, the maximum possible return is given.
"""

import argparse
import sys

import numpy as np

from ucls import Agent, make_run

AGENTS = ("ucb-q", "rlsvi-tabular", "lsvi-ucb", "lsvi-phe", "sarsa")
EPISODES = {10: 1000, 20: 2000}
STEPS = 20_000


def solved(returns: np.ndarray, window: int = 20, enough: float = 0.9) -> float:
    """The number of episodes until 18 of 20 successive ones found the treasure; infinity if that never happens."""
    found = np.convolve((returns > 0.5).astype(float), np.ones(window) / window, "valid") >= enough
    return float(np.argmax(found) + window) if found.any() else np.inf


def deep_sea(agent: str, size: int, runs: int) -> str:
    """The median, the first and the last of the runs' episodes to solve a sea."""
    episodes = []
    for seed in range(runs):
        run = make_run("ucls/DeepSea-v0", agent, seed=seed, settings={"size": size})
        episodes.append(solved(run.advance(size * EPISODES[size]).episode_returns))
    return f"{np.median(episodes):,.0f} ({min(episodes):,.0f} to {max(episodes):,.0f})"


def frozen_lake(agent: str, runs: int) -> str:
    """The mean return of the last fifth of the episodes and that of the worst run."""
    settings = {} if agent == "sarsa" else {"return_max": 1.0}
    returns = [
        Agent("FrozenLake-v1", agent, seed=seed, settings=settings).learn(STEPS).history.episode_returns
        for seed in range(runs)
    ]
    late = [each[-len(each) // 5 :].mean() for each in returns]
    return f"{np.mean(late):.2f} ({min(late):.2f})"


def main(words: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.free", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--algo", nargs="*", default=AGENTS)
    asked = parser.parse_args(words)
    print("| algorithm | Deep Sea 10: episodes to solve | Deep Sea 20 | FrozenLake: return |\n|---|---:|---:|---:|")
    for agent in asked.algo:
        seas = [deep_sea(agent, size, asked.runs) for size in EPISODES]
        print(f"| {agent} | {' | '.join(seas)} | {frozen_lake(agent, asked.runs)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
