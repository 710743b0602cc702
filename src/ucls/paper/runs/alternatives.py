"""Other interpretations of unspecified details: the runs behind a claim, changed, so that it can be judged again.

An `Interpretation` maps a group of runs to the group that it would be. For another hash-table size the baselines are
tuned again, if that search has been done; otherwise they keep their settings. The feature value is changed only for
algorithms without a tuned step size: a tuned one compensates for it, in Sarsa exactly, whose step is divided by |x|^2.

The step size of w is an exception: the pseudocode specifies 1, and 0.1 is that of a later implementation. A claim that
holds by default is reported with that step size too, but not judged by it.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ucls.paper.runs.domains import HAS_READING, ONE_STATE, PUDDLE, RIVER, SPARSE, has_tiles, other_reading
from ucls.paper.runs.groups import Group, tuned, ucls
from ucls.paper.runs.sweeps import DOMAINS_OF, HIGH, SPACES

Change = Callable[[Group], Group]

SMALL_STEP = 0.1  # of w
LITERAL_GMAX = {SPARSE: HIGH, PUDDLE: -10_000.0}  # R_max / (1 - gamma), and R_max times the time limit
PRINTED_TILING = {"tilings": 4, "tiles": 32}
DISCOUNT, ONE_STATE_RUNS = 0.9, 300
UNTUNED = ("ucls", "gv-ucb")
BETAS, LEVELS = (1e-4, 3e-4, 3e-3, 1e-2), (0.001,)
STEPS = (0.1, 0.3)  # of w
TRACE = 0.001  # what follows beta elsewhere stays where it is, so that beta alone changes
LESS_A_FIFTH = 0.8  # what is left of epsilon, where "decayed by a factor of 0.2" is not times 0.2


class Interpretation(NamedTuple):
    """Another interpretation, by the name of the interpreted detail."""

    name: str
    change: Change

    def joined(self, other: "Interpretation") -> "Interpretation":
        """Return both interpretations together."""
        return Interpretation(f"{self.name} with {other.name}", lambda group: other.change(self.change(group)))


def also_read(groups: Iterable[Group], *readings: Iterable[Interpretation]) -> list[Group]:
    """Return the runs of the figures, and those with each of the interpretations: each once."""
    groups = [*groups]
    changed = [reading.change(group) for some in readings for reading in some for group in groups]
    return list(dict.fromkeys([*groups, *changed]))


def as_here(group: Group) -> Group:
    """Return the runs of the figures."""
    return group


def _memory(group: Group) -> Group:
    if group.env not in HAS_READING or not has_tiles(group.agent):
        return group
    there = other_reading()
    if group.key in SPACES and group.settings == tuned(group.key, group.env).settings:
        group = group._replace(settings=tuned(group.key, group.env, there).settings)
    return group.but()._replace(reading=there)


def _step(group: Group) -> Group:
    return group.but(w_step=SMALL_STEP) if group.agent == "ucls" else group


def _gmax(group: Group) -> Group:
    literal = LITERAL_GMAX.get(group.env) if group.agent == "lspi-rmax" else None
    return group if literal is None else group.but(return_max=literal)


def _tiling(group: Group) -> Group:
    return group.but(**PRINTED_TILING) if group.env == RIVER and has_tiles(group.agent) else group


def _sweep(group: Group) -> Group:
    wide = group.key == "dgpq" and group.env in DOMAINS_OF["dgpq-wide"]
    return tuned("dgpq-wide", group.env).for_shares()._replace(deep=True) if wide else group


def _start(group: Group) -> Group:
    high = group.key == "sarsa-optimistic" and group.env in DOMAINS_OF["sarsa-high"]
    return tuned("sarsa-high", group.env)._replace(deep=True) if high else group


def _threshold(group: Group) -> Group:
    return group.but(trace_threshold=0) if group.agent in UNTUNED else group


def _value(value: str) -> Change:
    return lambda group: group.but(feature_value=value) if group.agent in UNTUNED else group


def _discount(group: Group) -> Group:
    return group.but(discount=DISCOUNT)._replace(most=ONE_STATE_RUNS) if group.env == ONE_STATE else group


def _decay(group: Group) -> Group:
    explores = "epsilon_decay" in dict(group.settings)
    return group.but(epsilon_decay=LESS_A_FIFTH)._replace(most=ONE_STATE_RUNS) if explores else group


TILE_MEMORY = Interpretation("the hash-table size", _memory)
THRESHOLD = Interpretation("the trace threshold", _threshold)
VALUE = Interpretation("the feature value", _value("1"))
ROOT = Interpretation("the feature value 1/sqrt_n", _value("1/sqrt_n"))
W_STEP = Interpretation(f"w_step ({SMALL_STEP} instead of 1)", _step)
GMAX = Interpretation("LSPI-Rmax's Gmax", _gmax)
TILING = Interpretation("the tiling of River Swim", _tiling)
DGPQ_SWEEP = Interpretation("the size of DGPQ's search", _sweep)
SARSA_START = Interpretation("the initial values of optimistic Sarsa", _start)
ONE_STATE_DISCOUNT = Interpretation("One-State's discount", _discount)
EPSILON_DECAY = Interpretation("the decay of epsilon", _decay)
OF_SCALE = (THRESHOLD, VALUE, ROOT)
OF_UCLS = (TILE_MEMORY, *OF_SCALE, W_STEP)
OF_BASELINES = (GMAX, TILING, TILE_MEMORY.joined(GMAX))
OPEN = (*OF_UCLS, *OF_BASELINES)


def other_ucls() -> dict[str, Group]:
    """Return UCLS in Puddle World with each change of the ablations, by its name."""
    changed = {f"beta = {beta:g}": ucls(PUDDLE, beta=beta, trace_threshold=TRACE) for beta in BETAS}
    changed |= {f"p = {p:g}": ucls(PUDDLE, p=p) for p in LEVELS}
    changed["c_max = 100"] = ucls(PUDDLE, c_max=100.0)
    changed["tuning"] = tuned("ucls-tuned", PUDDLE)
    changed = {name: group._replace(heavy=True) for name, group in changed.items()}
    return changed | {f"w_step = {step:g}": ucls(PUDDLE).but(w_step=step) for step in STEPS}


def in_puddle_world() -> list[Interpretation]:
    """Return the changes of UCLS in Puddle World alone, as in the ablations."""
    found = []
    for name, other in other_ucls().items():

        def change(group: Group, other: Group = other) -> Group:
            return other if group == ucls(PUDDLE) else group

        found.append(Interpretation(f"{name} in Puddle World", change))
    return found
