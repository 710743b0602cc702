"""Layer normalization followed by ReLU, forward and backward; the heads and their Huber loss; Adam.

Rows are examples. Everything is float32 except sums over a row.
"""

import numpy as np

from ucls.kernels.compilation.jit import jit

EPSILON = 1e-5  # added to a variance
BETA1, BETA2, TINY = 0.9, 0.999, 1e-8  # of Adam


@jit
def normalize(z, gain, bias, inverse, out):
    """z becomes (z - its mean) / its standard deviation, row by row; out = max(0, gain z + bias); `inverse` is what
    z was divided by."""
    n = z.shape[1]
    for i in range(z.shape[0]):
        total = np.float32(0.0)
        for k in range(n):
            total += z[i, k]
        mean = total / np.float32(n)
        square = np.float32(0.0)
        for k in range(n):
            apart = z[i, k] - mean
            z[i, k] = apart
            square += apart * apart
        scale = np.float32(1.0 / np.sqrt(square / n + EPSILON))
        inverse[i] = scale
        for k in range(n):
            z[i, k] *= scale
            out[i, k] = max(np.float32(0.0), gain[k] * z[i, k] + bias[k])


@jit
def normalize_backward(z, gain, inverse, out, slope, d_gain, d_bias):
    """From the gradient of `out` to that of the input, in place in `slope`; gradients of gain and bias are added."""
    n = z.shape[1]
    for i in range(z.shape[0]):
        mean, along = np.float32(0.0), np.float32(0.0)
        for k in range(n):
            g = slope[i, k] if out[i, k] > np.float32(0.0) else np.float32(0.0)
            d_gain[k] += g * z[i, k]
            d_bias[k] += g
            g *= gain[k]
            slope[i, k] = g
            mean += g
            along += g * z[i, k]
        mean /= np.float32(n)
        along /= np.float32(n)
        for k in range(n):
            slope[i, k] = (slope[i, k] - mean - along * z[i, k]) * inverse[i]


@jit
def heads_backward(x, heads, bias, actions, targets, weight, limit, slope, d_heads, d_bias):
    """The Huber loss of the two heads of each action, summed over examples with their weights; its gradients.

    `heads` has a row for the mean of each action, then one for the upper bound of each. Errors beyond `limit` count
    linearly. `slope` becomes the gradient of x.
    """
    n, n_actions = x.shape[1], len(heads) // 2
    loss = 0.0
    for i in range(x.shape[0]):
        for k in range(n):
            slope[i, k] = np.float32(0.0)
        for which in range(2):
            row = which * n_actions + actions[i]
            error = bias[row] - targets[i, which]
            for k in range(n):
                error += x[i, k] * heads[row, k]
            bounded = min(max(error, -limit), limit)
            loss += weight[i] * bounded * (error - np.float32(0.5) * bounded)
            g = weight[i] * bounded
            d_bias[row] += g
            for k in range(n):
                d_heads[row, k] += g * x[i, k]
                slope[i, k] += g * heads[row, k]
    return loss


@jit
def adam(weights, gradient, first, second, rate, t):
    """One step of Adam (Kingma and Ba 2015), the t-th."""
    step = np.float32(rate * np.sqrt(1.0 - BETA2**t) / (1.0 - BETA1**t))
    tiny = np.float32(TINY * np.sqrt(1.0 - BETA2**t))
    keep, new, keep2, new2 = np.float32(BETA1), np.float32(1 - BETA1), np.float32(BETA2), np.float32(1 - BETA2)
    for i in range(len(weights)):
        g = gradient[i]
        first[i] = keep * first[i] + new * g
        second[i] = keep2 * second[i] + new2 * g * g
        weights[i] -= step * first[i] / (np.sqrt(second[i]) + tiny)
