"""Tasks that cannot be tuned for: sizes, maps, orders of actions and noise are drawn from the entry's own code.

The seed is a hash of the digest of the code and of the benchmark's version. Whoever changes the code to do better gets
other tasks, and everybody can check that a file has the tasks that belong to its digest.
"""

import hashlib

import numpy as np

from ucls.benchmark.tasks import CONTINUING, DEEP, PLACES, TABLE, VERSION, Task
from ucls.benchmark.tasks import CONTINUOUS as SMOOTH


def seed_of(code: str, version: int = VERSION) -> int:
    """The seed of the tasks for a digest of code.

    >>> seed_of("abc") == seed_of("abc"), seed_of("abc") == seed_of("abd")
    (True, False)
    """
    return int(hashlib.sha256(f"{version} {code}".encode()).hexdigest()[:15], 16)


def generated(code: str) -> tuple[Task, ...]:
    """The tasks for a digest of code; all have a scale that is computed in seconds."""
    rng = np.random.default_rng(seed_of(code))

    def number(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    def part(low: float, high: float) -> float:
        return round(float(rng.uniform(low, high)), 3)

    def seed() -> int:
        return number(0, 2**31)

    size, sea, noisy = number(8, 24), "ucls/DeepSea-v0", {"stochastic": True}
    chain = {"size": number(6, 20), "slip": part(0.0, 0.3), "bait": part(0.01, 0.2), "mapping_seed": seed()}
    grid = {"size": number(5, 8), "keys": number(1, 3), "slip": part(0.0, 0.2), "mapping_seed": seed()}
    grid["time_limit"] = 10 * grid["size"]
    small, large = ({"size": number(*n), "map_seed": seed(), "order_seed": seed()} for n in ((4, 5), (6, 8)))
    table = {"size": number(5, 20), "probabilities": ("strehl_littman", "osband")[number(0, 1)]}
    swim = {"noise_std": part(0.0, 0.03), "probabilities": ("strehl_littman", "osband")[number(0, 1)]}
    return (
        Task("deep-sea", DEEP, sea, {"size": size, "mapping_seed": seed()}, 100 * size * size),
        Task(
            "noisy-deep-sea", DEEP, sea, {"size": number(8, 12), "mapping_seed": seed(), **noisy}, 25_000, episodes=200
        ),
        Task("trap-chain", DEEP, "ucls/TrapChain-v0", chain, 20_000),
        Task("key-grid", DEEP, "ucls/KeyGrid-v0", grid, 30_000),
        Task("tabular-river-swim", TABLE, "ucls/TabularRiverSwim-v0", table, 20_000, per=CONTINUING),
        Task("small-lake", TABLE, f"{PLACES}:lake", small, 20_000, episodes=200),
        Task("large-lake", TABLE, f"{PLACES}:lake", large, 50_000, episodes=200),
        Task("cliff-walking", TABLE, f"{PLACES}:reordered", {"id": "CliffWalking-v1", "order_seed": seed()}, 20_000),
        Task("river-swim", SMOOTH, "ucls/RiverSwim-v0", swim, 20_000, per=CONTINUING),
        Task("cart-pole", SMOOTH, f"{PLACES}:reordered", {"id": "CartPole-v1", "order_seed": seed()}, 20_000),
    )
