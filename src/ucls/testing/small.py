"""Small runs in every environment, on which requirements are checked quickly."""

from types import ModuleType
from typing import Any

from ucls.algorithms import DEFAULT, algorithm_module
from ucls.core.run import Run, make_run
from ucls.envs import make_builtin

# River Swim's and Mountain Car's tables of tiles overflow on purpose.
SMALL: dict[str, dict[str, Any]] = {
    "ucls/RiverSwim-v0": {"tilings": 4, "tiles": 4, "table_size": 12},
    "ucls/PuddleWorld-v0": {"tilings": 3, "tiles": 3, "table_size": 48},
    "ucls/SparseMountainCar-v0": {"tilings": 4, "tiles": 4, "table_size": 40, "time_limit": 150},
    "ucls/MountainCar-v0": {"tilings": 4, "tiles": 4, "table_size": 64, "time_limit": 150},
    "ucls/DeepSea-v0": {"size": 4, "stochastic": True},
}

NETWORK = {"hidden": 8, "batch": 8}


def small_settings(env: str) -> dict[str, Any]:
    """Settings that make a built-in environment and its features small."""
    tiles = make_builtin(env).features[0] == "tiles"
    return SMALL.get(env, {"tilings": 3, "tiles": 3, "table_size": 48} if tiles else {})


def small_run(
    env: str, agent: str | ModuleType = DEFAULT, seed: int = 0, dtype: str = "float64", **settings: Any
) -> Run:
    """Return a run with small tilings, if the algorithm uses tiles, and with a small network, if it has one."""
    sizes, module = small_settings(env), algorithm_module(agent)
    if NETWORK.keys() <= set(module.Settings._fields):
        sizes = {**sizes, **NETWORK}
    if hasattr(module, "FEATURES"):
        sizes = {name: size for name, size in sizes.items() if name not in ("tilings", "tiles", "table_size")}
    return make_run(env, agent, seed=seed, settings={**sizes, **settings}, dtype=dtype)
