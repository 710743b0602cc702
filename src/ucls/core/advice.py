"""Warnings about the cost of a run and about excessive optimism, each with advice.

Cost: an algorithm that stores matrices over its features reads and changes the visited part in every step. With more
than `BUDGET` features, `advise_on_cost` reports the time per step.

Optimism: without `return_max` the agent estimates it, as if the largest reward could be collected in every step. Where
that is far more than the environment ever yields, the agent explores for a very long time. `advise_on_radius` says so
if the radius of the action that was chosen last is more than `WIDE` times the largest return so far.
"""

import warnings
from typing import Any

import numpy as np

from ucls.core.history import History
from ucls.core.learned_features import functions_of
from ucls.core.learner import Learner
from ucls.errors import UclsWarning
from ucls.features import BUDGET
from ucls.kernels import active as la

SECONDS_PER_NUMBER = 2e-10  # of the matrices of ucls-exact, beyond the processor's cache (`python -m bench one_hot`)
USUAL = 50_000  # steps of `ucls train`
WIDE = 10.0
FIRST_LOOK = 1000  # steps before which every radius may be wide


def advise_on_cost(learner: Learner, stacklevel: int) -> None:
    """Report the time per step if matrices over many features are stored, and suggest alternatives."""
    size = learner.coder.size
    numbers = sum(part.size for part in _arrays(learner.state))
    if size <= BUDGET or numbers < size**2:
        return
    seconds, plan = numbers * SECONDS_PER_NUMBER, learner.plan
    memory = numbers * np.dtype(plan.dtype).itemsize / 1e6
    cost = f"a step takes {1e3 * seconds:.1f} ms or more ({USUAL:,} steps {USUAL * seconds / 60:.1f} minutes)"
    text = (
        f"{plan.agent} with {size:,} features ({plan.features}): once all are visited, {cost}, and its matrices "
        f"{memory:,.0f} MB; use fewer features, or the algorithm ucls-l or sarsa, whose steps take 0.01 ms with any "
        "number of features"
    )
    warnings.warn(text, UclsWarning, stacklevel=stacklevel)


def _arrays(parts: Any) -> list[np.ndarray]:
    """The arrays of a NamedTuple, including nested ones; none for any other object."""
    if not hasattr(parts, "_fields"):
        return []
    own = [part for part in parts if isinstance(part, np.ndarray)]
    return own + [array for part in parts for array in _arrays(part)]


def advise_on_radius(run: Any) -> None:
    """Warn once if `return_max` was not given and its estimate is far above all returns so far.

    Nothing is compiled, and no random number drawn, unless the estimate is that high.
    """
    me = run.learner
    estimate = getattr(me.algorithm, "estimated_return_max", lambda state, hyper: None)(me.state, me.hyper)
    if estimate is None or run.diverged or run.steps < FIRST_LOOK:
        return
    happened, steps = run.history, run.steps
    if len(happened.rewards) < steps:  # of a run from a file that has no history
        return
    largest = largest_return(happened)
    if largest == 0.0 or estimate <= WIDE * largest:
        return
    interval, xs, rng = functions_of(me.algorithm).interval, me.pending.xs, np.random.default_rng(0)
    radius = max(interval(me.state, me.hyper, la.of_action(xs, a), rng)[1] for a in range(len(xs.index)))
    if radius > WIDE * largest:
        me.warn_once(
            "radius",
            f"the radius after {steps:,} steps is {radius:.3g}, more than {WIDE:.0f} times the largest return so far, "
            f"{largest:.3g} in absolute value: return_max is estimated as {estimate:.3g}, which may be far too high; "
            "give the maximum possible return, return_max=... (or --set return_max=...)",
        )


def largest_return(happened: History) -> float:
    """The largest absolute return of finished and unfinished episodes; 0 if every reward was 0."""
    finished = np.flatnonzero(happened.ends)
    unfinished = happened.rewards[finished[-1] + 1 if len(finished) else 0 :].sum()
    return float(np.abs([*happened.episode_returns, unfinished]).max())
