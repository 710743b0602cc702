"""Log metrics for TensorBoard, with tensorboardX."""

from pathlib import Path
from typing import Any

from ucls.agent.agent import Agent
from ucls.callbacks.periodic import Log
from ucls.errors import UserError


class TensorBoard(Log):
    """Write the metrics every `every` steps for TensorBoard; view them with `tensorboard --logdir FOLDER`."""

    def __init__(self, folder: str | Path, every: int = 1000) -> None:
        super().__init__(every)
        self.folder = Path(folder)
        self._writer: Any = None

    def begin(self, agent: Agent) -> None:
        """Open a new event file, which supersedes later steps of earlier files."""
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
        """Write one point per metric."""
        for name, (value, step) in numbers.items():
            self._writer.add_scalar(name, value, step)

    def end(self, agent: Agent) -> None:
        """Write the last metrics and close the file."""
        try:
            super().end(agent)
        finally:
            self._writer.close()
            self._writer = None
