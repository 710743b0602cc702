"""Tune settings with Optuna, which chooses each candidate from the previous results. The only import of Optuna.

The sampler has a fixed seed, so an interrupted search repeats the same candidates and finds them in the store.
"""

from collections.abc import Callable
from typing import Any

from ucls.core.metrics import HIGHER_IS_BETTER
from ucls.errors import UserError
from ucls.study.declaration.sweep import Range, Sweep


def search(sweep: Sweep, score: Callable[[dict[str, Any]], float | None]) -> list[dict[str, Any]]:
    """Try `sweep.size` candidates; `score` runs one and returns its score, None if every run diverged or failed."""
    try:
        import optuna
    except ImportError:
        raise UserError("this sampler needs Optuna: pip install 'ucls[optuna]', or set sampler = \"random\"") from None
    if not sweep.size:
        raise UserError(f"the sweep of {sweep.label} needs `size`, the number of candidates that Optuna tries")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    direction = "maximize" if HIGHER_IS_BETTER[sweep.metric] else "minimize"
    study = optuna.create_study(direction=direction, sampler=optuna.samplers.TPESampler(seed=0))
    tried = []
    for _ in range(sweep.size):
        trial = study.ask()
        settings = {name: _ask(trial, name, values) for name, values in sweep.space.items()}
        mean = score(settings)
        if mean is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, mean)
        if settings not in tried:
            tried.append(settings)
    return tried


def _ask(trial: Any, name: str, values: Any) -> Any:
    if not isinstance(values, Range):
        return trial.suggest_categorical(name, list(values))
    if values.whole:
        return trial.suggest_int(name, int(values.low), int(values.high), log=values.log)
    return float(f"{trial.suggest_float(name, values.low, values.high, log=values.log):.3g}")
