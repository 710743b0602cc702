"""The network: two layers, each normalized and rectified, and two linear heads per action. Its weights are one vector.

    z1 = W1 s + b1,  h1 = max(0, normalized z1),  z2 = W2 h1 + b2,  h2 = max(0, normalized z2),  phi = h2 / sqrt(n / 2)

so that |phi|^2 is about 1. The gradient is derived by hand.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ucls.kernels.network import layers as ly

CHUNK = 1024  # rows whose features are computed at once


class Layers(NamedTuple):
    """Views of a vector of weights, or of their gradient."""

    W1: Any
    b1: Any
    gain1: Any
    bias1: Any
    W2: Any
    b2: Any
    gain2: Any
    bias2: Any
    heads: Any
    offsets: Any


def shapes(inputs: int, hidden: int, n_actions: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of the layers."""
    row = (hidden,)
    return (inputs, hidden), row, row, row, (hidden, hidden), row, row, row, (2 * n_actions, hidden), (2 * n_actions,)


def size(inputs: int, hidden: int, n_actions: int) -> int:
    """The number of weights."""
    return sum(math.prod(shape) for shape in shapes(inputs, hidden, n_actions))


def layers_of(weights: np.ndarray, inputs: int, hidden: int, n_actions: int) -> Layers:
    """The layers of a vector of weights, or of each row of a matrix of them."""
    views, begin = [], 0
    for shape in shapes(inputs, hidden, n_actions):
        end = begin + math.prod(shape)
        views.append(weights[..., begin:end].reshape(*weights.shape[:-1], *shape))
        begin = end
    return Layers(*views)


def draw(net: Layers, rng: np.random.Generator) -> None:
    """Random weights, uniform within one over the square root of a layer's inputs; heads are 0."""
    for W, b, gain, bias in ((net.W1, net.b1, net.gain1, net.bias1), (net.W2, net.b2, net.gain2, net.bias2)):
        reach = 1.0 / np.sqrt(len(W))
        W[...] = rng.uniform(-reach, reach, W.shape)
        b[...] = rng.uniform(-reach, reach, b.shape)
        gain[...], bias[...] = 1.0, 0.0
    net.heads[...], net.offsets[...] = 0.0, 0.0


def _layer(W: Any, b: Any, gain: Any, bias: Any, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z = inputs @ W
    z += b
    inverse, out = np.empty(len(z), np.float32), np.empty_like(z)
    ly.normalize(z, gain, bias, inverse, out)
    return z, inverse, out


def features(net: Layers, inputs: np.ndarray) -> np.ndarray:
    """phi of each row."""
    phi = np.empty((len(inputs), len(net.b2)), np.float32)
    scale = np.float32(1.0 / np.sqrt(len(net.b2) / 2))
    for begin in range(0, len(inputs), CHUNK):
        rows = slice(begin, begin + CHUNK)
        h1 = _layer(net.W1, net.b1, net.gain1, net.bias1, inputs[rows])[2]
        h2 = _layer(net.W2, net.b2, net.gain2, net.bias2, h1)[2]
        np.multiply(h2, scale, out=phi[rows])
    return phi


def features_of_each(nets: Layers, inputs: np.ndarray) -> np.ndarray:
    """phi of several networks, each with its own input."""
    h = inputs
    for W, b, gain, bias in ((nets.W1, nets.b1, nets.gain1, nets.bias1), (nets.W2, nets.b2, nets.gain2, nets.bias2)):
        z = (h[:, None, :] @ W)[:, 0] + b
        z -= z.mean(axis=1, keepdims=True)
        z /= np.sqrt(np.square(z).mean(axis=1, keepdims=True) + np.float32(ly.EPSILON))
        h = np.maximum(np.float32(0.0), gain * z + bias)
    return h * np.float32(1.0 / np.sqrt(h.shape[1] / 2))


def gradient(net: Layers, into: Layers, inputs: Any, actions: Any, targets: Any, weight: Any, limit: float) -> float:
    """The loss of a batch; its gradient is written into `into`, the layers of a vector."""
    z1, inverse1, h1 = _layer(net.W1, net.b1, net.gain1, net.bias1, inputs)
    z2, inverse2, h2 = _layer(net.W2, net.b2, net.gain2, net.bias2, h1)
    scale = np.float32(1.0 / np.sqrt(len(net.b2) / 2))
    phi, slope = h2 * scale, np.empty_like(h2)
    for part in (into.gain1, into.bias1, into.gain2, into.bias2, into.heads, into.offsets):
        part[...] = 0.0
    heads = net.heads, net.offsets
    loss = ly.heads_backward(phi, *heads, actions, targets, weight, np.float32(limit), slope, into.heads, into.offsets)
    slope *= scale
    ly.normalize_backward(z2, net.gain2, inverse2, h2, slope, into.gain2, into.bias2)
    np.matmul(h1.T, slope, out=into.W2)
    np.sum(slope, axis=0, out=into.b2)
    slope = slope @ net.W2.T
    ly.normalize_backward(z1, net.gain1, inverse1, h1, slope, into.gain1, into.bias1)
    np.matmul(inputs.T, slope, out=into.W1)
    np.sum(slope, axis=0, out=into.b1)
    return loss
