"""The table of deep agents in docs/environments.md, from docs/data/deep.csv."""

from collections.abc import Sequence

from bench.known.found import Found
from bench.tables import Table, number
from ucls.stats import summarize

BESIDE = ("ucls-plan", "ucls-exact")


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
    return Table("deep agents", ["environment", "steps", *agents], rows)


def cell(runs: Sequence[Found]) -> str:
    """The mean greedy return with its interval, the mean return at the end of training, and the number of runs."""
    greedy = [run.greedy_return for run in runs if run.greedy_return is not None]
    if not greedy:
        return "-"
    last = [run.final_return for run in runs if run.final_return is not None]
    center, low, high = summarize(greedy)[:3]
    spread = f" [{number(low)}, {number(high)}]" if len(greedy) > 2 else ""
    return f"{number(center)}{spread}; {number(summarize(last).center) if last else '-'} ({len(runs)})"
