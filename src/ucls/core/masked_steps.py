"""The steps of a learner where some actions are invalid, built like those of `steps`.

Algorithms need not know of masks: `kernels.masks` says what they get to see. Learners without masks never come here.
"""

import functools
from typing import Any, NamedTuple

from ucls.core.learned_features import functions_of
from ucls.core.steps import DIVERGED, never_full
from ucls.kernels import active as la
from ucls.kernels import masks as mk
from ucls.kernels.compilation.jit import engine_of


class MaskedKernels(NamedTuple):
    """The steps of a learner with a mask for each state, choices in many states, and the masks met there."""

    begin: Any
    advance: Any
    choices: Any
    recall: Any


@functools.cache
def masked_kernels(algorithm: Any, features: Any) -> MaskedKernels:
    """Build the steps as `steps.kernels` does."""
    build = engine_of(algorithm)
    algorithm = functions_of(algorithm)
    start, act, update, value = algorithm.start, algorithm.act, algorithm.update, algorithm.value
    encode, lookup = features.encode, features.lookup
    full = getattr(algorithm, "full", None) or build(never_full)
    updates_first = getattr(algorithm, "UPDATES_FIRST", False)

    @build
    def choose(hyper, state, xs, mask, rng):
        return mk.action_of_row(mask, act(state, hyper, mk.valid_rows(xs, mask), rng))

    @build
    def begin(hyper, coder, state, pending, rng, met, s, mask):
        """Begin an episode in state s: choose its first action."""
        start(state, hyper, rng)
        encode(coder, s, pending.xs)
        mk.note(met, pending.xs, mask)
        pending.a[0] = choose(hyper, state, pending.xs, mask, rng)
        mk.repeat_valid(pending.xs, mask)

    @build
    def advance(hyper, coder, state, pending, rng, met, r, gamma, s_next, terminated, mask):
        """Learn from a step as `advance` of `steps.kernels` does; `mask` is that of the next state."""
        xs, xs_next, a = pending.xs, pending.xs_next, pending.a[0]
        if terminated:
            update(state, hyper, xs, a, r, 0.0, xs, a, rng)
        else:
            encode(coder, s_next, xs_next)
            mk.note(met, xs_next, mask)
            if updates_first:
                mk.repeat_valid(xs_next, mask)
                update(state, hyper, xs, a, r, gamma, xs_next, a, rng)
            pending.a[0] = choose(hyper, state, xs_next, mask, rng)
            if pending.a[0] < 0:
                return True, False
            if not updates_first:
                mk.repeat_valid(xs_next, mask)
                update(state, hyper, xs, a, r, gamma, xs_next, pending.a[0], rng)
        pending.largest_reward[0] = max(pending.largest_reward[0], abs(r))
        healthy = abs(value(state, hyper, la.of_action(xs, a))) <= DIVERGED * pending.largest_reward[0]
        if not terminated:
            la.copy(xs_next, xs)
        return healthy, full(state)

    @build
    def choices(hyper, coder, state, points, xs, rng, masks, actions):
        for i in range(len(points)):
            lookup(coder, points[i], xs)
            actions[i] = choose(hyper, state, xs, masks[i], rng)

    @build
    def recall(coder, points, xs, met, masks):
        for i in range(len(points)):
            lookup(coder, points[i], xs)
            mk.recall(met, xs, masks[i])

    return MaskedKernels(begin, advance, choices, recall)
