"""Damage to the bytes of a file, as every part of the fuzzing uses it; `rng` decides where and how much."""

import random

PAGE = 4096


def flip(rng: random.Random, content: bytes) -> bytes:
    """Change single bits."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 8, 64)) if content else 0):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def overwrite(rng: random.Random, content: bytes) -> bytes:
    """Replace a stretch by random bytes."""
    start, size = rng.randrange(len(content) + 1), rng.choice((1, 4, 16, 100, 1000))
    return content[:start] + rng.randbytes(len(content[start : start + size])) + content[start + size :]


def zero(rng: random.Random, content: bytes) -> bytes:
    """Replace a page by zeros."""
    start = rng.randrange(max(1, len(content) // PAGE)) * PAGE
    return content[:start] + bytes(len(content[start : start + PAGE])) + content[start + PAGE :]


def cut(rng: random.Random, content: bytes) -> bytes:
    """Lose the end."""
    return content[: rng.choice((0, 1, 8, 100, PAGE, *(rng.randrange(len(content) + 1) for _ in range(4))))]


def append(rng: random.Random, content: bytes) -> bytes:
    """Add random bytes."""
    return content + rng.randbytes(rng.choice((1, 100, PAGE)))


def garbage(rng: random.Random, content: bytes) -> bytes:
    """Something else altogether."""
    return rng.randbytes(rng.choice((1, 100, 5000)))


ALL = (flip, flip, flip, overwrite, zero, cut, append, garbage)
