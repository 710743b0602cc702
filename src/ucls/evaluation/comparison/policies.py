"""Policies as people have them, as probabilities of the logged actions in the states of a log.

A policy is a function of states (one row each) that returns actions, or probabilities with one column per action; an
agent, or any object with `predict(states, deterministic=True)`; an array of probabilities with one row per row of the
log; "module:function"; or "columns:PREFIX", the columns PREFIX + ACTION of the log.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ucls._util.modules import import_path, is_path
from ucls.errors import UserError, printable, unknown
from ucls.evaluation.logs.episodes import EpisodeLog

COLUMNS = "columns:"
TOLERANCE = 1e-3  # by which probabilities may miss a sum of 1


class OnLog(NamedTuple):
    """A policy in the states of a log: its probabilities in every row, in the next state of every row (where `known`),
    and the probability of actions that the log never shows."""

    now: np.ndarray
    after: np.ndarray
    known: np.ndarray
    outside: np.ndarray


def logged_policy(log: EpisodeLog) -> OnLog:
    """The policy that made the log, as the actions that it took: what follows a row is the action of the next one."""
    now = np.zeros((log.n_steps, len(log.actions)))
    now[np.arange(log.n_steps), log.action] = 1.0
    after = np.vstack([now[1:], np.zeros((1, len(log.actions)))])
    known = log.follows | log.terminated
    return OnLog(now, np.where(log.follows[:, None], after, 0.0), known, np.zeros(log.n_steps))


def reserved_columns(policies: Any, head: Sequence[str]) -> list[str]:
    """The columns of a log that belong to policies rather than to the state."""
    prefixes = [text.removeprefix(COLUMNS) for text in _texts(policies) if text.startswith(COLUMNS)]
    for prefix in prefixes:
        if not prefix or not any(name.startswith(prefix) for name in head):
            raise UserError(f"no column begins with {prefix!r} (the log has: {printable(', '.join(head)[:200])})")
    return [name for name in head if any(name.startswith(prefix) for prefix in prefixes)]


def _texts(policies: Any) -> list[str]:
    values = policies.values() if isinstance(policies, Mapping) else policies
    return [value for value in (values if isinstance(values, list | tuple) else list(values)) if isinstance(value, str)]


def listed(policies: Any) -> dict[str, Any]:
    """Policies by name: one of them, several, or a mapping of names to policies."""
    if isinstance(policies, Mapping):
        named = {str(name): policy for name, policy in policies.items()}
    else:
        several = list(policies) if isinstance(policies, list | tuple) else [policies]
        named = {}
        for i, policy in enumerate(several, 1):
            name = (
                policy
                if isinstance(policy, str)
                else getattr(policy, "__name__", "new" if len(several) == 1 else f"new {i}")
            )
            named[name if name not in named else f"{name} ({i})"] = policy
    if not named:
        raise UserError("no policy to compare with: give at least one")
    return named


def on_log(policy: Any, log: EpisodeLog) -> OnLog:
    """The probabilities of a policy in the states of a log."""
    if isinstance(policy, str) and policy.startswith(COLUMNS):
        policy = _columns(log, policy.removeprefix(COLUMNS))
    if isinstance(policy, np.ndarray):
        now, outside = _probabilities(policy, log, log.n_steps)
        after = np.vstack([now[1:], now[-1:]])
        return OnLog(now, np.where(log.follows[:, None], after, 0.0), log.follows | log.terminated, outside)
    ask = _function(policy)
    now, outside = _probabilities(ask(log.states), log, log.n_steps)
    after = np.zeros_like(now)
    after[:-1] = np.where(log.follows[:-1, None], now[1:], 0.0)
    alone = log.has_next & ~log.follows
    if alone.any():
        after[alone], beyond = _probabilities(ask(log.next_states[alone]), log, int(alone.sum()))
        outside = outside.copy()
        outside[alone] = np.maximum(outside[alone], beyond)
    return OnLog(now, after, log.has_next | log.terminated, outside)


def probabilities_at(policy: Any, log: EpisodeLog, states: np.ndarray) -> np.ndarray:
    """The probabilities of a policy in any states; refused for policies that are known in the rows of the log only."""
    if isinstance(policy, np.ndarray) or (isinstance(policy, str) and policy.startswith(COLUMNS)):
        raise UserError("a policy in columns of the log is known in its rows only: it has no values at other states")
    return _probabilities(_function(policy)(states), log, len(states))[0]


def _columns(log: EpisodeLog, prefix: str) -> np.ndarray:
    names = [f"{prefix}{action}" for action in log.actions]
    for name in names:
        if name not in log.table:
            raise unknown("column of a policy", name, [each for each in log.table if each.startswith(prefix)])
    extra = [each for each in log.table if each.startswith(prefix) and each not in names]
    cells = [log.table[name] for name in (*names, *extra)]
    if any(column.dtype.kind == "U" for column in cells):
        raise UserError(f"the columns {prefix}... must hold probabilities")
    every = np.column_stack(cells).astype(np.float64)[log.row - 1]
    beyond = every[:, len(names) :]
    if extra and (np.abs(beyond) > 0).any():
        raise UserError(f"the column {extra[0]!r} is for an action that the log never shows")
    return every[:, : len(names)]


def _function(policy: Any) -> Callable[[np.ndarray], Any]:
    if isinstance(policy, str):
        return _guarded(_imported(policy), policy)
    if hasattr(policy, "predict"):
        return _guarded(lambda states: policy.predict(states, deterministic=True)[0], "the agent")
    if callable(policy):
        return _guarded(policy, getattr(policy, "__name__", "the policy"))
    raise UserError(f"a policy cannot be a {type(policy).__name__}: give a function, an agent, or probabilities")


def _imported(text: str) -> Callable[[np.ndarray], Any]:
    module, colon, name = text.partition(":")
    if not (colon and is_path(module) and name.isidentifier()):
        raise UserError(
            f"no policy {printable(text[:100])!r}: give the file of an agent, module:function, or columns:PREFIX"
        )
    where = import_path(module)
    found = getattr(where, name, None)
    if not callable(found):
        public = [each for each, value in vars(where).items() if callable(value) and not each.startswith("_")]
        near = difflib.get_close_matches(name, public, n=1)
        hint = f": did you mean {near[0]!r}?" if near else ""
        raise UserError(f"module {module!r} has no function {name!r}{hint}")
    return found


def _guarded(ask: Callable[[np.ndarray], Any], name: str) -> Callable[[np.ndarray], Any]:
    """Call a function of others; whatever it raises is one line."""

    def asked(states: np.ndarray) -> Any:
        try:
            return ask(states.copy())
        except UserError:
            raise
        except Exception as error:
            told = printable(f"{type(error).__name__}: {error}"[:150])
            raise UserError(f"the policy {name} fails on an array of states of shape {states.shape}, {told}") from error

    return asked


def _probabilities(answer: Any, log: EpisodeLog, n: int) -> tuple[np.ndarray, np.ndarray]:
    """What a policy returned as probabilities of the logged actions, and of others."""
    array = np.asarray(answer)
    wide = len(log.actions)
    if array.shape == (n,) or array.shape == (n, 1) != (n, wide):
        return _taken(array.reshape(n), log)
    if array.ndim != 2 or len(array) != n or array.dtype.kind not in "biuf":
        raise UserError(
            f"a policy returned an array of shape {array.shape} for {n:,} states: it needs one action, or one "
            f"probability for each of the {wide} actions, per state"
        )
    if array.shape[1] != wide:
        values = log.actions
        if values.dtype.kind in "iu" and array.shape[1] > wide and values.min() >= 0 and values.max() < array.shape[1]:
            inside = array[:, values].astype(np.float64)
            _checked(array.astype(np.float64))
            return inside, np.maximum(0.0, 1.0 - inside.sum(axis=1))
        raise UserError(f"a policy returned {array.shape[1]} probabilities per state, but the log has {wide} actions")
    return _checked(array.astype(np.float64)), np.zeros(n)


def _checked(array: np.ndarray) -> np.ndarray:
    total = array.sum(axis=1)
    sound = np.isfinite(array).all(axis=1) & (array >= -TOLERANCE).all(axis=1) & (np.abs(total - 1) <= TOLERANCE)
    if not sound.all():
        row = int(np.argmin(sound))
        raise UserError(
            f"a policy's probabilities must be at least 0 and sum to 1: in state {row + 1} they are "
            f"{printable(np.array2string(array[row], precision=4)[:100])}"
        )
    return np.maximum(array, 0.0) / np.maximum(array, 0.0).sum(axis=1, keepdims=True)


def _taken(actions: np.ndarray, log: EpisodeLog) -> tuple[np.ndarray, np.ndarray]:
    if (actions.dtype.kind == "U") != (log.actions.dtype.kind == "U") or actions.dtype.kind not in "iufbU":
        raise UserError(
            f"a policy returned actions such as {actions[:1].tolist()}: the log has {log.actions[:5].tolist()}; return "
            "these, or a probability for each of them, in this order"
        )
    place = np.minimum(np.searchsorted(log.actions, actions), len(log.actions) - 1)
    known = log.actions[place] == actions
    found = np.zeros((len(actions), len(log.actions)))
    found[np.flatnonzero(known), place[known]] = 1.0
    return found, (~known).astype(np.float64)
