"""Search settings with Optuna: each candidate is chosen in the light of those before it. The one door to Optuna.

The sampler has a fixed seed, so a search that was stopped asks for the same candidates again and finds them in the
store.
"""

from collections.abc import Callable
from typing import Any

from ucls.core.measures import HIGHER_IS_BETTER
from ucls.errors import UserError
from ucls.study.sweep import Range, Sweep


def search(sweep: Sweep, score: Callable[[dict[str, Any]], float | None]) -> list[dict[str, Any]]:
    """Try `sweep.size` candidates, where `score` runs one and gives its score (None: it had no sound run)."""
    try:
        import optuna
    except ImportError:
        raise UserError("this sampler needs Optuna: pip install 'ucls[optuna]', or say sampler = \"random\"") from None
    if not sweep.size:
        raise UserError(f"the sweep of {sweep.label} needs a size: how many candidates Optuna may try")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    direction = "maximize" if HIGHER_IS_BETTER[sweep.measure] else "minimize"
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
