"""Names of columns: which ones of a log are not used, and which look like misspelled names of those that could be."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ucls.errors import UserError

REQUIRED = ("reward", "discount")
OPTIONAL = ("rho", "start")
KNOWN = (*REQUIRED, *OPTIONAL)
NEXT = "_next"
OTHER_NAMES = {  # that others have for what is known here
    "reward": ("r", "rewards"),
    "discount": ("gamma", "\N{GREEK SMALL LETTER GAMMA}"),
    "rho": (
        *("\N{GREEK SMALL LETTER RHO}", "ratio", "is_ratio", "iw", "is_weight", "importance", "importance_ratio"),
        *("importance_weight", "importance_sampling_ratio", "importance_sampling_weight", "likelihood_ratio"),
    ),
    "start": ("is_first", "is_start", "episode_start", "begins", "reset"),
}


def features(head: Sequence[str]) -> list[str]:
    """The columns that are features: each has a partner NAME_next."""
    present = set(head)
    return [name for name in head if name + NEXT in present and name not in KNOWN]


def unused(head: Iterable[str], used: Iterable[str], known: Sequence[str], kind: str) -> list[str]:
    """The names that nothing reads; refuse those that seem to be misspelled, because results would be wrong silently.

    >>> unused(["x", "x_next", "time"], ["x", "x_next"], ["reward", "rho"], "column")
    ['time']
    """
    head, used = dict.fromkeys(head), set(used)
    left = [name for name in head if name not in used]
    for name in left:
        meant = [word for word in known if plain(name) == plain(word) or (word not in head and _means(name, word))]
        if meant:
            raise UserError(f"the {kind} {name[:100]!r} is not used: rename it to {meant[0]!r}, or remove it")
    return left


def refuse_lone_partners(left: Sequence[str]) -> None:
    """Refuse unused columns of which one seems to be meant as another's NAME_next."""
    for name in left:
        if name.endswith(NEXT):
            stem = name[: -len(NEXT)]
            why = f"{stem!r} is not a feature, remove it" if stem in KNOWN else f"there is no column {stem[:100]!r}"
            raise UserError(f"the column {name[:100]!r} is not used: {why}")
    alone = {stem: name for name in left if (stem := plain(name))}
    for name in left:
        for partner in (alone[stem] for stem in _stems(plain(name)) if stem in alone):
            wanted = (partner + NEXT)[:100]
            raise UserError(f"the column {name[:100]!r} is not used: rename it to {wanted!r}, or remove it")


def _stems(name: str) -> Iterator[str]:
    """The names that a name could be the partner of, if its end (or its beginning) is a misspelled `next`.

    >>> list(_stems("statenxt")), list(_stems("nextstate"))
    (['state', 'stat'], ['state'])
    """
    yield from (name[:-n] for n in (3, 4, 5) if len(name) > n and is_near(name[-n:], "next"))
    if name.startswith("next"):
        yield name[4:]


@functools.lru_cache(maxsize=1024)
def plain(name: str) -> str:
    """A name without case, spaces and punctuation."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", name)).casefold()


def _means(name: str, word: str) -> bool:
    """Whether a name seems to be a misspelled word, or is what others call it.

    >>> [_means(name, "rho") for name in ("Rho", "importance ratio", "weight")]
    [True, True, False]
    """
    return is_near(name, word) or plain(name) in _other_names(word)


@functools.cache
def _other_names(word: str) -> frozenset[str]:
    return frozenset(plain(other) for other in OTHER_NAMES.get(word, ()))


def is_near(name: str, word: str) -> bool:
    """Whether one letter more, fewer or other, or two that changed places, make one of the other.

    >>> [is_near(name, "rho") for name in ("Rho", "rhos", "rh", "roh", "rh0", "row", "ro")]
    [True, True, True, True, True, False, True]
    """
    a, b = plain(name), plain(word)
    if abs(len(a) - len(b)) > 1 or not a:
        return False
    i = 0
    while i < min(len(a), len(b)) and a[i] == b[i]:
        i += 1
    rests = a[i + 1 :], b[i + 1 :], a[i:], b[i:]
    swapped = a[i + 1 : i + 2] + a[i : i + 1] + a[i + 2 :] == b[i:]
    return rests[0] == rests[1] or rests[0] == rests[3] or rests[2] == rests[1] or swapped
