"""Allowed values of the arrays in a checkpoint: declared once, with a field, and checked when a file is read.

A file may come from anybody, and kernels do not check the indices they are given. So a NamedTuple of arrays says what
kernels rely on, as `settings` do for settings:

>>> from typing import Annotated
>>> class Pile(NamedTuple):
...     items: Annotated[Any, FEATURE, Grows()]
...     count: Annotated[Any, Count("items")]
>>> made = Pile(np.zeros(4, np.int64), np.zeros(1, np.int64))
>>> check("pile", Pile(np.array([1, 2, 3, 9]), np.array([3])), made, Sizes(features=6, actions=2))
Traceback (most recent call last):
ucls.errors.UserError: the checkpoint cannot be right: 'pile.items' must be indices of features, 0 to 5

The rules, for every field whether it declares something or not:

- numbers with a point are finite, unless the field says `INFINITE`;
- integers must declare a range, because nobody else can know what they index: a learner with a field that does not
  is refused when it is made, not when its file is read;
- an array has the shape that it was made with; one that may be longer says `Grows(axis)`, and where data grow at least
  one must;
- arrays that grow together say so: `Grows(like="items")` has as many entries as `items`, always;
- every field of a state is an array or a NamedTuple of arrays: anything else would not be saved.

What no field can say alone (a table has an empty slot, a list names nothing twice) is said by a method `fault()` of the
NamedTuple: a few words on what is wrong, or "". It is called when all of its fields are within their ranges.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from ucls.errors import UserError

STEPS = 2**53  # nothing is counted further


class Sizes(NamedTuple):
    """The sizes of a learner: the number of features of all actions, and of actions."""

    features: int
    actions: int


class Around(NamedTuple):
    """The context that the range of an array may depend on: the sizes, the other fields, and the array that it
    replaces."""

    sizes: Sizes
    beside: Mapping[str, np.ndarray]
    made: np.ndarray

    def length(self, of: str, axis: int) -> int:
        """Return the number of `of`: features, actions, or entries of another field."""
        return self.beside[of].shape[axis] if of in self.beside else getattr(self.sizes, of)


@dataclass(frozen=True)
class Within:
    """Numbers between two limits, both included."""

    least: float
    most: float

    def holds(self, array: np.ndarray, around: Around) -> bool:
        least, most = np.float64(self.least), np.float64(self.most)
        return bool(((array >= least) & (array <= most)).all())

    def words(self, around: Around) -> str:
        return f"numbers from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Index:
    """Indices of "features", of "actions" or of an array beside; with `none`, -1 stands for no index."""

    of: str
    axis: int = 0
    none: bool = False

    def holds(self, array: np.ndarray, around: Around) -> bool:
        last = around.length(self.of, self.axis) - 1
        return bool(((array >= -int(self.none)) & (array <= last)).all())

    def words(self, around: Around) -> str:
        return f"indices of {self.of}, {-int(self.none)} to {around.length(self.of, self.axis) - 1}"


@dataclass(frozen=True)
class Count:
    """Numbers of "features", of "actions" or of entries of another field; without a name, of anything."""

    of: str | None = None
    axis: int = 0

    def _most(self, around: Around) -> int:
        return STEPS if self.of is None else around.length(self.of, self.axis)

    def holds(self, array: np.ndarray, around: Around) -> bool:
        return bool(((array >= 0) & (array <= self._most(around))).all())

    def words(self, around: Around) -> str:
        return f"counts from 0 to {self._most(around)}"


class Made:
    """Numbers that are fixed when the learner is created."""

    def holds(self, array: np.ndarray, around: Around) -> bool:
        return np.array_equal(array, around.made)

    def words(self, around: Around) -> str:
        return "what its settings make it"


class Anything:
    """Any number: no kernel uses it as an index, or `fault` checks it."""

    def holds(self, array: np.ndarray, around: Around) -> bool:
        return True

    def words(self, around: Around) -> str:
        return "numbers"


class Infinite:
    """Floating-point numbers that may be infinite."""

    def holds(self, array: np.ndarray, around: Around) -> bool:
        return not np.isnan(array).any()

    def words(self, around: Around) -> str:
        return "numbers"


@dataclass(frozen=True)
class Grows:
    """The array may be longer than at its creation, along one axis; `like` names the array that it grows together with,
    another field or, with a dot, a field within one (`"moves.rows"`)."""

    axis: int = 0
    like: str | None = None


Range = Within | Index | Count | Made | Anything | Infinite

FEATURE = Index("features")
ACTION = Index("actions")
FLAG = Within(0, 1)
COUNT = Count()
POSITIVE = Within(1e-300, 1e300)
NOT_NEGATIVE = Within(0, 1e300)
UNIT = Within(0, 1)
MADE = Made()
ANYTHING = Anything()
INFINITE = Infinite()


class Field(NamedTuple):
    """The declaration of a field."""

    range: Range | None
    grows: int | None = None
    like: str | None = None


@functools.lru_cache(maxsize=256)
def declared(cls: type) -> dict[str, Field]:
    """Return the declaration of each field of a NamedTuple class; empty if it has no annotations that can be read."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):
        hints = {}
    ranges_by_field = {}
    for name in cls._fields:  # pyright: ignore[reportAttributeAccessIssue]
        marks = getattr(hints.get(name), "__metadata__", ())
        grows = next((mark for mark in marks if isinstance(mark, Grows)), None)
        range = next((mark for mark in marks if isinstance(mark, Range)), None)
        ranges_by_field[name] = Field(range, grows and grows.axis, grows and grows.like)
    return ranges_by_field


