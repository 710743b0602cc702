"""A hash of integers that is the same on every machine, compiled or not."""

from ucls.kernels.compilation.jit import exact


@exact
def scramble(x):
    """Mix the bits of a number below 2^32; no product exceeds 63 bits, so Python's numbers and machine words agree."""
    for _ in range(2):
        x = (((x >> 16) ^ x) * 0x45D9F3B) & 0xFFFFFFFF
    return (x >> 16) ^ x
