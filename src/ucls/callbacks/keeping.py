"""Save the agent during training: periodically, or the best one so far."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

from ucls.agent.agent import Agent
from ucls.agent.evaluate import Evaluation, evaluate_policy
from ucls.callbacks.periodic import Periodic
from ucls.core.saving import checkpoint
from ucls.errors import UclsWarning, UserError
from ucls.gym.copies import copy_of
from ucls.gym.wrapping import freeze_normalizers


class Checkpoint(Periodic):
    """Save the agent every `every` steps and when training ends, also after an error or Ctrl-C.

    Each checkpoint replaces the previous one, unless `path` contains `{steps}`.
    """

    def __init__(self, path: str | Path, every: int = 10_000) -> None:
        super().__init__(every)
        self.path = checkpoint.named(path)
        self._kept = -1

    def begin(self, agent: Agent) -> None:
        """Check that the file can be written."""
        super().begin(agent)
        refuse_unwritable(self.path)
        self._kept = agent.steps

    def act(self, agent: Agent) -> None:
        """Save the agent."""
        if save(agent, self.path):
            self._kept = agent.steps

    def end(self, agent: Agent) -> None:
        """Save the final agent."""
        if agent.steps != self._kept and not agent.diverged:
            self.act(agent)


class Evaluate(Periodic):
    """Evaluate the agent every `every` steps for `n_eval_episodes` episodes and save the best one to `save_path`.

    The evaluation runs in `env`, by default a copy of the agent's environment, with the same `seed` every time.
    `evaluations` lists all results with their steps, and `best` is the best one.
    """

    def __init__(
        self,
        env: Any = None,
        every: int = 1000,
        n_eval_episodes: int = 10,
        save_path: str | Path | None = "best.safetensors",
        *,
        deterministic: bool = True,
        seed: int = 0,
        max_steps: int | None = None,
    ) -> None:
        super().__init__(every)
        self.env, self.n_eval_episodes = env, n_eval_episodes
        self.save_path = None if save_path is None else checkpoint.named(save_path)
        self._how: dict[str, Any] = {"deterministic": deterministic, "seed": seed, "max_steps": max_steps}
        self._place: Any = None
        self.evaluations: list[tuple[int, Evaluation]] = []
        self.best: Evaluation | None = None

    def begin(self, agent: Agent) -> None:
        """Copy the environment and check that the file can be written."""
        super().begin(agent)
        if self.save_path is not None:
            refuse_unwritable(self.save_path)
        self._place = copy_of(agent.env) if self.env is None else self.env

    def act(self, agent: Agent) -> None:
        """Evaluate the agent, and save it if it is the best so far."""
        if self.env is None:
            freeze_normalizers(self._place, agent.env)
        evaluation: Evaluation = evaluate_policy(agent, self._place, self.n_eval_episodes, **self._how)
        self.evaluations.append((agent.steps, evaluation))
        agent.log_metrics(evaluation.metrics)
        if self.best is None or evaluation.mean > self.best.mean:
            self.best = evaluation
            if self.save_path is not None:
                save(agent, self.save_path)

    def end(self, agent: Agent) -> None:
        """Close the copied environment."""
        if self.env is None and self._place is not None:
            self._place.close()
        self._place = None


def save(agent: Agent, path: Path) -> bool:
    """Save an agent; if that fails, warn and continue training."""
    try:
        agent.save(str(path).replace("{steps}", str(agent.steps)))
        return True
    except (OSError, UserError) as error:
        why = getattr(error, "strerror", None) or error
        warnings.warn(
            f"the agent was not saved at step {agent.steps}: {why}; training continues", UclsWarning, stacklevel=3
        )
        return False


def refuse_unwritable(path: Path) -> None:
    """Refuse, before training, a file that cannot be written."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder: give a file, for example {path / 'agent.safetensors'}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix="."):
            pass
    except (OSError, ValueError) as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} cannot be written: {getattr(error, 'strerror', None) or error}") from None
