"""The bounds of an observation's components: given by the user, declared by the space, or estimated.

Features need bounds. If a component has none (CartPole's velocities), they are estimated before the run: a random
policy takes 1,000 steps, and the range of its observations, extended by an eighth on either side, becomes the bounds.
They need not be exact: tiles continue beyond them, and Fourier features clip a state to them. The random policy repeats
each action for up to 16 steps, because independent random actions would hardly move.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ucls._util.randomness import generator, scout_seed
from ucls.core.config import FAR, brief, whole
from ucls.errors import UclsWarning, UserError, about
from ucls.gym import observations
from ucls.gym.layout import Layout, leaves

STEPS = 1000  # of the random policy
EPISODE = 200  # steps after which it resets at the latest, to see more initial states
HOLD = 5  # an action is repeated for 1, 2, 4, 8 or 16 steps
MARGIN = 1 / 8  # of the observed range
UNKNOWN = (-3.0, 3.0)  # bounds of components without any, where nothing but a map reads them
SHOWN = 6  # bounds that a warning lists
LAST = [np.finfo(np.float16).max, *(float(np.iinfo(t).max) for t in (np.int32, np.uint32, np.int64, np.uint64))]
EXTREMES = [*LAST, *(-x for x in LAST), *(float(np.iinfo(t).min) for t in (np.int32, np.int64))]  # they bound nothing


class Bounds(NamedTuple):
    """Bounds of every component; NaN if there is none."""

    low: np.ndarray
    high: np.ndarray

    @property
    def missing(self) -> np.ndarray:
        """Which components lack a bound."""
        return np.isnan(self.low) | np.isnan(self.high)


def bounds_of(
    env: Any, layout: Layout, low: Any, high: Any, seed: int, needed: bool = True
) -> tuple[list[float], list[float]]:
    """The bounds of the observations of an environment; missing ones are estimated with a random policy.

    If they are not `needed`, missing ones become those of `UNKNOWN`, which only maps show.
    """
    bounds = given_bounds(layout, low, high)
    if not needed:
        bounds = Bounds(*(np.where(bounds.missing, at, bound) for at, bound in zip(UNKNOWN, bounds, strict=True)))
    elif bounds.missing.any():
        known = observations.Observed(layout, *bounds)
        met = _meet(_walk(env, known, whole("seed", seed, 0, 2**128)))
        bounds = _tell(_fill(bounds, met, known.names()), bounds, known.names())
    return bounds.low.tolist(), bounds.high.tolist()


def own_bounds(layout: Layout) -> Bounds:
    """The bounds that the observation space declares."""
    own = leaves(layout)
    return Bounds(np.array([x for leaf in own for x in leaf.low]), np.array([x for leaf in own for x in leaf.high]))


@about("low")
def given_bounds(layout: Layout, low: Any, high: Any) -> Bounds:
    """The bounds that the user gives, or else those of the space.

    None and NaN in `low` or `high` leave a component to its space; an infinite value means that it has no bound.
    """
    fixed = np.array([leaf.whole for leaf in leaves(layout) for _ in leaf.low])
    own = own_bounds(layout)
    asked = Bounds(*(_read(given, len(fixed)) for given in (low, high)))
    found = []
    for mine, theirs in zip(own, asked, strict=True):
        if (fixed & ~np.isnan(theirs) & (theirs != mine)).any():
            raise UserError("low and high are for numbers in a Box: integers have their bounds, give None for them")
        mine = np.where(np.isin(mine, EXTREMES) & ~fixed, np.nan, mine)
        bound = np.where(np.isnan(theirs), mine, theirs)
        found.append(np.where(np.abs(bound) <= FAR, bound, np.nan))
    bounds = Bounds(*found)
    unasked = np.isnan(asked.low) & np.isnan(asked.high)
    if (~unasked & (bounds.low >= bounds.high)).any():
        raise UserError("every number in low must be below its number in high")
    return bounds


def with_room(low: list[float], high: list[float]) -> tuple[list[float], list[float]]:
    """Return the bounds for features that need a range: a component with a single value gets one."""
    return low, [b if a < b else a + max(1.0, abs(a)) for a, b in zip(low, high, strict=True)]


def _read(given: Any, size: int) -> np.ndarray:
    """Bounds given by the user, NaN for missing ones."""
    if given is None:
        return np.full(size, np.nan)
    try:
        bound = np.asarray(given, np.float64).ravel()
    except (ValueError, TypeError, OverflowError):
        raise UserError(f"low and high cannot be {brief(given)}: give {size} numbers each") from None
    if len(bound) != size:
        raise UserError(f"low and high must have {size} numbers each, not {len(bound)}")
    return bound


def _walk(env: Any, known: observations.Observed, seed: int) -> Iterator[np.ndarray]:
    """The states that the random policy visits."""
    choice, actions = generator(scout_seed(seed)), env.action_space
    yield _blame(observations.read_reset, env.reset(seed=int(choice.integers(2**31))), known, 0)
    action, held, begun = 0, 0, 0
    for t in range(1, STEPS + 1):
        if not held:
            action, held = int(actions.start + choice.integers(actions.n)), 2 ** int(choice.integers(HOLD))
        held -= 1
        step = _blame(observations.read_step, env.step(action), known, t)
        yield step.s
        if step.terminated or step.truncated or t - begun == EPISODE:
            yield _blame(observations.read_reset, env.reset(), known, t)
            begun, held = t, 0


def _blame(read: Callable[[Any, observations.Observed], Any], given: Any, known: observations.Observed, t: int) -> Any:
    try:
        return read(given, known)
    except UserError as fault:
        raise UserError(f"the environment is at fault, at step {t} of the search for its bounds: {fault}") from None


def _meet(states: Iterator[np.ndarray]) -> Bounds:
    low = high = next(states)
    for s in states:
        low, high = np.minimum(low, s), np.maximum(high, s)
    return Bounds(low, high)


def _fill(bounds: Bounds, met: Bounds, names: list[str]) -> Bounds:
    """The bounds, with missing ones taken from the visited range plus a margin, rounded."""
    low, high = bounds.low.copy(), bounds.high.copy()
    for i in np.flatnonzero(bounds.missing):
        least, most = float(met.low[i]), float(met.high[i])
        size = max(abs(least), abs(most))
        still = most - least <= max(1e-9 * size, 1e-100)
        margin = max(1.0, size) if still else MARGIN * (most - least)
        digits = 2 - int(np.floor(np.log10(min(most - least + 2 * margin, FAR))))
        a, b = (float(np.clip(round(x, digits), -FAR, FAR)) for x in (least - margin, most + margin))
        low[i] = a if np.isnan(low[i]) else low[i]
        high[i] = b if np.isnan(high[i]) else high[i]
        if low[i] >= high[i]:  # all visited states lie beyond the bound that was given
            low[i], high[i] = (high[i] - (b - a), high[i]) if np.isnan(bounds.low[i]) else (low[i], low[i] + (b - a))
        if not -FAR <= low[i] < high[i] <= FAR:
            raise UserError(f"{names[i]} has no bounds and goes beyond {FAR:g}: wrap the environment to scale it")
    return Bounds(low, high)


def _tell(found: Bounds, before: Bounds, names: list[str]) -> Bounds:
    """Warn which bounds were estimated, and how to change them."""
    which = np.flatnonzero(before.missing)
    told = ", ".join(f"{names[i]} {found.low[i]:g} to {found.high[i]:g}" for i in which[:SHOWN])
    more = f", and {len(which) - SHOWN:,} more" if len(which) > SHOWN else ""
    how = f"give low and high, {len(names)} numbers each, None for what is to stay"
    if len(names) <= SHOWN:
        sides = [["None" if not before.missing[i] else f"{bound[i]:g}" for i in range(len(names))] for bound in found]
        how = f"change them by low=[{', '.join(sides[0])}], high=[{', '.join(sides[1])}]"
    warnings.warn(f"bounds learned from {STEPS:,} random steps: {told}{more}; {how}", UclsWarning, stacklevel=4)
    return found
