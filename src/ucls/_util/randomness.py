"""Random generators: one seed per run, from which those of the environment, the learner and measurements are
spawned."""

from typing import NamedTuple

import numpy as np

from ucls.errors import UserError


class Seeds(NamedTuple):
    """The seeds that one run's seed is spawned into; `world` is a number because `Env.reset` takes one."""

    world: int
    learner: int
    onlooker: int


def spawn(seed: int) -> Seeds:
    """Spawn the seeds of a run: the same seed gives the same environment, whatever the learner draws."""
    return Seeds(*(int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(seed).spawn(3)))


def drawn() -> int:
    """A random seed, short enough to be read and typed."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def evaluation_seeds(seed: int) -> Seeds:
    """Spawn the seeds of an evaluation, which differ from those of every run."""
    return spawn(int(np.random.SeedSequence(seed, spawn_key=(3,)).generate_state(1, np.uint64)[0]))


def scout_seed(seed: int) -> int:
    """Return the seed of what is drawn before a run begins, such as observation bounds; it does not change the run."""
    return int(np.random.SeedSequence(seed, spawn_key=(4,)).generate_state(1, np.uint64)[0])


def generator(seed: int) -> np.random.Generator:
    """Return the generator that Gymnasium would create for a seed."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


def to_words(rng: np.random.Generator) -> np.ndarray:
    """The state of a PCG64 generator as six 64-bit words."""
    state = rng.bit_generator.state
    inner, low = state["state"], 2**64 - 1
    words = [inner["state"] >> 64, inner["state"] & low, inner["inc"] >> 64, inner["inc"] & low]
    return np.array([*words, state["has_uint32"], state["uinteger"]], np.uint64)


def from_words(rng: np.random.Generator, words: np.ndarray | None) -> None:
    """Restore the state of a PCG64 generator; invalid words change nothing."""
    check_words(words)
    assert words is not None
    high_state, low_state, high_inc, low_inc, has_uint32, uinteger = (int(word) for word in words)
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": high_state << 64 | low_state, "inc": high_inc << 64 | low_inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }


def check_words(words: np.ndarray | None) -> None:
    """Refuse words that `to_words` cannot have returned."""
    if words is None or words.shape != (6,) or words.dtype != np.uint64:
        raise UserError("the checkpoint does not fit: the state of a generator is missing or of another size or type")
    if words[3] % 2 == 0 or words[4] > 1 or words[5] >= 2**32:
        raise UserError("the checkpoint cannot be right: the state of a generator is invalid")
