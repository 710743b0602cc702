"""Log metrics to Weights & Biases; nothing leaves the machine by default."""

import os
from pathlib import Path
from typing import Any

from ucls.agent.agent import Agent
from ucls.callbacks.periodic import Log
from ucls.errors import UserError, unknown

MODES = ("offline", "online", "shared", "disabled")


class WeightsAndBiases(Log):
    """Write the metrics every `every` steps as a Weights & Biases run in `folder`/wandb.

    Offline by default; upload it later with `wandb sync`. Other keyword arguments go to `wandb.init`.
    """

    def __init__(
        self,
        project: str = "ucls",
        every: int = 1000,
        *,
        mode: str = "offline",
        folder: str | Path = ".",
        **more: Any,
    ) -> None:
        super().__init__(every)
        if mode not in MODES:
            raise unknown("mode", str(mode), MODES)
        self.project, self.mode, self.folder, self._more = project, mode, Path(folder), more
        self._run: Any = None

    def begin(self, agent: Agent) -> None:
        """Begin a run; the runs of several calls of `learn` form one group."""
        super().begin(agent)
        if self.mode in ("offline", "disabled"):  # it would send error reports even then
            os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        try:
            import wandb  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise UserError("WeightsAndBiases needs wandb: pip install 'ucls[wandb]'") from None
        about = agent.about()
        config = {"env": about["env"], "steps": agent.steps, **about["plan"]}
        given = {"project": self.project, "mode": self.mode, "dir": str(self.folder), "config": config, **self._more}
        self._run = wandb.init(settings=wandb.Settings(console="off", silent=True), **given)
        self._more.setdefault("group", self._run.id)

    def write(self, numbers: dict[str, tuple[float, int]], steps: int) -> None:
        """Write one point."""
        self._run.log({name: value for name, (value, _) in numbers.items()}, step=steps)

    def end(self, agent: Agent) -> None:
        """Write the last metrics and finish the run."""
        try:
            super().end(agent)
        finally:
            self._run.finish()
            self._run = None
