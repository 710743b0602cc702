"""Read and validate the TOML file of a study; errors name the line. The only import of pydantic and tomllib."""

import bisect
import math
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ucls.errors import UserError, unknown
from ucls.study.declaration.run_spec import STEPS
from ucls.study.declaration.sweep import CELLS

BYTES = 1 << 20  # maximum size of a file
SHORTEST, LONGEST = 0.1, 1e8  # seconds of a time limit
SHOWN = 200  # characters of a message
GROUPS = ("agent", "features", "env")  # of settings


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it contains unprintable characters")
    return text


def _importable(name: str) -> str:
    if not re.fullmatch(r"[\w-]+(\.[\w-]+)*", name):
        raise ValueError("give a name from `ucls algorithms`, or the import path of a module")
    return name


Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_printable)]
Seeds = Annotated[str, Field(max_length=100_000)] | int | Annotated[list[int], Field(max_length=CELLS)]
Steps = Annotated[int, Field(ge=1, le=STEPS)]
TimeLimit = Annotated[float, Field(ge=SHORTEST, le=LONGEST)]
Algorithm = Annotated[Name, AfterValidator(_importable)]
Bounds = Annotated[list[float], Field(min_length=1, max_length=10_000)]


def _settings(settings: dict[str, Any]) -> dict[str, Any]:
    settings = _flat(settings)
    for name, value in settings.items():
        kind = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
        for each in kind:
            if not isinstance(each, str | int | float) or (isinstance(each, str) and len(each) > SHOWN):
                raise ValueError(
                    f"a setting must be a number, a short string, true or false, or a list of these: {name!r}"
                )
            if isinstance(each, float) and not math.isfinite(each):
                raise ValueError(f"setting {name!r} cannot be {each}")
            if isinstance(each, int) and abs(each) >= 2**63:
                raise ValueError(f"setting {name!r} is too large")
    return settings


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by their full names: `env.size = 4` in TOML is a table `env` with a `size`."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        inside = isinstance(value, dict) and name in GROUPS
        for full, each in {f"{name}.{key}": one for key, one in value.items()}.items() if inside else [(name, value)]:
            if full in flat:
                raise ValueError(f"setting {full!r} is given twice")
            flat[full] = each
    return flat


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class RunTable(_Strict):
    """A `[[run]]`."""

    algorithm: Annotated[  # `agent` in the definitions of earlier stores
        Algorithm | Annotated[list[Algorithm], Field(min_length=1, max_length=1000)],
        Field(validation_alias=AliasChoices("algorithm", "agent")),
    ]
    env: Name | Annotated[list[Name], Field(min_length=1, max_length=1000)]
    set: Annotated[dict[Name, Any], AfterValidator(_settings)] = {}
    label: Name | None = None
    steps: Steps | None = None
    seeds: Seeds | None = None
    features: Name | None = None
    dtype: Name = "float64"
    low: Bounds | None = None
    high: Bounds | None = None
    discount: Annotated[float, Field(ge=0, le=1)] | None = None
    resolution: Steps | None = None
    probe: Annotated[str, Field(max_length=200), AfterValidator(_printable)] = ""
    keep: bool = False


class SweepTable(_Strict):
    """The `[sweep]`."""

    runs: int = Field(3, ge=1, le=CELLS)
    size: int = Field(0, ge=0, le=CELLS)
    metric: Name | None = None
    sampler: Literal["random", "optuna"] = "random"


class StudyTable(_Strict):
    """The whole file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$", max_length=200)
    steps: Steps = 50_000
    seeds: Seeds = "0-29"
    baseline: str | None = Field(None, max_length=1000)
    metric: Name | None = None
    time_limit: TimeLimit | None = None
    sweep: SweepTable | None = None
    run: list[RunTable] = Field(min_length=1)


def read_text(path: Path) -> str:
    """Read a file if it is a regular one and not too large; never block."""
    try:
        if not path.is_file():
            raise UserError(f"cannot read {path}: there is no such file")
        if path.stat().st_size > BYTES:
            raise UserError(f"cannot read {path}: a study file has at most {BYTES:,} bytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {path}: not UTF-8 text at byte {error.start}") from None
    except (OSError, ValueError) as error:
        raise error if isinstance(error, UserError) else UserError(f"cannot read {path}: {error}"[:400]) from None


def parse_table(text: str, source: str) -> dict[str, Any]:
    """Parse TOML text."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{source} is not TOML: {_short(str(error))}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        problem = "a number has too many digits" if "digits" in str(error) else f"a value cannot be used: {error}"
        problem = "lists or tables are nested too deeply" if isinstance(error, RecursionError) else _short(problem)
        raise UserError(f"{source}, line {_failing(text)}: {problem}") from None


