"""The door to TensorBoard, by tensorboardX."""

from pathlib import Path
from typing import Any

from ucls.agent.agent import Agent
from ucls.callbacks.periodic import Log
from ucls.errors import UserError


class TensorBoard(Log):
    """Write the metrics every so many steps for TensorBoard, which shows them: `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: str | Path, every: int = 1000) -> None:
        super().__init__(every)
        self.folder = Path(folder)
        self._writer: Any = None

    def begin(self, agent: Agent) -> None:
        """Begin a file in the folder; what another one has of later steps counts no more."""
        super().begin(agent)
        try:
            from tensorboardX import SummaryWriter  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise UserError("TensorBoard needs tensorboardX: pip install 'ucls[tensorboard]'") from None
        try:
            self._writer = SummaryWriter(str(self.folder), purge_step=agent.steps + 1 if agent.steps else None)
        except OSError as error:
            raise UserError(f"{self.folder} cannot be written: {error.strerror}") from None

    def write(self, numbers: dict[str, tuple[float, int]], steps: int) -> None:
        """Write a point for each."""
        for name, (value, step) in numbers.items():
            self._writer.add_scalar(name, value, step)

    def end(self, agent: Agent) -> None:
        """Write what came since, and close the file."""
        try:
            super().end(agent)
        finally:
            self._writer.close()
            self._writer = None
