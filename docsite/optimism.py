"""The figure of docs/concepts.md: optimism with three actions, at four moments of training.

python -m docsite.optimism docs/optimism.png
"""

import sys
from typing import Any, NamedTuple

import gymnasium
import matplotlib
import numpy as np
from matplotlib.figure import Figure

import ucls

NAMES, PAYS = ("A", "B", "C"), (0.4, 0.6, 0.2)  # A always yields 0.4; B and C yield 1 with that probability, else 0
MOMENTS = (0, 3, 20, 300)
UNKNOWN, NOISY, INK = "#5b9bd0", "#f0953f", "#222222"
STYLE: Any = {"font.size": 11, "axes.spines.top": False, "axes.spines.right": False}


class Levers(gymnasium.Env[int, int]):
    """One state, three actions; an episode is one step."""

    observation_space = gymnasium.spaces.Discrete(1)
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        pays = PAYS[action] if action == 0 else float(self.np_random.random() < PAYS[action])
        return 0, pays, True, False, {}


class Moment(NamedTuple):
    """State of an agent: trials and mean of each action, and the two parts of its radius."""

    pulls: list[int]
    mean: np.ndarray
    unknown: np.ndarray
    noisy: np.ndarray

    @property
    def upper(self) -> np.ndarray:
        """The upper bounds; the lever with the highest is taken next."""
        return self.mean + self.unknown + self.noisy


def moments() -> list[Moment]:
    """Train an agent and record it at every moment."""
    env = Counted(Levers())
    agent = ucls.Agent(env, "ucls-exact", seed=0, return_max=1.0, noise_scale=1.0)
    found = []
    for steps in np.diff(MOMENTS, prepend=0):
        if steps:
            agent.learn(int(steps))
        mean, _ = agent.value_estimates(0)
        unknown, noisy = agent.uncertainty(0)
        found.append(Moment([*env.pulls], mean, unknown, noisy))
    return found


class Counted(gymnasium.Wrapper[int, int, int, int]):
    """Count the actions taken."""

    def __init__(self, env: gymnasium.Env[int, int]) -> None:
        super().__init__(env)
        self.pulls = [0, 0, 0]

    def step(self, action: int) -> Any:
        """Take a step."""
        self.pulls[action] += 1
        return super().step(action)


def draw(found: list[Moment], path: str) -> None:
    """Draw one panel per moment."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 6.2), layout="constrained")
        grid = figure.subplots(2, 2, sharey=True)
        for axes, steps, moment in zip(grid.flat, MOMENTS, found, strict=True):
            _panel(axes, steps, moment)
        grid[0, 0].set_ylabel("value")
        grid[1, 0].set_ylabel("value")
        lines, names = grid[0, 0].get_legend_handles_labels()
        figure.legend(lines, names, loc="outside lower center", ncols=4, frameon=False)
        figure.savefig(path, dpi=140)


def _panel(axes: Any, steps: int, moment: Moment) -> None:
    at, taken = np.arange(3), int(moment.upper.argmax())
    axes.bar(at, moment.unknown, 0.45, moment.mean, color=UNKNOWN, label="prior term")
    axes.bar(at, moment.noisy, 0.45, moment.mean + moment.unknown, color=NOISY, label="noise term")
    axes.plot(at, moment.mean, "o", color=INK, label="mean")
    axes.hlines(PAYS, at - 0.32, at + 0.32, color=INK, linestyles="dotted", label="true value")
    said = "chosen next" if np.ptp(moment.upper) > 0 else "tie: any action"
    where = (taken, moment.upper[taken]) if np.ptp(moment.upper) > 0 else (1, moment.upper[1])
    axes.annotate(said, where, (0, 4), textcoords="offset points", ha="center", weight="bold")
    pulled = [f"{name}\n{count} trial{'s' * (count != 1)}" for name, count in zip(NAMES, moment.pulls, strict=True)]
    axes.set_xticks(at, pulled)
    axes.set(title=f"after {steps} steps", ylim=(-0.04, 1.5), xlim=(-0.6, 2.6))


if __name__ == "__main__":
    draw(moments(), sys.argv[1])
