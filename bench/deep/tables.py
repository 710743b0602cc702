"""The section of docs/environments.md on deep agents, from docs/data/deep.csv."""

from collections.abc import Sequence

from bench.known.found import Found
from bench.tables import Table, markdown, number
from ucls.stats import summarize

BESIDE = ("ucls-plan", "ucls-exact")
TEXT = """
DQN and PPO are those of Stable-Baselines3, QR-DQN that of sb3-contrib, with the settings of
[RL Baselines3 Zoo](https://github.com/DLR-RM/rl-baselines3-zoo) for each environment, where UCLS-Plan and UCLS-Exact
have one setting for all. LunarLander-v3 has the settings of v2. What rl-zoo does not have gets those of an environment
that it has: FrozenLake and DoorKey those of CartPole (DQN, QR-DQN) and of MiniGrid DoorKey 5x5 (PPO), the swing-up
those of Acrobot, and Pendulum those of Acrobot (DQN, QR-DQN) and of Pendulum without its noise for continuous actions
(PPO).
Bootstrapped DQN with randomized priors (Osband et al. 2018) has the settings of bsuite: 20 networks, priors with a
factor of 3. It sees Deep Sea one-hot. In DoorKey 6x6 the observation is MiniGrid's view of 7x7 cells.

Cells are mean returns of the greedy policy, with 95% Student t intervals from three runs on; after the semicolon those
of the last 20 training episodes, and the number of runs. LunarLander was not run with these settings, nor was anything
for as many steps as they were tuned for (`--own-steps`).
"""


def section(runs: Sequence[Found], deep: Sequence[Found]) -> list[str]:
    """The lines of the section; none without runs."""
    if not deep:
        return []
    commits = ", ".join(f"`{commit}`" for commit in sorted({run.commit for run in deep}))
    made = f"{len(deep):,} runs, made with `python -m bench deep` and commit {commits}. "
    return [markdown(table(runs, deep)), f"{made}Each is a line of [deep.csv](data/deep.csv).", ""]


def table(runs: Sequence[Found], deep: Sequence[Found]) -> Table:
    """A row for each environment and number of steps, a column for each agent."""
    titles = list(dict.fromkeys(run.task for run in deep))
    every = [*deep, *(run for run in runs if run.task in titles and run.agent in BESIDE)]
    agents = [*dict.fromkeys(run.agent for run in deep if run.agent not in BESIDE), *BESIDE]
    rows = []
    for title in titles:
        here = [run for run in every if run.task == title]
        steps = f"{min(run.steps for run in here):,}"
        rows.append([title, steps, *(cell([run for run in here if run.agent == agent]) for agent in agents)])
    return Table("Deep agents with tuned settings", ["environment", "steps", *agents], rows, TEXT.strip())


def cell(runs: Sequence[Found]) -> str:
    """The mean greedy return with its interval, the mean return at the end of training, and the number of runs."""
    greedy = [run.greedy_return for run in runs if run.greedy_return is not None]
    if not greedy:
        return "-"
    last = [run.final_return for run in runs if run.final_return is not None]
    center, low, high = summarize(greedy)[:3]
    spread = f" [{number(low)}, {number(high)}]" if len(greedy) > 2 else ""
    return f"{number(center)}{spread}; {number(summarize(last).center) if last else '-'} ({len(runs)})"
