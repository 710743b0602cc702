"""Corrupted checkpoints: one mutant per seed, loaded by every function that reads a checkpoint."""

import functools
import json
import os
import random
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from faults.torture.damage import cut, flip
from ucls import Agent, UserError
from ucls.algorithms import ALGORITHMS, algorithm_module
from ucls.core.run import Run, make_run, suits_env
from ucls.core.saving import checkpoint

AGENTS = (*ALGORITHMS, "my_agent")  # the last is outside the package, in examples/
STEPS = 200
TILES = {"tilings": 3, "tiles": 4, "table_size": 16}
INTEGERS = (-(2**63), -(2**31), -1000, -2, -1, 0, 1, 2, 3, 63, 64, 65, 1000, 2**31, 2**32, 2**53, 2**62, 2**63 - 1)
REALS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-320, 0.0, -0.0, -1.0, 2.0, 1e18)
WORDS: tuple[Any, ...] = (
    *(None, True, False, "", "x", "nan", "ucls", "../..", "os:path", "1e400", [], {}, [[]], [None], {"a": 1}, -1, 0, 1),
    *(2, 3.5, 10**9, 10**12, 2**63, 10**30, 1e300, -1e300, float("nan"), float("inf"), "float32", "one_hot", "scaled"),
    *("tiles", "sarsa", "rlsvi", "dgpq", "ucls/RiverSwim-v0", "ucls/MountainCar-v0", "CartPole-v1", [0.0], [1e308]),
)


class Base(NamedTuple):
    """A sound checkpoint, to be spoilt."""

    about: dict[str, Any]
    arrays: dict[str, np.ndarray]


@functools.cache
def bases(agents: tuple[str, ...] = AGENTS) -> tuple[Base, ...]:
    """Sound checkpoints of agents, on tiles, one-hot and scaled features; also compiles what they need."""
    return tuple(base for agent in agents for base in _bases_of(agent))


def _bases_of(agent: str) -> Iterator[Base]:
    chosen: list[tuple[str, str | None, dict[str, Any]]] = [("ucls/OneState-v0", None, {})]
    if agent != "dgpq" and suits_env(agent, "ucls/RiverSwim-v0"):
        chosen.append(("ucls/RiverSwim-v0", "tiles", TILES))
    if agent == "ucls":
        chosen.append(("ucls/PuddleWorld-v0", "scaled", {"time_limit": 50}))
    if agent == "dgpq":
        chosen.append(("ucls/PuddleWorld-v0", None, {"time_limit": 50}))
    for env, features, settings in chosen:
        run = make_run(env, agent, features=features, settings=settings, seed=1)
        run.advance(STEPS)
        yield Base(run.about(), run.checkpoint())


def prepare(agents: Iterable[str] = AGENTS) -> Callable[[int], str]:
    """Compile everything once, and return `attempt` for some agents."""
    found = bases(tuple(agents))
    for base in found:
        _try(checkpoint.to_bytes(base.arrays, base.about), given(base))
    return lambda seed: attempt(seed, tuple(agents))


def attempt(seed: int, agents: tuple[str, ...] = AGENTS) -> str:
    """Make the mutant of a seed and hand it in everywhere: "refused", or "fine" if some door took it."""
    base, _, blob = mutant(seed, agents)
    return _try(blob, given(base))


def given(base: Base) -> Any:
    """The module that whoever loads a checkpoint must give, if its algorithm is not one of ours."""
    agent = base.about["plan"]["agent"]
    return None if agent in ALGORITHMS else algorithm_module(agent)


def mutant(seed: int, agents: tuple[str, ...] = AGENTS) -> tuple[Base, str, bytes]:
    """The checkpoint of a seed: made from what, what was done to it, and its bytes."""
    rng = random.Random(seed)
    base = rng.choice(bases(agents))
    about = json.loads(json.dumps(base.about))
    arrays = {name: array.copy() for name, array in base.arrays.items()}
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(OF_CONTENT)
        done.append(change.__name__)
        change(rng, about, arrays)
    text = json.dumps({"format": 1, **about})
    if rng.random() < 0.1:
        done.append("text")
        text = _other_text(rng, text)
    blob = _bytes(arrays, text)
    if rng.random() < 0.2:
        change = rng.choice(OF_BYTES)
        done.append(change.__name__)
        blob = change(rng, blob)
    return base, ", ".join(done), blob


def _bytes(arrays: dict[str, np.ndarray], text: str) -> bytes:
    from safetensors.numpy import save

    return save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, {"ucls": text})


def integer(rng: random.Random, about: Any, arrays: Any) -> None:
    """One whole number becomes another."""
    name = rng.choice([name for name, array in arrays.items() if array.dtype.kind in "iu" and array.size])
    flat = arrays[name].reshape(-1)
    at = rng.randrange(len(flat)) if rng.random() < 0.5 else rng.randrange(min(8, len(flat)))
    limits = np.iinfo(flat.dtype)
    wanted = rng.choice((*INTEGERS, int(flat[at]) + 1, int(flat[at]) - 1, rng.randrange(200), len(flat)))
    flat[at] = min(max(wanted, limits.min), limits.max)


def integers(rng: random.Random, about: Any, arrays: Any) -> None:
    """All whole numbers of an array become others."""
    name = rng.choice([name for name, array in arrays.items() if array.dtype.kind in "iu" and array.size])
    array = arrays[name]
    limits = np.iinfo(array.dtype)
    value = min(max(rng.choice(INTEGERS), limits.min), limits.max)
    draw = np.random.default_rng(rng.randrange(2**32))
    arrays[name] = rng.choice(
        (
            lambda: np.full_like(array, value),
            lambda: array[::-1].copy(),
            lambda: draw.permutation(array.reshape(-1)).reshape(array.shape),
            lambda: draw.integers(0, max(1, array.size), array.shape).astype(array.dtype),
        )
    )()


