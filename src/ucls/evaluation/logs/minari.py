"""Minari datasets as tables (`pip install ucls[minari]`): by their id, or as what `minari.load_dataset` returns."""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucls.errors import UserError, printable


def is_minari(source: Any) -> bool:
    """Whether an object is a Minari dataset."""
    return hasattr(source, "iterate_episodes")


def minari_table(source: Any) -> dict[str, np.ndarray]:
    """The steps of a dataset, one row each, with the observation before and after the step."""
    episodes = list((_loaded(source) if isinstance(source, str) else source).iterate_episodes())
    if not episodes:
        raise UserError("the Minari dataset has no episodes")
    lengths = [len(episode.rewards) for episode in episodes]
    flat = [_flat(episode.observations) for episode in episodes]
    before, after = np.concatenate([each[:-1] for each in flat]), np.concatenate([each[1:] for each in flat])
    actions = np.concatenate([np.asarray(episode.actions) for episode in episodes])
    if actions.ndim > 1 and actions[0].size > 1:
        raise UserError(f"the actions are arrays of shape {actions.shape[1:]}: only discrete actions can be compared")
    joined = {
        name: np.concatenate([np.asarray(getattr(episode, many), np.float64) for episode in episodes])
        for name, many in (("reward", "rewards"), ("terminated", "terminations"), ("truncated", "truncations"))
    }
    return {
        "episode": np.repeat(np.arange(len(episodes), dtype=np.float64), lengths),
        **{f"state_{i}": before[:, i] for i in range(before.shape[1])},
        **{f"state_{i}_next": after[:, i] for i in range(after.shape[1])},
        "action": actions.ravel().astype(np.float64),
        **joined,
    }


def _loaded(name: str) -> Any:
    try:
        minari = importlib.import_module("minari")
    except ImportError:
        raise UserError("Minari datasets need minari: pip install 'ucls[minari]'") from None
    try:
        return minari.load_dataset(name)
    except Exception as error:  # a library of others: whatever it raises is one line
        raise UserError(f"Minari cannot load {name!r}: {printable(' '.join(str(error).split())[:150])}") from None


def _flat(observations: Any) -> np.ndarray:
    """Observations as one row of numbers each; the parts of a mapping or tuple one after the other."""
    if isinstance(observations, Mapping | tuple):
        parts = observations.values() if isinstance(observations, Mapping) else observations
        return np.hstack([_flat(part) for part in parts])
    array = np.asarray(observations, np.float64)
    return array.reshape(len(array), -1)
