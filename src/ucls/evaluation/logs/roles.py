"""Which column of a log is what: given by name, or guessed from its name; near misses are errors."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ucls.errors import UserError, printable, unknown
from ucls.evaluation.logs.names import NEXT, is_near, plain

NAMES: dict[str, tuple[str, ...]] = {  # of the columns with a role; the first one is our own
    "episode": (
        "episode",
        "episode_id",
        "ep",
        "trajectory",
        "trajectory_id",
        "traj",
        "traj_id",
        "session",
        "session_id",
    ),
    "step": ("step", "t", "time_step", "steps", "step_id"),
    "action": ("action", "actions", "a", "act"),
    "reward": ("reward", "rewards", "r", "rew"),
    "probability": (
        *("probability", "propensity", "prob", "action_prob", "action_probability", "behavior_prob", "pscore"),
        *("behavior_probability", "behaviour_prob", "behaviour_probability", "logging_prob", "propensity_score", "mu"),
    ),
    "terminated": ("terminated", "terminal", "termination", "terminations", "is_terminal"),
    "truncated": ("truncated", "truncation", "truncations", "timeout", "timeouts", "is_truncated"),
    "discount": ("discount", "discounts"),
    "start": ("start", "is_first", "is_start", "episode_start"),
}
STATE = re.compile(
    r"(state|states|observation|observations|obs|context)([_.\[ ]?\d+\]?|[_.].*)?|(s|x)[_.\[ ]?\d+\]?", re.IGNORECASE
)
NO_STATE = re.compile(r"(unnamed.*|index|row|id|.*[_ ]id|date.*|time|time ?stamp.*|seed)?", re.IGNORECASE)
MASK = re.compile(r"action_mask_\d+")  # of one action in the state: 1 if it was valid; read by `learn_from`
WHICH_END = "it does not say whether an episode terminated or was truncated"
NOT_READ = {  # names whose meaning is clear, with what to do instead
    "done": f"{WHICH_END}: give --terminated done or --truncated done",
    "dones": f"{WHICH_END}: give --terminated dones or --truncated dones",
    "gamma": "rename it to 'discount' (0 where an episode terminated), or remove it and give --gamma",
    "rho": "importance ratios depend on the new policy: give the probability of the logged action instead",
}
LOGARITHMS = re.compile(r"(.*[_ ])?log_?(p|prob|probs|probability|pi|propensity)", re.IGNORECASE)


class Columns(NamedTuple):
    """The names of the columns of a log by their role; empty for none."""

    state: tuple[str, ...]
    next_state: tuple[str, ...]
    action: str
    reward: str
    episode: str
    step: str
    probability: str
    terminated: str
    truncated: str
    discount: str
    start: str
    unused: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """The roles that are filled, for messages and JSON."""
        return {role: list(name) if isinstance(name, tuple) else name for role, name in self._asdict().items() if name}


def guess(head: Sequence[str], text: set[str], given: Mapping[str, Any] = {}, reserved: Sequence[str] = ()) -> Columns:
    """Assign roles to columns: those that are `given` by name, and others by the names that people use.

    `text` are the columns that hold no numbers, `reserved` those that policies read.

    >>> guess(["episode", "t", "stock", "action", "reward", "truncated", "note"], {"note"}).as_data()["state"]
    ['stock']
    """
    given = {role: name for role, name in given.items() if name}
    for role in given:
        if role not in (*NAMES, "state"):
            raise unknown("role of a column", role, (*NAMES, "state"))
    states = _listed(given.get("state", ()))
    named = {role: str(name) for role, name in given.items() if role != "state"}
    for name in (*states, *named.values()):
        if name not in head:
            raise unknown("column", name, head)
    taken = {*states, *named.values(), *reserved, *(name for name in head if MASK.fullmatch(name))}
    for role, names in NAMES.items():
        if role not in named:
            found = [name for name in head if name not in taken and plain(name) in {plain(other) for other in names}]
            if len(found) > 1:
                raise UserError(f"two columns look like the {role}: {found[0]!r} and {found[1]!r}; name one of them")
            if found:
                named[role] = found[0]
                taken.add(found[0])
    left = [name for name in head if name not in taken]
    _refuse_near_misses(left, named)
    state, next_state = _states(states, left, head, text)
    unused = tuple(name for name in left if name not in {*state, *next_state})
    roles = {role: named.get(role, "") for role in NAMES}
    return Columns(state=state, next_state=next_state, unused=unused, **roles)


def _listed(names: Any) -> tuple[str, ...]:
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    return tuple(str(name) for name in names)


def _refuse_near_misses(left: Sequence[str], named: Mapping[str, str]) -> None:
    """Refuse a column that nothing reads and whose name is almost that of a role, or is known to mean something."""
    for name in left:
        for role, names in NAMES.items():
            if role not in named and any(len(plain(word)) > 3 and is_near(name, word) for word in names):
                raise UserError(f"the column {name[:100]!r} is not used: {_ways(role, name)}")
        if plain(name) in NOT_READ and not (plain(name) == "rho" and "probability" in named):
            raise UserError(f"the column {name[:100]!r} is not used: {NOT_READ[plain(name)]}")
        if "probability" not in named and LOGARITHMS.fullmatch(name.strip()):
            raise UserError(f"the column {name[:100]!r} is not used: give probabilities, not their logarithms")


def _ways(role: str, name: str) -> str:
    """What to do with a column that looks like a role; for most roles there is an option."""
    option = "" if role in ("discount", "start") else f", give --{role} {printable(name[:100])}"
    return f"rename it to {role!r}{option}, or remove it"


def _states(
    given: tuple[str, ...], left: Sequence[str], head: Sequence[str], text: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of the state and, if the log has them, of the next state."""
    partners = {name: partner for name in (*given, *left) if (partner := _partner(name, head))}
    followers = set(partners.values())
    if given:
        state = given
    else:
        free = [name for name in left if name not in followers and name not in text]
        state = tuple(partners) or tuple(name for name in free if STATE.fullmatch(name.strip()))
        state = state or tuple(name for name in free if not NO_STATE.fullmatch(name.strip()))
    alone = [name for name in state if name not in partners]
    if alone and len(alone) < len(state):
        raise UserError(f"the column {alone[0][:100]!r} has no partner {alone[0][:90] + NEXT!r}, but others have one")
    next_state = () if alone else tuple(partners[name] for name in state)
    for name in left:
        stem = name.removesuffix(NEXT) if name.endswith(NEXT) else name.removeprefix("next_")
        if stem != name and name not in next_state and name not in text:
            raise UserError(
                f"the column {name[:100]!r} is not used: {stem[:100]!r} is not part of the state; remove it"
            )
    return state, next_state


def _partner(name: str, head: Sequence[str]) -> str:
    """The column with the next value of another, if there is one."""
    return next((other for other in (name + NEXT, f"next_{name}") if other in head), "")
