"""A log of episodes: one row per step, with states, actions, rewards, and how every episode ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucls.errors import UserError, printable
from ucls.evaluation.logs import cells
from ucls.evaluation.logs.cells import Problem
from ucls.evaluation.logs.roles import Columns, guess
from ucls.evaluation.logs.tables import Table, read_table

GAMMA = 0.99  # as for agents
ENDS = ("terminated", "truncated")
PER_ROW = ("states", "next_states", "has_next", "follows", "action", "reward", "discount", "row", "probability")


@dataclass(frozen=True)
class EpisodeLog:
    """Steps of episodes, those of an episode one after the other; episode i has the rows first[i] up to first[i + 1].

    `action` numbers the values in `actions`. `discount` is 0 where an episode terminated. `next_states` counts only
    where `has_next`: the state after a truncation is often not logged. `follows` marks rows whose next state is that of
    the next row. `row` is the number of every row in the source, from 1.
    """

    states: np.ndarray
    next_states: np.ndarray
    has_next: np.ndarray
    follows: np.ndarray
    action: np.ndarray
    actions: np.ndarray
    reward: np.ndarray
    discount: np.ndarray
    first: np.ndarray
    probability: np.ndarray | None
    row: np.ndarray
    gamma: float
    columns: Columns
    table: Table
    name: str

    @property
    def n_episodes(self) -> int:
        """The number of episodes."""
        return len(self.first) - 1

    @property
    def n_steps(self) -> int:
        """The number of steps, which is the number of rows."""
        return len(self.reward)

    @property
    def lengths(self) -> np.ndarray:
        """The number of steps of every episode."""
        return np.diff(self.first)

    @property
    def episode(self) -> np.ndarray:
        """The number of the episode that every row belongs to."""
        return np.repeat(np.arange(self.n_episodes), self.lengths)

    @property
    def starts(self) -> np.ndarray:
        """The first state of every episode."""
        return self.states[self.first[:-1]]

    @property
    def terminated(self) -> np.ndarray:
        """Whether every row terminated its episode."""
        return self.discount == 0

    @property
    def truncated(self) -> np.ndarray:
        """Whether every episode ended without termination."""
        return ~self.terminated[self.first[1:] - 1]

    @property
    def discounting(self) -> np.ndarray:
        """The discount from the start of the episode up to every row."""
        return per_episode_product(np.where(self.terminated, self.gamma, self.discount), self.first)

    @property
    def returns(self) -> np.ndarray:
        """The discounted sum of the logged rewards of every episode; a truncated one lacks what would have followed."""
        return np.add.reduceat(self.discounting * self.reward, self.first[:-1])

    def some(self, episodes: np.ndarray) -> "EpisodeLog":
        """The log of some episodes, by their numbers in increasing order."""
        chosen = np.zeros(self.n_episodes, bool)
        chosen[episodes] = True
        rows = np.repeat(chosen, self.lengths)
        parts = {name: None if (value := getattr(self, name)) is None else value[rows] for name in PER_ROW}
        first = np.concatenate([[0], np.cumsum(self.lengths[chosen])])
        rest = {name: getattr(self, name) for name in ("actions", "gamma", "columns", "table", "name")}
        return EpisodeLog(**parts, **rest, first=first)


def per_episode_product(factors: np.ndarray, first: np.ndarray) -> np.ndarray:
    """The product of the factors of the earlier rows of the same episode, for every row.

    >>> per_episode_product(np.array([0.5, 0.5, 0.5, 0.9, 0.9]), np.array([0, 3, 5])).tolist()
    [1.0, 0.5, 0.25, 1.0, 0.9]
    """
    product, lengths = np.ones(len(factors)), np.diff(first)
    alive = first[:-1][lengths > 1]
    ends = first[1:][lengths > 1]
    row = alive.copy()
    while len(row):
        product[row + 1] = product[row] * factors[row]
        row = row + 1
        more = row + 1 < ends
        row, ends = row[more], ends[more]
    return product


def read_log(
    source: Any,
    gamma: float | None = None,
    columns: Mapping[str, Any] = {},
    ends: str | None = None,
    reserved: Sequence[str] = (),
) -> EpisodeLog:
    """Read a log with one row per step.

    `source` is a path (.csv, .parquet, .npz), a DataFrame, a mapping of arrays, "minari:ID" or a Minari dataset.
    `columns` maps roles (state, action, reward, episode, step, probability, terminated, truncated, discount, start) to
    names, for those that are not guessed. `ends` says how episodes end if no column does: terminated or truncated.
    `reserved` are columns that are not part of the state, such as the probabilities of a policy.
    """
    if isinstance(source, EpisodeLog):
        return source
    log, problems, name = scan_log(source, gamma, columns, ends, reserved)
    for problem in problems:
        if problem.error:
            raise UserError(f"{name}: {problem.text}")
    assert log is not None
    return log


def scan_log(
    source: Any,
    gamma: float | None = None,
    columns: Mapping[str, Any] = {},
    ends: str | None = None,
    reserved: Sequence[str] = (),
) -> tuple[EpisodeLog | None, list[Problem], str]:
    """The log, None if it has errors; the problems found while reading it; and what it is called."""
    if ends is not None and ends not in ENDS:
        raise UserError(f"episodes cannot end as {ends!r}: give terminated or truncated")
    if gamma is not None and not 0 < gamma <= 1:
        raise UserError(f"gamma must be above 0 and at most 1, not {gamma:g}")
    table, name = read_table(source)
    text = {column for column, values in table.items() if values.dtype.kind == "U"}
    try:
        found = guess(list(table), text, columns, reserved)
        _refuse_missing(found, table, gamma, ends)
    except UserError as error:
        raise UserError(f"{name}: {error}") from None
    problems: list[Problem] = []
    log = _Builder(table, found, problems).build(gamma, ends, name)
    return log if not any(problem.error for problem in problems) else None, problems, name


def _refuse_missing(columns: Columns, table: Table, gamma: float | None, ends: str | None) -> None:
    listed = printable(", ".join(table)[:200])
    for role in ("action", "reward"):
        if not getattr(columns, role):
            raise UserError(f"no column looks like the {role}: give --{role} NAME (the log has: {listed})")
    if not columns.state:
        raise UserError(f"no column looks like a state: give --state NAME,NAME (the log has: {listed})")
    if columns.discount and gamma is not None:
        raise UserError(f"the column {columns.discount!r} has the discount already: leave gamma out")
    flags = columns.terminated or columns.truncated or columns.discount
    if not (columns.episode or columns.start or (columns.terminated and columns.truncated)):
        raise UserError(f"no column says which episode a row belongs to: give --episode NAME (the log has: {listed})")
    if not flags and ends is None:
        raise UserError(
            "no column says how episodes end: give --terminated NAME or --truncated NAME, or for all of them "
            "--ends terminated or --ends truncated"
        )
    if flags and ends is not None:
        raise UserError("a column says how episodes end already: leave --ends out")


class _Builder:
    """Makes a log from a table; what is wrong with it goes to a list of problems."""

    def __init__(self, table: Table, columns: Columns, problems: list[Problem]):
        self.table, self.columns, self.problems = table, columns, problems
        self.rows = len(next(iter(table.values())))

    def build(self, gamma: float | None, ends: str | None, name: str) -> EpisodeLog | None:
        """The log, or None if columns cannot be read."""
        columns, problems = self.columns, self.problems
        states = self._numbers(columns.state)
        reward = self._numbers([columns.reward])[:, 0]
        flags = {role: self._flag(role) for role in (*ENDS, "start")}
        discount = self._numbers([columns.discount])[:, 0] if columns.discount else None
        if discount is not None:
            cells.check_discount(discount, columns.discount, problems)
            flags["terminated"] = discount == 0
        actions, action = cells.numbered(self.table[columns.action], columns.action, problems)
        episode = self._episodes(flags)
        if any(problem.error for problem in problems):
            return None
        order = np.argsort(episode, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(episode))])
        last = np.zeros(self.rows, bool)
        last[first[1:] - 1] = True
        if columns.step:
            step = self._numbers([columns.step])[:, 0][order]
            cells.check_steps(step, last, order, columns.step, bool(columns.next_state), problems)
        elif (order[1:] < order[:-1]).any():
            row = int(order[np.argmax(order[1:] < order[:-1]) + 1]) + 1
            problems.append(
                Problem(
                    "interleaved",
                    row,
                    1,
                    f"row {row}: its episode began before another one ended; "
                    "a column with the step is needed to order the rows",
                    True,
                )
            )
        terminated = cells.ends_of({role: flag[order] for role, flag in flags.items() if flag is not None}, last, ends,
                                   order, problems)  # fmt: skip
        own = 1.0 if columns.discount else (GAMMA if gamma is None else float(gamma))
        given = np.full(self.rows, own) if discount is None else discount[order]
        states, next_states, has_next, follows = self._follow(states[order], order, last, terminated)
        probability = self._probability(order)
        if any(problem.error for problem in problems):
            return None
        return EpisodeLog(
            states, next_states, has_next, follows, action[order], actions, reward[order],
            np.where(terminated, 0.0, given), first, probability, order + 1, own, columns, self.table, name,
        )  # fmt: skip

    def _numbers(self, names: Sequence[str]) -> np.ndarray:
        found = [cells.numbers(self.table[name], name, self.problems) for name in names]
        return np.column_stack(found) if found else np.zeros((self.rows, 0))

    def _flag(self, role: str) -> np.ndarray | None:
        name = getattr(self.columns, role)
        return cells.flag(self.table[name], name, self.problems) if name else None

    def _episodes(self, flags: Mapping[str, np.ndarray | None]) -> np.ndarray:
        """The number of the episode of every row, by first appearance."""
        if self.columns.episode:
            return cells.first_appearance(self.table[self.columns.episode], self.columns.episode, self.problems)
        begins = np.zeros(self.rows, bool)
        if (start := flags["start"]) is not None:
            begins |= start
        else:
            for role in ENDS:
                if (ended := flags[role]) is not None:
                    begins[1:] |= ended[:-1]
        begins[0] = True
        if start is not None and (ended := flags["terminated"]) is not None:
            begins[1:] |= ended[:-1]
        return np.cumsum(begins) - 1

    def _follow(
        self, states: np.ndarray, order: np.ndarray, last: np.ndarray, terminated: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The next states, whether they are known, and whether they are those of the next row."""
        after = np.vstack([states[1:], states[-1:]])
        if not self.columns.next_state:
            return states, after, ~last, ~last
        given = np.column_stack([cells.numbers(self.table[name], name, self.problems, empty=True)
                                 for name in self.columns.next_state])[order]  # fmt: skip
        known = np.isfinite(given).all(axis=1)
        lacking = ~known & ~terminated & ~last
        cells.report(lacking, order, "the next state is missing, and the episode goes on", "missing", self.problems)
        follows = ~last & known & (given == after).all(axis=1)
        broken = ~last & known & ~follows & ~terminated
        if broken.any():
            cells.report(
                broken, order, "the next state is not the state of the next row", "break", self.problems, False
            )
        begins = np.append(states[1:], np.full((1, states.shape[1]), np.nan), axis=0)
        leaks = last & known & ~terminated & (given == begins).all(axis=1)
        if last.sum() > 5 and leaks.sum() > 0.5 * (last & ~terminated).sum():
            cells.report(leaks, order, "the next state is the first state of the next episode: it leaks across a reset",
                         "leakage", self.problems)  # fmt: skip
        return states, np.where(known[:, None], given, 0.0), known & ~terminated, follows

    def _probability(self, order: np.ndarray) -> np.ndarray | None:
        name = self.columns.probability
        if not name:
            return None
        found = cells.numbers(self.table[name], name, self.problems)
        wrong = np.isfinite(found) & ~((found > 0) & (found <= 1))
        said = f"{name} must be above 0 and at most 1: it is the probability of an action that was taken"
        cells.report(wrong, np.arange(self.rows), said, "probability", self.problems)
        return found[order]
