"""A loaded agent answers as it did when it was saved, in every version of Python, NumPy and numba after it.

The files in data/answers were written by `python tests/test_answers.py`; write them again only with a new format, for
what is tested is that answers stay the same.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from support.uncompiled import run_uncompiled
from ucls import Agent

HERE = Path(__file__).parent / "data" / "answers"
TILES = {"features": "tiles", "tilings": 2, "tiles": 2, "table_size": 32}
CART = {**TILES, "low": [-2.4, -3, -0.21, -3], "high": [2.4, 3, 0.21, 3]}
RIVER = {"tilings": 4, "tiles": 4, "table_size": 32}
MADE = {
    "cart": ("CartPole-v1", "ucls-exact", CART, 600),
    "lake": ("FrozenLake-v1", "ucls-exact", {}, 600),
    "river": ("ucls/RiverSwim-v0", "ucls", RIVER, 600),
    "river-gv": ("ucls/RiverSwim-v0", "gv-ucb", RIVER, 600),
    "river-sarsa": ("ucls/RiverSwim-v0", "sarsa", RIVER, 600),
}


def observations(agent):
    """Some observations of its space, the same everywhere."""
    if agent.plan.features == "one_hot":
        return list(range(16))
    low, high = np.array(agent.plan.low), np.array(agent.plan.high)
    return [(low + (high - low) * np.roll(np.arange(1, len(low) + 1) * k % 16 / 16, k)).tolist() for k in range(12)]


def answers(agent):
    """What an agent says of them, by itself and in a batch."""
    asked = observations(agent)
    found = {
        "observations": asked,
        "actions": [agent.predict(each, deterministic=True)[0] for each in asked],
        "interval": [[part.tolist() for part in agent.value_estimates(each)] for each in asked],
    }
    mean, radius = agent.value_estimates(asked)
    assert np.stack([mean, radius], axis=1).tolist() == found["interval"]
    assert agent.predict(asked, deterministic=True)[0].tolist() == found["actions"]
    if hasattr(agent.learner.algorithm, "radius_terms"):
        found["uncertainty"] = [[part.tolist() for part in agent.uncertainty(each)] for each in asked]
    return found


def check(name):
    """Hold the answers of now against those of then: bit for bit, as a checkpoint has every number that they read."""
    assert answers(Agent.load(HERE / f"{name}.safetensors")) == json.loads((HERE / f"{name}.json").read_text())


@pytest.mark.parametrize("name", MADE)
def test_a_loaded_agent_answers_as_it_did(name):
    check(name)


def test_so_does_one_whose_kernels_are_not_compiled():
    run_uncompiled("from test_answers import MADE, check\nfor name in MADE:\n    check(name)")


if __name__ == "__main__":
    HERE.mkdir(parents=True, exist_ok=True)
    for name, (env, algorithm, settings, steps) in MADE.items():
        agent = Agent(env, algorithm, seed=7, **settings).learn(steps)
        agent.save(HERE / f"{name}.safetensors")
        (HERE / f"{name}.card.md").unlink()
        (HERE / f"{name}.json").write_text(json.dumps(answers(agent)) + "\n")
