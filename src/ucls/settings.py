"""Settings: declared once, as the annotated fields of a NamedTuple, and validated when they are given.

>>> from typing import Annotated
>>> class Settings(NamedTuple):
...     p: Annotated[float, POSITIVE, "confidence"] = 0.1
...     trace: Annotated[int, Choice("previous", "current"), "discount of the trace"] = 0
>>> resolve(Settings, {"p": "1", "trace": "current"})
Settings(p=1.0, trace=1)

Kernels get numbers only (a choice is the number of its name), always of the same type, so that nothing is compiled
twice because somebody wrote `1` for `1.0`.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, get_type_hints

from ucls.errors import UserError, unknown

T = TypeVar("T", bound=tuple[Any, ...])


@dataclass(frozen=True)
class Real:
    """A finite number, within limits if any are given; or the name of a `fact` of the environment."""

    at_least: float = -math.inf
    at_most: float = math.inf
    above: float = -math.inf
    below: float = math.inf
    fact: str = ""

    def read(self, value: object) -> float:
        number = float(value)  # pyright: ignore[reportArgumentType]
        if not math.isfinite(number) or not (self.at_least <= number <= self.at_most):
            raise ValueError
        if number <= self.above or number >= self.below:
            raise ValueError
        return number

    def show(self, value: Any) -> float:
        return float(value)

    def __str__(self) -> str:
        limits = [(self.above, "> "), (self.at_least, ">= "), (self.below, "< "), (self.at_most, "<= ")]
        words = " and ".join(["a number"] + [f"{sign}{limit:g}" for limit, sign in limits if math.isfinite(limit)])
        return f"{words}, or {self.fact}" if self.fact else words


@dataclass(frozen=True)
class Whole:
    """An integer, within limits; the default upper one is what a float and a machine word hold exactly."""

    at_least: int = 0
    at_most: int = 2**53

    def read(self, value: object) -> int:
        number = float(value)  # pyright: ignore[reportArgumentType]
        if not number.is_integer() or not self.at_least <= number <= self.at_most:
            raise ValueError
        return int(number)

    def show(self, value: Any) -> int:
        return int(value)

    def __str__(self) -> str:
        limit = f" and <= {self.at_most}" if self.at_most < 2**53 else ""
        return f"an integer >= {self.at_least}{limit}"


class Choice:
    """One of some names; kernels see its number."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def read(self, value: object) -> int:
        return self.names.index(str(value))

    def show(self, value: Any) -> str | bool:
        return self.names[value]

    def __str__(self) -> str:
        return "one of " + ", ".join(self.names)


class Flag(Choice):
    """True or false; kernels see 1 or 0."""

    def __init__(self) -> None:
        super().__init__("false", "true")

    def read(self, value: object) -> int:
        return self.names.index(str(value).lower())

    def show(self, value: Any) -> bool:
        return bool(value)

    def __str__(self) -> str:
        return "true or false"


class Known(Real):
    """A finite number, or the word `unknown`, which kernels see as NaN."""

    def read(self, value: object) -> float:
        return math.nan if value == "unknown" else super().read(value)

    def show(self, value: Any) -> Any:
        return "unknown" if math.isnan(value) else float(value)

    def __str__(self) -> str:
        return f"{super().__str__()}, or unknown"


@dataclass(frozen=True)
class Follows:
    """A default that is the value of another setting, or a fact of environment or features; `otherwise` if there is
    none."""

    name: str
    otherwise: float | str | None = None


POSITIVE = Real(above=0)
NOT_NEGATIVE = Real(at_least=0)
UNIT = Real(at_least=0, at_most=1)
OPEN_UNIT = Real(above=0, below=1)


class Setting(NamedTuple):
    """The declaration of one setting; `default` is a name in quotes if it follows another value."""

    field: str
    name: str
    check: Real | Whole | Choice
    default: Any
    follows: str | None
    otherwise: float | str | None
    doc: str


