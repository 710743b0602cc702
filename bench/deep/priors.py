"""Bootstrapped DQN with randomized priors: an ensemble of networks, each with a fixed random one added, takes turns.

Osband, Aslanides and Cassirer, "Randomized prior functions for deep reinforcement learning", 2018, with the settings of
bsuite's agent boot_dqn: 20 networks with two hidden layers of 50 units, priors with a factor of 3, Adam with 0.001 on
batches of 128, a step of it for every step, and epsilon 10 / (10 + updates). Every transition belongs to each network's
data with probability 1/2. A network that is drawn for an episode decides in it.

The networks are one batch of matrices, so that a step of the ensemble is as many calls as a step of one network.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch


class Settings(NamedTuple):
    """The settings of the agent; the defaults are bsuite's."""

    networks: int = 20
    units: int = 50
    prior_scale: float = 3.0
    learning_rate: float = 1e-3
    batch_size: int = 128
    capacity: int = 10_000
    target_update: int = 4
    mask_prob: float = 0.5
    discount: float = 0.99


def ensemble(sizes: Sequence[int], networks: int, rng: torch.Generator) -> list[torch.Tensor]:
    """Weights and offsets of networks with these layers: truncated normal weights, offsets 0."""
    parts = []
    for n, m in itertools.pairwise(sizes):
        drawn = torch.nn.init.trunc_normal_(torch.empty(networks, n, m), std=1.0, a=-2.0, b=2.0, generator=rng)
        parts += [drawn / n**0.5, torch.zeros(networks, 1, m)]
    return parts


def forward(parts: Sequence[torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Values of all networks for a batch of observations: networks, batch, actions."""
    hidden = x.expand(parts[0].shape[0], *x.shape)
    for i in range(0, len(parts), 2):
        hidden = torch.baddbmm(parts[i + 1], hidden, parts[i])
        hidden = torch.relu(hidden) if i + 2 < len(parts) else hidden
    return hidden


class Memory:
    """The last transitions, each with the networks that it belongs to."""

    def __init__(self, capacity: int, length: int, networks: int) -> None:
        self.seen, self.after = (np.zeros((capacity, length), np.float32) for _ in range(2))
        self.action, self.reward = np.zeros(capacity, np.int64), np.zeros(capacity, np.float32)
        self.ahead, self.mask = np.zeros(capacity, np.float32), np.zeros((capacity, networks), np.float32)
        self.count = 0

    def add(self, seen: Any, action: int, reward: float, ahead: float, after: Any, mask: Any) -> None:
        """Store a transition in the place of the oldest."""
        i = self.count % len(self.action)
        self.seen[i], self.action[i], self.reward[i] = seen, action, reward
        self.ahead[i], self.after[i], self.mask[i] = ahead, after, mask
        self.count += 1

    def sample(self, rng: np.random.Generator, size: int) -> list[torch.Tensor]:
        """Draw some transitions, with replacement."""
        chosen = rng.integers(min(self.count, len(self.action)), size=size)
        arrays = (self.seen, self.action, self.reward, self.ahead, self.after, self.mask)
        return [torch.from_numpy(array[chosen]) for array in arrays]


class BootstrappedDQN:
    """The agent, for environments with observations that are vectors, and discrete actions."""

    def __init__(self, env: Any, seed: int, settings: Settings = Settings()) -> None:
        self.env, self.settings, self.rng = env, settings, np.random.default_rng(seed)
        drawn = torch.Generator().manual_seed(seed)
        sizes = (env.observation_space.shape[0], settings.units, settings.units, int(env.action_space.n))
        self.prior = ensemble(sizes, settings.networks, drawn)
        self.parts = [part.requires_grad_() for part in ensemble(sizes, settings.networks, drawn)]
        self.target = [part.detach().clone() for part in self.parts]
        self.optimizer = torch.optim.Adam(self.parts, settings.learning_rate)
        self.memory = Memory(settings.capacity, sizes[0], settings.networks)
        self.active, self.updates = 0, 0

    def values(self, parts: Sequence[torch.Tensor], seen: torch.Tensor) -> torch.Tensor:
        """The values of all networks, with their priors."""
        with torch.no_grad():
            prior = forward(self.prior, seen)
        return forward(parts, seen) + self.settings.prior_scale * prior

    @torch.no_grad()
    def predict(self, seen: Any, deterministic: bool = True) -> tuple[int, None]:
        """Return the best action by the mean of all networks, or while learning by the one of this episode."""
        x = torch.as_tensor(seen, dtype=torch.float32)[None]
        values = self.values(self.parts, x)[:, 0].numpy()
        q = values.mean(axis=0) if deterministic else values[self.active]
        return int(self.rng.choice(np.flatnonzero(q == q.max()))), None

    def explore(self, seen: Any) -> int:
        """Return the action to take while learning."""
        if self.rng.random() < 10 / (10 + self.updates):
            return int(self.rng.integers(self.env.action_space.n))
        return self.predict(seen, deterministic=False)[0]

    def learn(self, total_timesteps: int) -> "BootstrappedDQN":
        """Take so many steps."""
        seen, _ = self.env.reset(seed=int(self.rng.integers(2**31)))
        for _ in range(total_timesteps):
            action = self.explore(seen)
            after, reward, terminated, truncated, _ = self.env.step(action)
            mask = self.rng.random(self.settings.networks) < self.settings.mask_prob
            self.memory.add(seen, action, float(reward), float(not terminated), after, mask)
            if self.memory.count >= self.settings.batch_size:
                self.update()
            seen = after
            if terminated or truncated:
                seen, _ = self.env.reset()
                self.active = int(self.rng.integers(self.settings.networks))
        return self

    def update(self) -> None:
        """Take a step of Adam for all networks, and occasionally copy them to their targets."""
        seen, action, reward, ahead, after, mask = self.memory.sample(self.rng, self.settings.batch_size)
        with torch.no_grad():
            best = self.values(self.target, after).max(dim=2).values
            wanted = reward + self.settings.discount * ahead * best
        index = action.expand(self.settings.networks, -1)[..., None]
        taken = self.values(self.parts, seen).gather(2, index)[..., 0]
        loss = (mask.T * (taken - wanted) ** 2).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.settings.target_update == 0:
            with torch.no_grad():
                for old, new in zip(self.target, self.parts, strict=True):
                    old.copy_(new)
