"""The steps of a learner and the loop of a run, built around the functions of algorithm, features and environment.

They are compiled, unless the algorithm says `COMPILED = False`; environments and features always are.

Little is imported here on purpose: the saved machine code depends on what this module imports.
"""

import functools
from typing import Annotated, Any, NamedTuple

import numpy as np

from ucls.core.history import TERMINATED, TRUNCATED
from ucls.core.learned_features import functions_of
from ucls.kernels import active as la
from ucls.kernels.compilation.jit import engine_of, woven
from ucls.kernels.ranges import ACTION

DIVERGED = 1e9  # a run has diverged if a value exceeds this many times its largest reward


class Pending(NamedTuple):
    """The data that a learner carries from one step to the next: the features of its state, the action it chose there,
    and the largest absolute reward so far. `xs_next` is where the next state's features are written."""

    xs: la.Active
    xs_next: la.Active
    a: Annotated[Any, ACTION]
    largest_reward: Any


class Kernels(NamedTuple):
    """The step functions of a learner, and queries in many states at once, for its algorithm and features."""

    begin: Any
    advance: Any
    intervals: Any
    survey: Any
    choices: Any
    split: Any


def never_full(state):
    """The default of `full`, for algorithms whose data do not grow."""
    return False


def never_told(state, x):
    """The default of `prior_fraction`, for algorithms that do not provide it."""
    return np.nan


@functools.cache
def kernels(algorithm: Any, features: Any) -> Kernels:
    """Build the steps of a learner around the functions of its algorithm and features, by the algorithm's engine."""
    build = engine_of(algorithm)
    algorithm = functions_of(algorithm)
    start, act, update, value = algorithm.start, algorithm.act, algorithm.update, algorithm.value
    encode, lookup = features.encode, features.lookup
    updates_first = getattr(algorithm, "UPDATES_FIRST", False)
    own_interval = getattr(algorithm, "interval", None)
    upper = getattr(algorithm, "upper", None)
    full = getattr(algorithm, "full", None) or build(never_full)
    radius_terms = getattr(algorithm, "radius_terms", None)
    prior_fraction = getattr(algorithm, "prior_fraction", None) or build(never_told)

    @build
    def begin(hyper, coder, state, pending, rng, s):
        """Begin an episode in state s: choose its first action."""
        start(state, hyper, rng)
        encode(coder, s, pending.xs)
        pending.a[0] = act(state, hyper, pending.xs, rng)

    @build
    def advance(hyper, coder, state, pending, rng, r, gamma, s_next, terminated):
        """Observe what the pending action led to, choose the next action with what was known before, then learn; or
        learn first if the algorithm says `UPDATES_FIRST`.

        The state after termination is not encoded, and no action is chosen in it. Returns whether the values are
        still within reason, and whether the learner must grow before the next step.
        """
        xs, xs_next, a = pending.xs, pending.xs_next, pending.a[0]
        if terminated:
            update(state, hyper, xs, a, r, 0.0, xs, a, rng)
        else:
            encode(coder, s_next, xs_next)
            if updates_first:
                update(state, hyper, xs, a, r, gamma, xs_next, a, rng)
                pending.a[0] = act(state, hyper, xs_next, rng)
            else:
                pending.a[0] = act(state, hyper, xs_next, rng)
                update(state, hyper, xs, a, r, gamma, xs_next, pending.a[0], rng)
        pending.largest_reward[0] = max(pending.largest_reward[0], abs(r))
        healthy = abs(value(state, hyper, la.of_action(xs, a))) <= DIVERGED * pending.largest_reward[0]
        if not terminated:
            la.copy(xs_next, xs)
        return healthy, full(state)

    if own_interval is None:

        @build
        def intervals(hyper, coder, state, points, xs, rng, mean, radius):
            for i in range(len(points)):
                lookup(coder, points[i], xs)
                for a in range(mean.shape[1]):
                    mean[i, a] = value(state, hyper, la.of_action(xs, a))
    else:

        @build
        def intervals(hyper, coder, state, points, xs, rng, mean, radius):
            for i in range(len(points)):
                lookup(coder, points[i], xs)
                for a in range(mean.shape[1]):
                    mean[i, a], radius[i, a] = own_interval(state, hyper, la.of_action(xs, a), rng)

    @build
    def survey(hyper, coder, state, points, xs, mean, top):
        for i in range(len(points)):
            lookup(coder, points[i], xs)
            for a in range(mean.shape[1]):
                x = la.of_action(xs, a)
                mean[i, a], top[i, a] = value(state, hyper, x), upper(state, hyper, x)  # pyright: ignore[reportOptionalCall]

    @build
    def choices(hyper, coder, state, points, xs, rng, actions):
        for i in range(len(points)):
            lookup(coder, points[i], xs)
            actions[i] = act(state, hyper, xs, rng)

    @build
    def split(hyper, coder, state, points, xs, more, noisy, share):
        for i in range(len(points)):
            lookup(coder, points[i], xs)
            for a in range(more.shape[1]):
                x = la.of_action(xs, a)
                more[i, a], noisy[i, a] = radius_terms(state, hyper, x)  # pyright: ignore[reportOptionalCall]
                share[i, a] = prior_fraction(state, x)

    return Kernels(begin, advance, intervals, survey, choices, split)


@functools.cache
def compiled(environment: Any, algorithm: Any, features: Any) -> Any:
    """Build the loop around the functions of an environment and a learner, by the algorithm's engine."""
    build = engine_of(algorithm)
    steps = kernels(algorithm, features)
    begin, advance = woven(steps.begin), woven(steps.advance)  # a first start takes a quarter less
    reset, step = environment.reset, environment.step

    @build
    def loop(env, s, clock, world_rng, hyper, coder, state, pending, rng, rewards, ends):
        """Take a step for each place in `rewards`, or up to the step that leaves values unsound or the learner full.

        Returns how many were taken, whether the values are sound, and whether the learner must grow before the next.
        `clock[0]` counts the steps of the episode; at 0 a new one begins.
        """
        for t in range(len(rewards)):
            if clock[0] == 0:
                reset(env, s, world_rng)
                begin(hyper, coder, state, pending, rng, s)
            r, gamma, terminated = step(env, s, pending.a[0], world_rng)
            clock[0] += 1
            healthy, full = advance(hyper, coder, state, pending, rng, r, gamma, s, terminated)
            rewards[t] = r
            if terminated:
                ends[t] = TERMINATED
                clock[0] = 0
            elif clock[0] == env.time_limit:
                ends[t] = TRUNCATED
                clock[0] = 0
            if full or not healthy:
                return t + 1, healthy, full
        return len(rewards), True, False

    return loop