def describe(cls: type) -> list[Setting]:
    """The settings that a NamedTuple class declares, in order."""
    settings = []
    for field, hint in get_type_hints(cls, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        check = next((mark for mark in marks if isinstance(mark, Real | Whole | Choice)), None)
        if check is None:
            example = f'{field}: Annotated[float, UNIT, "what it is"] = 0.5'
            raise UserError(f"setting {field!r} does not declare its allowed values: declare it as in {example}")
        followed = next((mark for mark in marks if isinstance(mark, Follows)), None)
        follows, otherwise = (followed.name, followed.otherwise) if followed else (None, None)
        doc = next((mark for mark in marks if isinstance(mark, str)), "")
        defaults: dict[str, Any] = getattr(cls, "_field_defaults", {})
        if follows is None and field not in defaults:
            raise UserError(f"setting {field!r} has no default: declare one, or that it `Follows` another value")
        default = follows or check.show(defaults[field])
        settings.append(Setting(field, field.rstrip("_"), check, default, follows, otherwise, doc))
    return settings


def resolve(cls: type[T], given: Mapping[str, object] = {}, facts: Mapping[str, float] = {}) -> T:
    """Make a `cls` from the settings given by name, each checked; the rest take their defaults."""
    settings = describe(cls)
    for name in given:
        if name not in (known := [s.name for s in settings]):
            raise unknown("setting", name, known)
    values: dict[str, Any] = {}
    for s in settings:
        if s.name in given:
            values[s.field] = _read(s, _named(s, given[s.name], facts))
        elif s.follows is None:
            values[s.field] = _read(s, s.default)
    for s in settings:
        if s.field not in values:
            source = {**facts, **{name.rstrip("_"): value for name, value in values.items()}}
            value = source.get(s.follows or "", s.otherwise)
            if value is None:
                raise UserError(f"setting {s.name!r} has no default here: give one, {s.check}", s.name)
            values[s.field] = _read(s, value)
    return cls(**values)


def shown(settings: tuple[Any, ...]) -> dict[str, Any]:
    """Return settings as a user would write them: public names, choices by name.

    >>> from typing import Annotated
    >>> class Settings(NamedTuple):
    ...     lambda_: Annotated[float, UNIT] = 0.9
    >>> shown(Settings())
    {'lambda': 0.9}
    """
    return {s.name: s.check.show(getattr(settings, s.field)) for s in describe(type(settings))}


def parse(pairs: Iterable[str]) -> dict[str, Any]:
    """Read `name=value` words; those of a third-party environment are numbers, true, false or text.

    >>> parse(["p=0.1", "env.is_slippery=false"])
    {'p': '0.1', 'env.is_slippery': False}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise UserError(f"cannot read the setting {pair!r}: write it as name=value")
        if name in found:
            raise UserError(f"setting {name!r} is given twice")
        found[name] = scalar(value) if name.startswith("env.") else value
    return found


def scalar(text: str) -> bool | int | float | str:
    """Read a value as in TOML, or true and false as in Python; text needs no quotes.

    >>> [scalar(word) for word in ("True", "4", "-0.5", "1e-3", "8x8", '"4"')]
    [True, 4, -0.5, 0.001, '8x8', '4']
    """
    if text in ("true", "false", "True", "False"):
        return text.lower() == "true"
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?\d{1,300}(\.\d{1,300})?([eE][+-]?\d{1,3})?", text):
        return float(text)
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def word_of(value: object) -> str:
    """Return a value as a user would write it: `scalar` reads it.

    >>> [word_of(value) for value in (False, 4, 0.5, "8x8", "4")]
    ['false', '4', '0.5', '8x8', '"4"']
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) and scalar(value) != value else str(value)


def divided(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of others, and those of the environment by their own names.

    >>> divided({"p": 0.1, "env.is_slippery": False})
    ({'p': 0.1}, {'is_slippery': False})
    """
    own = {name: value for name, value in settings.items() if not name.startswith("env.")}
    return own, {name.removeprefix("env."): value for name, value in settings.items() if name not in own}


def listed(settings: Mapping[str, object], between: str = ", ") -> str:
    """Return settings as `name=value` words, which `parse` reads.

    >>> listed({"p": 0.1, "tilings": 4, "env.is_slippery": False})
    'p=0.1, tilings=4, env.is_slippery=false'
    """
    words = {name: str(value).lower() if isinstance(value, bool) else value for name, value in settings.items()}
    return between.join(f"{name}={word}" for name, word in words.items())


def distribute(given: Mapping[str, object], groups: Mapping[str, type]) -> dict[str, dict[str, object]]:
    """Give each setting to the group that declares it; `group.name` resolves ambiguous names.

    >>> from typing import Annotated
    >>> class Settings(NamedTuple):
    ...     p: Annotated[float, POSITIVE] = 0.1
    >>> distribute({"p": 1, "agent.p": 2}, {"agent": Settings})["agent"]
    {'p': 2}
    """
    shares: dict[str, dict[str, object]] = {group: {} for group in groups}
    names = {group: [s.name for s in describe(cls)] for group, cls in groups.items()}
    for full, value in given.items():
        prefix, dot, rest = full.partition(".")
        wanted = {prefix: names[prefix]} if dot and prefix in names else names
        name = rest if wanted is not names else full
        owners = [group for group, known in wanted.items() if name in known]
        if not owners:
            others = [] if "env" in groups else ["env.NAME"]
            raise unknown("setting", full, [name for known in wanted.values() for name in known] + others)
        if len(owners) > 1:
            raise UserError(f"setting {name!r} is ambiguous: write {' or '.join(f'{g}.{name}' for g in owners)}", name)
        shares[owners[0]][name] = value
    return shares


def _named(setting: Setting, value: object, facts: Mapping[str, float]) -> object:
    """The fact that a value names, or the value itself."""
    if not isinstance(value, str) or not value or value != getattr(setting.check, "fact", ""):
        return value
    if value not in facts:
        raise UserError(
            f"setting {setting.name!r} cannot be {value} here, where it is unknown: give a number", setting.name
        )
    return facts[value]


def _read(setting: Setting, value: object) -> Any:
    try:
        if isinstance(value, bool) and not isinstance(setting.check, Flag):
            raise ValueError
        return setting.check.read(value)
    except (ValueError, TypeError, OverflowError):
        text = " ".join(repr(value).split())
        given = text if len(text) <= 60 else f"{text[:57]}..."
        raise UserError(f"setting {setting.name!r} cannot be {given}: give {setting.check}", setting.name) from None