def require(prefix: str, parts: Any, constants: bool = False) -> None:
    """Refuse a NamedTuple of arrays with a field that could not be saved or lacks its declaration.

    `constants` allows plain numbers, words and None: those of a coder are made again from its settings.
    """
    fields = declared(type(parts))
    for name, part in zip(parts._fields, parts, strict=True):
        if isinstance(part, np.ndarray):
            _require_array(f"{prefix}.{name}", part, fields[name], parts)
        elif hasattr(part, "_fields"):
            require(f"{prefix}.{name}", part, constants)
        elif not (constants and (part is None or isinstance(part, bool | int | float | str | np.generic))):
            kind = type(part).__name__
            raise UserError(
                f"'{prefix}.{name}' is of type {kind}, not an array, and would not be saved: use a NumPy array (for "
                "a single number, an array of one) or a NamedTuple of arrays"
            )


def _require_array(name: str, array: np.ndarray, field: Field, beside: Any) -> None:
    if array.dtype.kind not in "fiub":
        raise UserError(f"'{name}' holds {array.dtype}: a state is arrays of numbers")
    if array.dtype.kind in "iu" and field.range is None:
        raise UserError(
            f"'{name}' holds integers without a declared range: declare it as "
            "Annotated[IntVector, COUNT], or another range of ucls.kernels.ranges"
        )
    if field.grows is not None and not 0 <= field.grows < array.ndim:
        raise UserError(f"'{name}' has no axis {field.grows} to grow along: it has {array.ndim}")
    if field.like is not None and (other := _length(beside, field.like)) != array.shape[field.grows or 0]:
        found = "there is no such array that grows" if other is None else f"that has {other} entries"
        raise UserError(f"'{name}' has {array.shape[field.grows or 0]} entries, as many as {field.like!r}, but {found}")


def _length(parts: Any, path: str) -> int | None:
    """Return the length of the growing array of this name, a field of `parts` or, with a dot, within one."""
    first, _, rest = path.partition(".")
    part = getattr(parts, first, None)
    if rest:
        return _length(part, rest)
    grows = declared(type(parts))[first].grows if hasattr(parts, "_fields") and isinstance(part, np.ndarray) else None
    return None if part is None or grows is None else part.shape[grows]


def may_grow(parts: Any) -> bool:
    """Return whether some array of a NamedTuple, or of those in it, may be longer than at its creation."""
    mine = any(field.grows is not None for field in declared(type(parts)).values())
    return mine or any(may_grow(part) for part in parts if hasattr(part, "_fields"))


def check(prefix: str, parts: Any, made: Any, sizes: Sizes) -> None:
    """Refuse arrays that violate the declarations of their NamedTuple; `made` is the tuple at its creation."""
    fields = declared(type(parts))
    arrays = {name: part for name, part in parts._asdict().items() if isinstance(part, np.ndarray)}
    for name, part in parts._asdict().items():
        before = getattr(made, name)
        if isinstance(part, np.ndarray):
            _check_array(f"{prefix}.{name}", part, fields[name].range, Around(sizes, arrays, before))
            like = fields[name].like
            if like is not None and _length(parts, like) != part.shape[fields[name].grows or 0]:
                raise UserError(f"the checkpoint cannot be right: {prefix}.{name} and {prefix}.{like} differ in length")
        elif isinstance(part, tuple):
            check(f"{prefix}.{name}", part, before, sizes)
    if hasattr(parts, "fault") and (fault := parts.fault()):
        raise UserError(f"the checkpoint cannot be right: in {prefix!r}, {fault}")


def fits(shape: tuple[int, ...], made: tuple[int, ...], grows: int | None) -> bool:
    """Return whether an array has its original shape, or is longer where that is allowed."""
    if grows is None or len(shape) != len(made):
        return shape == made
    return all(n >= m if axis == grows else n == m for axis, (n, m) in enumerate(zip(shape, made, strict=True)))


def is_permutation(numbers: np.ndarray, count: int) -> bool:
    """Whether some numbers are 0, 1, ..., count - 1, in any order."""
    return len(numbers) == count and bool((np.sort(numbers) == np.arange(count)).all())


def _check_array(name: str, array: np.ndarray, range: Range | None, around: Around) -> None:
    floating = array.dtype.kind == "f"
    if floating and not isinstance(range, Infinite) and not np.isfinite(array).all():
        raise UserError(f"the checkpoint cannot be right: {name!r} holds numbers that are not finite")
    if range is not None and not range.holds(array, around):
        raise UserError(f"the checkpoint cannot be right: {name!r} must be {range.words(around)}")