def real(rng: random.Random, about: Any, arrays: Any) -> None:
    """One number with a point becomes another, or all of its array."""
    name = rng.choice([name for name, array in arrays.items() if array.dtype.kind == "f" and array.size])
    flat = arrays[name].reshape(-1)
    at = slice(None) if rng.random() < 0.2 else rng.randrange(len(flat))
    with np.errstate(over="ignore"):
        flat[at] = rng.choice(REALS)


def shape(rng: random.Random, about: Any, arrays: Any) -> None:
    """An array has another shape."""
    name = rng.choice(list(arrays))
    a = arrays[name]
    arrays[name] = rng.choice(
        (
            lambda: a[:0],
            lambda: a[:-1],
            lambda: a[None],
            lambda: np.concatenate([a, a]),
            lambda: np.concatenate([a, a[-1:]]),
            lambda: a.reshape(-1),
            lambda: np.array(a.reshape(-1)[0] if a.size else 0),
            lambda: a.T,
            lambda: np.repeat(a, 2, axis=-1),
        )
    )()


def dtype(rng: random.Random, about: Any, arrays: Any) -> None:
    """An array has another type."""
    name = rng.choice(list(arrays))
    other = rng.choice(("float32", "float64", "float16", "int64", "int32", "uint8", "uint64", "bool"))
    with np.errstate(all="ignore"):
        arrays[name] = arrays[name].astype(other)


def lack(rng: random.Random, about: Any, arrays: Any) -> None:
    """An array is missing."""
    del arrays[rng.choice(list(arrays))]


def extra(rng: random.Random, about: Any, arrays: Any) -> None:
    """There is one array more, or two have changed their names."""
    one, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    if rng.random() < 0.5:
        arrays[f"{one}.more"] = arrays[other]
    else:
        arrays[one], arrays[other] = arrays[other], arrays[one]


def word(rng: random.Random, about: Any, arrays: Any) -> None:
    """Something that the checkpoint says of itself becomes something else, or is missing, or there is more."""
    places = list(_places(about))
    inside, key = rng.choice(places)
    how = rng.random()
    if how < 0.1:
        inside[f"{key}_more"] = rng.choice(WORDS)
    elif how < 0.25:
        del inside[key]
    else:
        inside[key] = rng.choice(WORDS)


def _places(about: Any) -> Iterator[tuple[dict[str, Any], str]]:
    for key, value in about.items():
        yield about, key
        if isinstance(value, dict):
            yield from _places(value)


def _other_text(rng: random.Random, text: str) -> str:
    return rng.choice(
        (
            lambda: "",
            lambda: text[: rng.randrange(len(text))],
            lambda: "[" * rng.choice((10, 100_000)),
            lambda: '{"a":' * 50_000,
            lambda: rng.choice(("null", "1", "[]", '"x"', "{}", "NaN", "9" * 5000)),
            lambda: text.replace('"format": 1', f'"format": {json.dumps(rng.choice(WORDS))}'),
            lambda: text.replace('"format": 1, ', ""),
        )
    )()


def header(rng: random.Random, blob: bytes) -> bytes:
    """The header says something else."""
    length = int.from_bytes(blob[:8], "little")
    spoilt = bytearray(blob)
    if rng.random() < 0.3:
        spoilt[:8] = rng.choice((0, 1, length - 1, length + 1, 2**40, 2**64 - 1)).to_bytes(8, "little")
    elif rng.random() < 0.5:
        old, new = rng.choice(
            ((b"I64", b"F64"), (b"F64", b"I64"), (b"F64", b"U64"), (b"I64", b"F16"), (b"U64", b"XXX"))
        )
        spoilt[8 : 8 + length] = bytes(spoilt[8 : 8 + length]).replace(old, new, rng.choice((1, 2, 99)))
    else:
        for _ in range(rng.choice((1, 3))):
            spoilt[8 + rng.randrange(length)] = rng.choice(b'0123456789"[]{},: aF')
    return bytes(spoilt)


OF_CONTENT = (integer, integer, integer, integers, real, real, shape, dtype, lack, extra, word, word)
OF_BYTES = (cut, flip, header)


def _try(blob: bytes, algorithm: Any) -> str:
    """Load it as a run and as an agent, and use both."""
    handle, name = tempfile.mkstemp(suffix=".safetensors", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    os.close(handle)
    path, taken = Path(name), 0
    try:
        path.write_bytes(blob)
        for use in (_use_run, _use_agent):
            with warnings.catch_warnings(action="ignore"):
                try:
                    use(path, algorithm)
                    taken += 1
                except UserError as error:
                    if "\n" in str(error):
                        raise AssertionError(f"more than one line: {error}") from None
    finally:
        path.unlink()
    return "fine" if taken else "refused"


def _use_run(path: Path, algorithm: Any) -> None:
    run = Run.load(path, algorithm)
    run.learner.interval(run.s)
    run.advance(20)
    if not run.diverged:
        run.checkpoint()


def _use_agent(path: Path, algorithm: Any) -> None:
    agent = Agent.load(path, algorithm=algorithm)
    observation = agent.learner.plan.low
    agent.predict(observation)
    agent.learn(5)
    if not agent.diverged:
        agent.value_estimates(observation)