def check_table(table: dict[str, Any], text: str, source: str) -> StudyTable:
    """Validate every key of a table."""
    try:
        return StudyTable.model_validate(table)
    except (ValidationError, RecursionError) as error:
        if isinstance(error, RecursionError):
            raise UserError(f"{source}: lists or tables are nested too deeply") from None
        raise UserError(_complaint(error, table, text, source)) from None


def _complaint(error: ValidationError, table: dict[str, Any], text: str, source: str) -> str:
    """Return the first error in one line with its place."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = _known(first["loc"], table)
    key = next((part for part in reversed(where) if isinstance(part, str)), "")
    if first["type"] == "extra_forbidden":
        models: dict[str, type[BaseModel]] = {"run": RunTable, "sweep": SweepTable}
        model = models.get(str(where[0]), StudyTable) if len(where) > 1 else StudyTable
        problem = str(unknown("key", _short(key), model.model_fields))
    elif first["type"] == "missing":
        problem = f"the key {str(first['loc'][-1])!r} is missing"
    else:
        table_wanted = first["type"] in ("dict_type", "model_type")
        message = "Give a table" if table_wanted else first["msg"].removeprefix("Value error, ")
        problem = f"{_short(key)!r} is invalid: {message[0].lower()}{message[1:]}"
        for name in re.findall(r"setting '([^']*)'|: '([^']*)'$", message) if key == "set" else []:
            where = (*where, name[0] or name[1], *(name[0] or name[1]).split("."))
    return f"{source}, line {line_of(text, where)}: {_short(problem, 400)}"


def _known(loc: tuple[Any, ...], table: Any) -> tuple[Any, ...]:
    """Return the part of a place that is in the table; pydantic adds the types that it tried."""
    known: list[Any] = []
    for part in loc:
        try:
            table = table[part]
        except (KeyError, IndexError, TypeError):
            continue
        known.append(part)
    return tuple(known)


# What counts when a text is cut into statements: strings and comments hide brackets and ends of lines.
TOKEN = re.compile(
    r'"{3}(?:\\.|[^\\])*?"{3}|\'{3}.*?\'{3}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n', re.DOTALL
)


def line_of(text: str, where: tuple[Any, ...]) -> int:
    """Return the line of a key, `("run", 1, "algorithm")` for one in the second `[[run]]`; of its table, if it is
    missing.

    It is the first statement with which the text, read up to there, has the key: so neither strings nor comments nor
    the same key elsewhere mislead.
    """
    whole = tomllib.loads(text)
    where = _known(where, whole)
    if not where:
        return 1
    start, end = _first(text, lambda part: len(_known(where, tomllib.loads(part))) == len(where))
    keys = [re.escape(part) for part in where if isinstance(part, str)]
    spot = re.search(rf"(?:^|[\s{{,.\"'])({keys[-1]})[\"']?\s*=", text[start:end])
    return text.count("\n", 0, start + (spot.start(1) if spot else 0)) + 1


def _failing(text: str) -> int:
    """Return the line of the first statement that makes the parser fail in another way than with an error."""

    def fails(part: str) -> bool:
        try:
            tomllib.loads(part)
        except tomllib.TOMLDecodeError:
            return False
        except (ValueError, RecursionError, MemoryError):
            return True
        return False

    return text.count("\n", 0, _first(text, fails)[0]) + 1


def _first(text: str, holds: Callable[[str], bool]) -> tuple[int, int]:
    """Return the span of the first statement after which a condition holds for the text up to there."""
    ends, depth = [0], 0
    for token in TOKEN.finditer(text):
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
        if token[0] == "\n" and depth <= 0:
            ends.append(token.end())
    ends.append(len(text))
    k = bisect.bisect_left(range(1, len(ends) - 1), True, key=lambda k: holds(text[: ends[k]])) + 1
    return ends[k - 1], ends[k]


def _short(text: str, length: int = SHOWN) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 3] + "..."
