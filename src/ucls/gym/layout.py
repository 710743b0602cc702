"""The layout of an observation as data: boxes and integers, alone or in tuples and mappings.

An observation is flattened: the numbers of its parts, one after the other, are the state of a learner. The parts of a
mapping come in Gymnasium's order, the numbers of an array row by row. So tiles span all numbers of all parts at once,
and a Discrete part is one of them: where it has more values than there are tiles, neighbors share some.
FlattenObservation of Gymnasium makes it several numbers instead, one for each value.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ucls.core.config import brief
from ucls.errors import UserError

NUMBERS = "biuf"  # kinds of dtypes
DEPTH = 50  # of parts within parts; no environment goes deeper

Key = str | int


class Leaf(NamedTuple):
    """Numbers of one kind: where in an observation they are, their shape, their own bounds (NaN for none)."""

    path: tuple[Key, ...]
    shape: tuple[int, ...]
    low: list[float]
    high: list[float]
    whole: bool

    def read(self, given: Any) -> np.ndarray:
        """Read the numbers of this leaf."""
        numbers = real_numbers(given)
        if numbers is None or numbers.shape not in (self.shape, (len(self.low),)):
            kind = "one number" if len(self.low) == 1 else f"{len(self.low)} numbers"
            raise UserError(f"{called(self.path)} cannot be {brief(given)}: here it is {kind}, of shape {self.shape}")
        numbers = as_floats(numbers).ravel()
        if not np.isfinite(numbers).all():
            raise UserError(f"{called(self.path)} cannot be {brief(given)}: observations must be finite")
        return numbers

    def names(self) -> Iterator[str]:
        """The names of its numbers: their place in `observation`."""
        place = f"observation{''.join(f'[{key!r}]' for key in self.path)}"
        for index in itertools.product(*(range(n) for n in self.shape)):
            yield f"{place}[{', '.join(str(i) for i in index)}]" if index else place


class Branch(NamedTuple):
    """Parts by their keys, in a mapping if they are `named`, or else in a tuple."""

    path: tuple[Key, ...]
    named: bool
    parts: "dict[Key, Layout]"

    def open(self, given: Any) -> Iterator[tuple["Layout", Any]]:
        """Yield each part with its value."""
        if self.named and not (isinstance(given, Mapping) and set(given) == set(self.parts)):
            keys = ", ".join(repr(key) for key in self.parts)
            raise UserError(f"{called(self.path)} cannot be {brief(given)}: here it is a mapping with the keys {keys}")
        if not self.named and not (isinstance(given, tuple | list) and len(given) == len(self.parts)):
            many = len(self.parts)
            raise UserError(f"{called(self.path)} cannot be {brief(given)}: here it is a tuple of {many} parts")
        yield from ((part, given[key]) for key, part in self.parts.items())  # pyright: ignore


Layout = Leaf | Branch


def leaves(layout: Layout) -> list[Leaf]:
    """The leaves of a layout, in the order of their numbers."""
    if isinstance(layout, Leaf):
        return [layout]
    return [leaf for part in layout.parts.values() for leaf in leaves(part)]


def flatten(layout: Layout, observation: Any) -> np.ndarray:
    """Return the components of an observation as one array; they may be given in that form too."""
    if isinstance(layout, Leaf):
        return layout.read(observation)
    if isinstance(observation, np.ndarray):
        ends = np.cumsum([len(leaf.low) for leaf in leaves(layout)])
        if observation.shape == (ends[-1],):
            rows = zip(leaves(layout), np.split(observation, ends[:-1]), strict=True)
            return np.concatenate([leaf.read(row) for leaf, row in rows])
    return np.concatenate([flatten(part, given) for part, given in layout.open(observation)])


def stack(layout: Layout, batch: Any) -> np.ndarray | None:
    """The states of a batch of observations, whose parts have a leading dimension each; None for one observation."""
    if isinstance(batch, np.ndarray):
        size = sum(len(leaf.low) for leaf in leaves(layout))
        return batch if batch.ndim == 2 and batch.shape[1] == size and batch.dtype.kind in NUMBERS else None
    found = [(leaf, real_numbers(given)) for leaf, given in _pairs(layout, batch)]
    leaf, first = found[0]
    if first is None or first.ndim != len(leaf.shape) + 1 or first.shape[1:] != leaf.shape:
        return None
    for leaf, given in found:
        if given is None or given.shape != (len(first), *leaf.shape):
            wanted = (len(first), *leaf.shape)
            raise UserError(f"{called(leaf.path)} cannot be {brief(given)}: in this batch it is of shape {wanted}")
    return np.concatenate([given.reshape(len(first), -1) for _, given in found if given is not None], axis=1)


def _pairs(layout: Layout, given: Any) -> Iterator[tuple[Leaf, Any]]:
    if isinstance(layout, Leaf):
        yield layout, given
    else:
        for part, inner in layout.open(given):
            yield from _pairs(part, inner)


def layout_of(space: Any, path: tuple[Key, ...] = ()) -> Layout:
    """Return the layout of observations from the data that `spaces.describe` made of their space, which may come from
    an untrusted file."""
    kind, parts = (space.get("kind"), space.get("parts")) if isinstance(space, Mapping) else (None, None)
    if kind in ("box", "discrete", "whole"):
        return _leaf(space, path)
    if kind not in ("tuple", "dict") or not isinstance(parts, list) or not parts or len(path) >= DEPTH:
        raise _lie(space)
    keys = list(range(len(parts))) if kind == "tuple" else space.get("keys")
    if not isinstance(keys, list) or len(keys) != len(parts) or not all(isinstance(key, Key) for key in keys):
        raise _lie(space)
    if len(set(keys)) < len(keys):
        raise _lie(space)
    return Branch(path, kind == "dict", {k: layout_of(part, (*path, k)) for k, part in zip(keys, parts, strict=True)})


def _leaf(space: Mapping[str, Any], path: tuple[Key, ...]) -> Leaf:
    bounds = []
    for name in ("low", "high"):
        bound = space.get(name)
        if not isinstance(bound, list) or not all(x is None or type(x) in (int, float) for x in bound):
            raise _lie(space)
        bounds.append([np.nan if x is None else float(x) for x in bound])
    size = len(bounds[0])
    shape = space.get("shape", [] if space["kind"] == "discrete" else [size])
    sound = isinstance(shape, list) and all(type(n) is int and n > 0 for n in shape)
    if not sound or not size or len(bounds[1]) != size or int(np.prod(shape, dtype=object)) != size:
        raise _lie(space)
    return Leaf(path, tuple(shape), *bounds, whole=space["kind"] != "box")


def _lie(space: Any) -> UserError:
    return UserError(f"the checkpoint cannot be right: its observations are {brief(space)}")


def called(path: tuple[Key, ...]) -> str:
    """A part of an observation, in words.

    >>> called(("arm", 2))
    "['arm'][2] of an observation"
    """
    return f"{''.join(f'[{key!r}]' for key in path)} of an observation" if path else "an observation"


def real_numbers(given: Any) -> np.ndarray | None:
    """Return real numbers as an array; None for anything else, such as a masked array with missing entries."""
    try:
        if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
            return None
        numbers = np.asarray(given)
    except Exception:  # ragged lists, and whatever a third-party object raises
        return None
    return numbers if numbers.dtype.kind in NUMBERS else None


def as_floats(numbers: np.ndarray) -> np.ndarray:
    """Numbers as float64; infinite where they are too large for that, as those of `longdouble` can be."""
    with np.errstate(over="ignore"):
        return numbers.astype(np.float64)
