"""The values of policies learned from logs, cautious and greedy, compared with the logged policy and the optimum."""

import csv
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import ucls
from bench.logs.domains import Array, Domain, Policy, domains, simulate, soft, true_value
from ucls.evaluation import read_log

SIZES = (20, 50, 200)
SEED = 7000  # of the first run; smaller ones were used to choose CAUTION and PRIOR
GRID = {1: 2001, 2: 81}  # points along each component at which policies are computed, by the number of components


class Setting(NamedTuple):
    """A domain as a Gymnasium environment, an optimal policy if known, and simulated episodes for every value."""

    n_actions: int
    low: list[float]
    high: list[float]
    best: Policy | None = None
    episodes: int = 2000


SETTINGS = {
    "garnet": Setting(3, [0], [11]),
    "inventory": Setting(3, [0], [20]),
    "queue": Setting(2, [0], [30]),
    "river_swim": Setting(2, [0], [1], lambda s: np.tile([0.0, 1.0], (len(s), 1)), 1000),
    "puddle_world": Setting(4, [0, 0], [1, 1]),
    "cart_pole": Setting(2, [-2.4, -3, -0.21, -3], [2.4, 3, 0.21, 3],
                         lambda s: soft((s[:, 2] + 0.5 * s[:, 3] > 0).astype(int), 2, 0.0)),
}  # fmt: skip


class Row(NamedTuple):
    """The true values of the policies of one run."""

    domain: str
    episodes: int
    run: int
    logged: float
    greedy: float
    cautious: float
    best: float


class _Shape(gymnasium.Env[Any, Any]):
    """The spaces of a domain; agents learn from logs, so it takes no steps."""

    def __init__(self, setting: Setting, discrete: bool):
        self.action_space = gymnasium.spaces.Discrete(setting.n_actions)
        low, high = np.array(setting.low, np.float64), np.array(setting.high, np.float64)
        self.observation_space = (
            gymnasium.spaces.MultiDiscrete([int(high[0]) + 1]) if discrete
            else gymnasium.spaces.Box(low, high, dtype=np.float64)
        )  # fmt: skip


def optimum(domain: Domain) -> float:
    """The value of the optimal policy of a table, by value iteration."""
    assert domain.exact is not None
    P, R, start = domain.exact
    v = np.zeros(len(R))
    for _ in range(3000):
        v = (R + domain.gamma * P[:, :, : len(R)] @ v).max(axis=1)
    return float(start @ v)


@functools.cache
def references(name: str) -> tuple[float, float]:
    """Return the values of the logged policy, and of an optimal one: NaN if none is known."""
    domain, setting = domains()[name], SETTINGS[name]
    logged = domain.truth[0] if domain.truth else true_value(domain, domain.behavior)
    if setting.best is not None:
        return logged, true_value(domain, setting.best, 20_000)
    return logged, np.nan if domain.exact is None else optimum(domain)


def gridded(policy: Any, setting: Setting) -> Policy:
    """The probabilities of a policy that returns actions; with few components it is computed on a grid."""
    count = GRID.get(len(setting.low))
    if count is None:
        return lambda s: soft(policy(s), setting.n_actions, 0.0)
    low, high = np.array(setting.low), np.array(setting.high)
    axes = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    actions = policy(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(low)))

    def act(s: Array) -> Array:
        place = np.clip(np.round((s - low) / (high - low) * (count - 1)), 0, count - 1).astype(int)
        return soft(actions[place @ count ** np.arange(len(low))[::-1]], setting.n_actions, 0.0)

    return act


def learn(name: str, episodes: int, run: int) -> ucls.Agent:
    """An agent that has learned from a simulated log."""
    domain, setting = domains()[name], SETTINGS[name]
    rng = np.random.default_rng([SEED + run, episodes, *name.encode()])
    log = read_log(simulate(domain, episodes, rng), gamma=domain.gamma)
    return ucls.Agent(_Shape(setting, domain.exact is not None)).learn_from(log)


def replicate(name: str, episodes: int, run: int) -> Row:
    """Learn from a log, and measure the policies."""
    domain, setting = domains()[name], SETTINGS[name]
    agent, (logged, best) = learn(name, episodes, run), references(name)
    found = []
    for attitude in ("greedy", "cautious"):
        policy = agent.policy(attitude)
        tabular = domain.exact is not None
        known = (lambda s, ask=policy: soft(ask(s), setting.n_actions, 0.0)) if tabular else gridded(policy, setting)
        found.append(true_value(domain, known, setting.episodes))
    return Row(name, episodes, run, logged, found[0], found[1], best)


def run_all(path: Path, runs: int, names: Iterable[str] = SETTINGS) -> Iterator[Row]:
    """Make the runs that are missing from a file, and append them."""
    done = {(row["domain"], int(row["episodes"]), int(row["run"])) for row in read_rows(path)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(Row._fields)
        for run in range(runs):
            for episodes in SIZES:
                for name in names:
                    if (name, episodes, run) not in done:
                        row = replicate(name, episodes, run)
                        writer.writerow([*row[:3], *(f"{x:.6g}" for x in row[3:])])
                        file.flush()
                        yield row


def read_rows(path: Path) -> list[dict[str, str]]:
    """The runs in a file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def table(path: Path) -> str:
    """The table of the page."""
    rows = read_rows(path)
    lines = [
        "| environment | episodes | runs | logged | greedy | cautious | optimum | greedy at least as good | cautious |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in SETTINGS:
        for episodes in SIZES:
            some = [row for row in rows if row["domain"] == name and int(row["episodes"]) == episodes]
            if not some:
                continue
            values = {each: np.array([float(row[each]) for row in some]) for each in Row._fields[3:]}
            means = [f"{values[each].mean():.4g}".replace("nan", "") for each in Row._fields[3:]]
            safe = [f"{100 * np.mean(values[each] >= values['logged']):.0f}%" for each in ("greedy", "cautious")]
            cells = [name.replace("_", " "), str(episodes), str(len(some)), *means, *safe]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
