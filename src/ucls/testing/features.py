"""The requirements of features, on states between some bounds."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from ucls._util.modules import imported, is_path
from ucls.algorithms import ALGORITHMS
from ucls.core.run import Run, make_run
from ucls.core.saving.checkpoint import flatten
from ucls.features import FEATURES, Features, features_module, is_discrete
from ucls.kernels.active import Active, no_features
from ucls.settings import resolve
from ucls.testing.requirement import SMALL, Requirement, Verdict, examine, insist, insist_on_signatures

CONTINUOUS, DISCRETE = ((-1.0, 0.0), (1.0, 4.0)), ((0.0, 2.0), (3.0, 5.0))  # bounds of states
ACTIONS, STATES = 3, 40
COMPILED = ("encode", "lookup")


def is_features(name: str) -> bool:
    """Return whether a name is that of features, or of a module that looks like features."""
    if name in FEATURES or name in ALGORITHMS or not is_path(name):
        return name in FEATURES
    return hasattr(imported("algorithm", name, name, ALGORITHMS), "Coder")


def check_features(features: str | ModuleType) -> None:
    """Raise a `UserError` for the first requirement that features, by their name, import path or module, violate."""
    for verdict in examine_features(features):
        if verdict.broken is not None:
            raise verdict.broken


def examine_features(features: str | ModuleType) -> Iterator[Verdict]:
    """Check every requirement of features."""
    yield from examine(PROMISES, features_module(features))


class _Subject:
    """Features with default settings, and states for them."""

    def __init__(self, module: Any) -> None:
        self.bounds = low, high = DISCRETE if is_discrete(module) else CONTINUOUS
        self.module, self.settings = module, resolve(module.Settings, {})
        self.coder = module.make(self.settings, *self.bounds, ACTIONS)
        rng = np.random.default_rng(0)
        states = np.array([low, high, *rng.uniform(low, high, (STATES, len(low)))])
        self.states = np.floor(states) if is_discrete(module) else states

    def seen(self, s: np.ndarray, look: bool = False) -> Active:
        """The features of a state, by `encode` or by `lookup`."""
        xs = no_features(ACTIONS, self.coder.n_active)
        (self.module.lookup if look else self.module.encode)(self.coder, s, xs)
        return xs

    def arrays(self) -> dict[str, np.ndarray]:
        """Copies of the arrays of the coder."""
        return flatten("coder", self.coder)


def takes_what_it_is_given(module: ModuleType) -> None:
    insist_on_signatures(module, vars(Features), COMPILED, "put @exact (from ucls.kernels) above it")


def allocates_what_it_says(module: Any) -> None:
    subject = _Subject(module)
    size, n_active, numbers = module.allocation(subject.settings, *subject.bounds, ACTIONS)
    coder, held = subject.coder, sum(array.size for array in subject.arrays().values())
    made = f"size {coder.size} and n_active {coder.n_active}"
    insist((size, n_active) == (coder.size, coder.n_active), f"allocation says {size} and {n_active}, make has {made}")
    insist(
        held <= numbers + SMALL,
        f"the coder has {held} numbers, more than the {numbers} of allocation: count every array",
    )


def interleaves_actions(module: Any) -> None:
    subject = _Subject(module)
    for s in subject.states:
        xs = subject.seen(s)
        found = f"state {s.tolist()}: indices {xs.index.tolist()}"
        insist(((xs.index >= 0) & (xs.index < subject.coder.size)).all(), f"{found}: give 0 to size - 1")
        own = (xs.index % ACTIONS == np.arange(ACTIONS)[:, None]).all()
        same = (xs.index // ACTIONS == xs.index[0] // ACTIONS).all() and (xs.value == xs.value[0]).all()
        insist(own and same, f"{found}: give state feature * number of actions + action, with equal values")
        insist(np.isfinite(xs.value).all(), f"{found}: values must be finite")


def numbers_features_by_first_visit(module: Any) -> None:
    subject, visited = _Subject(module), set[int]()
    for s in subject.states:
        visited |= {*(subject.seen(s).index[0] // ACTIONS).tolist()}
        insist(max(visited) < len(visited), "features visited so far are not 0, 1, 2, ...: number them by first visit")


def looks_without_changing(module: Any) -> None:
    subject = _Subject(module)
    for s in subject.states:
        before = subject.arrays()
        subject.seen(s, look=True)
        changed = [name for name, array in subject.arrays().items() if not np.array_equal(array, before[name])]
        insist(not changed, f"lookup changes {', '.join(changed)}: only encode may")
        encoded, looked = subject.seen(s), subject.seen(s, look=True)
        same = all(np.array_equal(*pair) for pair in zip(encoded, looked, strict=True))
        insist(same, f"state {s.tolist()}: lookup gives {looked}, where encode gave {encoded}")


def continues_in_a_run(module: ModuleType) -> None:
    env = "ucls/DeepSea-v0" if is_discrete(module) else "ucls/PuddleWorld-v0"
    run = make_run(env, "sarsa", features=module.__name__, settings={"size": 4} if is_discrete(module) else {})
    run.advance(60)
    again = Run.revive(run.about(), run.checkpoint(), None, module)
    same = np.array_equal(run.advance(60).rewards, again.advance(60).rewards)
    insist(same, "a restored run continues differently: keep all that the table knows in arrays of Coder")


PROMISES = (
    Requirement("its functions have the right signatures, and kernels are compiled", takes_what_it_is_given),
    Requirement("its coder fits the declared allocation", allocates_what_it_says),
    Requirement("features of the actions are interleaved", interleaves_actions),
    Requirement("state features are numbered by first visit", numbers_features_by_first_visit),
    Requirement("lookup changes nothing, and finds what was encoded", looks_without_changing),
    Requirement("a restored run continues as before", continues_in_a_run),
)
