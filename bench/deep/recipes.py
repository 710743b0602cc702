"""The settings of DQN, QR-DQN and PPO in RL Baselines3 Zoo, and which of them an environment gets.

The numbers are those of hyperparams/dqn.yml, qrdqn.yml and ppo.yml (DLR-RM/rl-baselines3-zoo); what is not named there
is the default of Stable-Baselines3. LunarLander-v3 gets those of v2. PPO's settings of Pendulum have state-dependent
noise, which is for continuous actions and is left out.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Recipe(NamedTuple):
    """Settings of an agent, and the number of steps and of parallel environments for which they were tuned.

    `normalize` scales observations and rewards by their running moments. `falling` names settings that fall linearly
    to 0 during training.
    """

    steps: int
    settings: Mapping[str, Any]
    envs: int = 1
    normalize: bool = False
    falling: tuple[str, ...] = ()


WIDE = {"net_arch": [256, 256]}
CART_POLE = {
    **{"learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 100_000, "learning_starts": 1000, "gamma": 0.99},
    **{"target_update_interval": 10, "train_freq": 256, "gradient_steps": 128},
    **{"exploration_fraction": 0.16, "exploration_final_eps": 0.04, "policy_kwargs": WIDE},
}
CAR = {
    **{"learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "learning_starts": 1000, "gamma": 0.98},
    **{"target_update_interval": 600, "train_freq": 16, "gradient_steps": 8},
    **{"exploration_fraction": 0.2, "exploration_final_eps": 0.07, "policy_kwargs": WIDE},
}
LANDER = {
    **{"learning_rate": 6.3e-4, "batch_size": 128, "buffer_size": 50_000, "learning_starts": 0, "gamma": 0.99},
    **{"target_update_interval": 250, "train_freq": 4, "gradient_steps": -1},
    **{"exploration_fraction": 0.12, "exploration_final_eps": 0.1, "policy_kwargs": WIDE},
}
QUANTILE_LANDER = {
    **{"learning_rate": 1.5e-3, "batch_size": 128, "buffer_size": 100_000, "learning_starts": 10_000, "gamma": 0.995},
    **{"target_update_interval": 1, "train_freq": 256, "gradient_steps": -1},
    **{"exploration_fraction": 0.24, "exploration_final_eps": 0.18, "policy_kwargs": WIDE},
}


def _quantiles(settings: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {**settings, "policy_kwargs": {**WIDE, "n_quantiles": number}}


RECIPES = {
    "DQN": {
        "CartPole-v1": Recipe(50_000, CART_POLE),
        "MountainCar-v0": Recipe(120_000, CAR),
        "LunarLander-v2": Recipe(100_000, LANDER),
        "Acrobot-v1": Recipe(100_000, LANDER),
    },
    "QR-DQN": {
        "CartPole-v1": Recipe(50_000, _quantiles(CART_POLE, 10)),
        "MountainCar-v0": Recipe(120_000, _quantiles(CAR, 25)),
        "LunarLander-v2": Recipe(100_000, _quantiles(QUANTILE_LANDER, 170), falling=("learning_rate",)),
        "Acrobot-v1": Recipe(100_000, _quantiles(LANDER, 25)),
    },
    "PPO": {
        "CartPole-v1": Recipe(
            100_000,
            {
                **{"n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20},
                **{"ent_coef": 0.0, "learning_rate": 1e-3, "clip_range": 0.2},
            },
            envs=8,
            falling=("learning_rate", "clip_range"),
        ),
        "MountainCar-v0": Recipe(
            1_000_000,
            {"n_steps": 16, "gae_lambda": 0.98, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0},
            envs=16,
            normalize=True,
        ),
        "Acrobot-v1": Recipe(
            1_000_000,
            {"n_steps": 256, "gae_lambda": 0.94, "gamma": 0.99, "n_epochs": 4, "ent_coef": 0.0},
            envs=16,
            normalize=True,
        ),
        "LunarLander-v2": Recipe(
            1_000_000,
            {
                **{"n_steps": 1024, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4},
                "ent_coef": 0.01,
            },
            envs=16,
        ),
        "Pendulum-v1": Recipe(
            100_000,
            {
                **{"n_steps": 1024, "gae_lambda": 0.95, "gamma": 0.9, "n_epochs": 10, "ent_coef": 0.0},
                **{"learning_rate": 1e-3, "clip_range": 0.2},
            },
            envs=4,
        ),
        "MiniGrid-DoorKey-5x5-v0": Recipe(
            100_000,
            {
                **{"n_steps": 128, "batch_size": 64, "gae_lambda": 0.95, "gamma": 0.99, "n_epochs": 10},
                **{"ent_coef": 0.0, "learning_rate": 2.5e-4, "clip_range": 0.2},
            },
            envs=8,
            normalize=True,
        ),
    },
}


def recipe_of(agent: str, nearest: Mapping[str, str]) -> Recipe:
    """The settings of an agent in the environment of rl-zoo that is named for it, or for all agents."""
    return RECIPES[agent][nearest.get(agent, nearest[""])]
