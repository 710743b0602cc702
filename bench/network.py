"""One gradient step of the network of ucls-deep compared with PyTorch and JAX, if installed: time, and agreement.

    python -m bench network [--inputs 8] [--actions 4] [--repeats 300]

Steps of all libraries are interleaved within one process, on one thread, and timed by CPU time, so that only the ratios
mean something. Every library starts from the same weights; the largest difference of a gradient, relative to the
largest entry of that gradient, is printed beside the ratio.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ucls.kernels.network import layers as ly
from ucls.kernels.network import network as nw

BATCH, HIDDEN, LIMIT, RATE = 128, 128, 1.0, 1e-3


class Ours:
    """The network of the package."""

    def __init__(self, weights: np.ndarray, sizes: tuple[int, int, int]) -> None:
        self.weights, self.grad = weights.copy(), np.zeros_like(weights)
        self.first, self.second = np.zeros_like(weights), np.zeros_like(weights)
        self.net, self.into = (nw.layers_of(w, *sizes) for w in (self.weights, self.grad))
        self.t = 0

    def gradient(self, inputs: Any, actions: Any, targets: Any) -> np.ndarray:
        weight = np.full(len(inputs), np.float32(1.0 / len(inputs)))
        nw.gradient(self.net, self.into, inputs, actions, targets, weight, LIMIT)
        return self.grad

    def step(self, *batch: Any) -> None:
        self.gradient(*batch)
        self.t += 1
        ly.adam(self.weights, self.grad, self.first, self.second, RATE, self.t)


class Torch:
    """The same with PyTorch."""

    def __init__(self, weights: np.ndarray, sizes: tuple[int, int, int]) -> None:
        import torch

        torch.set_num_threads(1)
        self.torch = torch
        self.parts = [torch.tensor(part, requires_grad=True) for part in nw.layers_of(weights.copy(), *sizes)]
        self.adam = torch.optim.Adam(self.parts, RATE)

    def loss(self, inputs: Any, actions: Any, targets: Any) -> Any:
        torch, f = self.torch, self.torch.nn.functional
        W1, b1, gain1, bias1, W2, b2, gain2, bias2, heads, offsets = self.parts
        a = torch.from_numpy(actions).long()
        h = f.relu(f.layer_norm(torch.from_numpy(inputs) @ W1 + b1, (HIDDEN,), gain1, bias1))
        h = f.relu(f.layer_norm(h @ W2 + b2, (HIDDEN,), gain2, bias2)) / np.sqrt(HIDDEN / 2)
        out, n_actions = h @ heads.T + offsets, len(heads) // 2
        got = torch.stack([out.gather(1, (a + which * n_actions)[:, None])[:, 0] for which in range(2)], 1)
        return f.huber_loss(got, torch.from_numpy(targets), reduction="sum", delta=LIMIT) / len(inputs)

    def gradient(self, *batch: Any) -> np.ndarray:
        self.adam.zero_grad()
        self.loss(*batch).backward()
        return np.concatenate([part.grad.numpy().ravel() for part in self.parts])

    def step(self, *batch: Any) -> None:
        self.adam.zero_grad()
        self.loss(*batch).backward()
        self.adam.step()


class Jax:
    """The same with JAX, compiled as one function; Adam is written as in optax."""

    def __init__(self, weights: np.ndarray, sizes: tuple[int, int, int]) -> None:
        import jax

        self.jax, jnp = jax, jax.numpy
        self.parts = [jnp.array(part) for part in nw.layers_of(weights.copy(), *sizes)]
        self.moments = [[jnp.zeros_like(part) for part in self.parts] for _ in range(2)]
        self.t = 0

        def norm(z: Any, gain: Any, bias: Any) -> Any:
            apart = z - z.mean(1, keepdims=True)
            z = apart / jnp.sqrt((apart**2).mean(1, keepdims=True) + ly.EPSILON)
            return jnp.maximum(0.0, gain * z + bias)

        def loss(parts: Any, inputs: Any, actions: Any, targets: Any) -> Any:
            W1, b1, gain1, bias1, W2, b2, gain2, bias2, heads, offsets = parts
            h = norm(norm(inputs @ W1 + b1, gain1, bias1) @ W2 + b2, gain2, bias2) / np.sqrt(HIDDEN / 2)
            out, rows, n_actions = h @ heads.T + offsets, jnp.arange(len(inputs)), len(heads) // 2
            error = jnp.stack([out[rows, actions], out[rows, actions + n_actions]], 1) - targets
            bounded = jnp.clip(error, -LIMIT, LIMIT)
            return (bounded * (error - 0.5 * bounded)).sum() / len(inputs)

        def step(parts: Any, moments: Any, t: Any, *batch: Any) -> Any:
            grads = jax.grad(loss)(parts, *batch)
            first = [ly.BETA1 * m + (1 - ly.BETA1) * g for m, g in zip(moments[0], grads, strict=True)]
            second = [ly.BETA2 * m + (1 - ly.BETA2) * g * g for m, g in zip(moments[1], grads, strict=True)]
            scale = [1 - ly.BETA1**t, 1 - ly.BETA2**t]
            moved = [
                w - RATE * (m / scale[0]) / (jnp.sqrt(v / scale[1]) + ly.TINY)
                for w, m, v in zip(parts, first, second, strict=True)
            ]
            return moved, [first, second]

        self._grad, self._step = jax.jit(jax.grad(loss)), jax.jit(step)

    def gradient(self, *batch: Any) -> np.ndarray:
        return np.concatenate([np.asarray(part).ravel() for part in self._grad(self.parts, *batch)])

    def step(self, *batch: Any) -> None:
        self.t += 1
        self.parts, self.moments = self._step(self.parts, self.moments, float(self.t), *batch)
        self.jax.block_until_ready(self.parts)


LIBRARIES: dict[str, Callable[..., Any]] = {"ucls": Ours, "torch": Torch, "jax": Jax}


def installed(weights: np.ndarray, sizes: tuple[int, int, int]) -> dict[str, Any]:
    """Return the installed libraries, with the same weights."""
    found = {}
    for name, library in LIBRARIES.items():
        try:
            found[name] = library(weights, sizes)
        except ImportError:
            print(f"{name} is not installed")
    return found


def main(words: list[str]) -> int:
    """Print the median CPU time of a step of each library relative to ours, and the differences of gradients."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--actions", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=300)
    asked = parser.parse_args(words)
    sizes, rng = (asked.inputs, HIDDEN, asked.actions), np.random.default_rng(0)
    weights = rng.normal(0.0, 0.1, nw.size(*sizes)).astype(np.float32)
    batch = (
        rng.normal(size=(BATCH, asked.inputs)).astype(np.float32),
        rng.integers(asked.actions, size=BATCH).astype(np.int32),
        rng.normal(size=(BATCH, 2)).astype(np.float32),
    )
    libraries = installed(weights, sizes)
    grads = {name: np.array(library.gradient(*batch)) for name, library in libraries.items()}
    taken: dict[str, list[float]] = {name: [] for name in libraries}
    for _ in range(asked.repeats):
        for name, library in libraries.items():
            begin = time.process_time()
            library.step(*batch)
            taken[name].append(time.process_time() - begin)
    base = np.median(taken["ucls"])
    for name, times in taken.items():
        off = np.abs(grads[name] - grads["ucls"]).max() / np.abs(grads["ucls"]).max()
        print(
            f"{name:6} {1e3 * np.median(times):7.3f} ms, {np.median(times) / base:5.2f} times ours; gradient {off:.1e}"
        )
    return 0
