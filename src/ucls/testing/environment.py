"""The requirements of an agent on a Gymnasium environment."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ucls.gym import observations, spaces
from ucls.gym.bounds import given_bounds, own_bounds
from ucls.gym.layout import layout_of
from ucls.gym.registry import as_env
from ucls.testing.requirement import Requirement, Verdict, examine, insist

STEPS = 300


class Subject:
    """An environment to check, with the bounds that an agent in it would get."""

    def __init__(self, env: Any, low: Any = None, high: Any = None) -> None:
        self.env: Any = as_env(env)
        self._low, self._high = low, high

    def observed(self) -> observations.Observed:
        """Return the state that an agent would read from an observation."""
        layout = layout_of(spaces.describe(self.env.observation_space))
        return observations.Observed(layout, *given_bounds(layout, self._low, self._high))

    def walk(self, seed: int | None = 0, steps: int = STEPS) -> Iterator[np.ndarray | observations.Step]:
        """Act at random, always in the same way; return the state after each reset, and every step, as an agent reads
        them."""
        kind, choice, actions = self.observed(), np.random.default_rng(0), self.env.action_space
        yield observations.read_reset(self.env.reset(seed=seed), kind)
        for _ in range(steps):
            a = int(actions.start + choice.integers(actions.n))
            step = observations.read_step(self.env.step(a), kind)
            yield step
            if step.terminated or step.truncated:
                yield observations.read_reset(self.env.reset(), kind)


def check_environment(env: Any, low: Any = None, high: Any = None) -> None:
    """Raise a `UserError` for the first requirement that an environment, or the one of an id, violates.

    `low` and `high` bound the observation where its space does not.
    """
    for verdict in examine_environment(env, low, high):
        if verdict.broken is not None:
            raise verdict.broken


def examine_environment(env: Any, low: Any = None, high: Any = None) -> Iterator[Verdict]:
    """Check every requirement of an agent on an environment."""
    yield from examine(PROMISES, Subject(env, low, high))


def has_discrete_actions(subject: Subject) -> None:
    spaces.with_discrete_actions(subject.env)


def has_readable_observations(subject: Subject) -> None:
    subject.observed()


def gives_what_can_be_read(subject: Subject) -> None:
    for _ in subject.walk():
        pass


def stays_in_its_space(subject: Subject) -> None:
    space = subject.env.observation_space
    low, high = own_bounds(layout_of(spaces.describe(space)))
    for seen in subject.walk():
        s = seen.s if isinstance(seen, observations.Step) else seen
        inside = not ((s < low) | (s > high)).any()
        insist(inside, f"the observation {s.tolist()} lies outside {space}: widen the space, or clip the observation")


def repeats_under_a_seed(subject: Subject) -> None:
    first, second = (list(subject.walk(seed=7, steps=STEPS // 3)) for _ in range(2))
    same = len(first) == len(second) and all(_same(one, other) for one, other in zip(first, second, strict=False))
    insist(same, "reset(seed=7) and the same actions give another episode: draw from self.np_random only")


def begins_again(subject: Subject) -> None:
    list(subject.walk(steps=STEPS // 3))
    for _ in range(2):  # in the middle of an episode too: an agent that is stopped there begins another
        list(subject.walk(seed=None, steps=3))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, observations.Step) != isinstance(other, observations.Step):
        return False
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


PROMISES = (
    Requirement("its actions are Discrete", has_discrete_actions),
    Requirement("its observations are numbers, in spaces that can be flattened", has_readable_observations),
    Requirement("reset and step give observations, finite rewards, flags and an info", gives_what_can_be_read),
    Requirement("observations lie in their space", stays_in_its_space),
    Requirement("reset with a seed repeats", repeats_under_a_seed),
    Requirement("an episode begins again, after its end and before", begins_again),
)
