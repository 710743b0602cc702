"""Keep the agent while it learns: as it is now and then, or as it was at its best."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

from ucls import checkpoint
from ucls.agent.agent import Agent
from ucls.agent.evaluate import Evaluation, evaluate_policy
from ucls.callbacks.periodic import Periodic
from ucls.errors import Notice, UserError
from ucls.gym.copies import copy_of
from ucls.gym.wrapping import freeze_normalizers


class Checkpoint(Periodic):
    """Save the agent every so many steps, and when the learning ends, also by an error or Ctrl-C.

    Each takes the place of the one before, unless `path` has `{steps}` in it: then every one is kept.
    """

    def __init__(self, path: str | Path, every: int = 10_000) -> None:
        super().__init__(every)
        self.path = checkpoint.named(path)
        self._kept = -1

    def begin(self, agent: Agent) -> None:
        """See that there is a place for it."""
        super().begin(agent)
        refuse_unwritable(self.path)
        self._kept = agent.steps

    def act(self, agent: Agent) -> None:
        """Save it."""
        if save(agent, self.path):
            self._kept = agent.steps

    def end(self, agent: Agent) -> None:
        """Save what came since."""
        if agent.steps != self._kept and not agent.diverged:
            self.act(agent)


class Evaluate(Periodic):
    """Evaluate the agent every so many steps, and keep the best one.

    `env` is where; by default a copy of the agent's environment. The episodes are the same every time, by `seed`.
    `evaluations` has all of them, each with its step, and `best` the best.
    """

    def __init__(
        self,
        env: Any = None,
        every: int = 1000,
        episodes: int = 10,
        keep: str | Path | None = "best.safetensors",
        *,
        deterministic: bool = True,
        seed: int = 0,
        max_steps: int | None = None,
    ) -> None:
        super().__init__(every)
        self.env, self.episodes, self.keep = env, episodes, None if keep is None else checkpoint.named(keep)
        self._how: dict[str, Any] = {"deterministic": deterministic, "seed": seed, "max_steps": max_steps}
        self._place: Any = None
        self.evaluations: list[tuple[int, Evaluation]] = []
        self.best: Evaluation | None = None

    def begin(self, agent: Agent) -> None:
        """Make the copy, and see that there is a place for the best."""
        super().begin(agent)
        if self.keep is not None:
            refuse_unwritable(self.keep)
        self._place = copy_of(agent.env) if self.env is None else self.env

    def act(self, agent: Agent) -> None:
        """Evaluate it, and save it if it never was better."""
        if self.env is None:
            freeze_normalizers(self._place, agent.env)
        evaluation: Evaluation = evaluate_policy(agent, self._place, self.episodes, **self._how)
        self.evaluations.append((agent.steps, evaluation))
        agent.note(evaluation.metrics)
        if self.best is None or evaluation.mean > self.best.mean:
            self.best = evaluation
            if self.keep is not None:
                save(agent, self.keep)

    def end(self, agent: Agent) -> None:
        """Close the copy."""
        if self.env is None and self._place is not None:
            self._place.close()
        self._place = None


def save(agent: Agent, path: Path) -> bool:
    """Save an agent; where there is no room the learning goes on, and says so."""
    try:
        agent.save(str(path).replace("{steps}", str(agent.steps)))
        return True
    except (OSError, UserError) as error:
        why = getattr(error, "strerror", None) or error
        warnings.warn(f"the agent was not saved at step {agent.steps}: {why}; it goes on", Notice, stacklevel=3)
        return False


def refuse_unwritable(path: Path) -> None:
    """Refuse, before the work, a file that cannot be written."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder: name a file, for example {path / 'agent.safetensors'}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="."):
            pass
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None
