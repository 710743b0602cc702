"""The box as a JAX scan, with the structure of sparse features and rank-one updates."""

import functools
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

from bench.steps.dense_numpy import B_STEP, BETA, ETA, LAMBDA, W_STEP
from bench.steps.stream import Stream

jax.config.update("jax_enable_x64", True)

KEEP = 1 - BETA


def structured(room: int, carry: Any, transition: Any) -> Any:
    """The algebra of the package: A and B by columns, a lazy scale, a carried |A|^2, only the active rows written.

    `room` is the largest number of features that are near at a time, because shapes are fixed.
    """
    At, Bt, C, b, z, w, nu, c, c_max, gamma_previous, scale, norm2 = carry
    index, value, r, gamma, index_next, value_next = transition
    d = len(w)
    delta = r + gamma * (value_next @ w[index_next]) - value @ w[index]
    z = (gamma_previous * LAMBDA * z).at[index].add(value)
    b = KEEP * b + BETA * r * z
    scale, norm2, z2 = KEEP * scale, KEEP * KEEP * norm2, z @ z
    for active, change in ((index, BETA * value), (index_next, -BETA * gamma * value_next)):
        change = change / scale
        rows = At[active]
        norm2 = norm2 + scale**2 * (2 * (change @ (rows @ z)) + (change @ change) * z2)
        At = At.at[active].set(rows + jnp.outer(change, z), unique_indices=True)
    rows = Bt[index]
    h = (scale * (At @ (value @ rows))).at[index].add(-value)
    g, v = scale * (h @ At), b - scale * (w @ At)
    alpha = jnp.minimum(1.0, B_STEP / (norm2 * (value @ value) + 1.0))
    Bt = Bt.at[index].set(rows - alpha * jnp.outer(value, g), unique_indices=True)
    nu = KEEP * nu + BETA * delta * z
    a = Bt @ nu
    before, c_max = c_max, jnp.maximum(c_max, jnp.max(a * a))
    C = lax.cond(c_max > before, lambda C: C.at[jnp.diag_indices(d)].add(c * (c_max - before)), lambda C: C, C)
    near = jnp.abs(z) > BETA
    which = jnp.nonzero(near, size=room, fill_value=d)[0]
    rows = C.at[which].get(mode="fill", fill_value=0)
    rows = jnp.where(near, KEEP * rows + BETA * jnp.outer(a.at[which].get(mode="fill", fill_value=0), a), rows)
    C = C.at[which].set(rows, mode="drop", unique_indices=True)
    c = jnp.where(near, KEEP * c, c)
    w = w + W_STEP * (Bt @ v + ETA * v)
    return (At, Bt, C, b, z, w, nu, c, c_max, gamma, scale, norm2), None


class JaxScan:
    """Steps of `structured`, compiled into one call; the scale is folded into A between calls."""

    NAME = "JAX, structured"

    def __init__(self, stream: Stream, dtype: str) -> None:
        d, length = stream.d, len(stream.r)
        self.unit = 64 if d <= 512 else 8
        matrices = np.zeros((d, d), dtype), np.eye(d, dtype=dtype), np.eye(d, dtype=dtype)
        vectors = [np.zeros(d, dtype) for _ in range(4)]
        numbers = [np.array(number, dtype) for number in (1.0, 0.0, 1.0, 0.0)]
        self.carry = tuple(jnp.array(part) for part in (*matrices, *vectors, np.ones(d, dtype), *numbers))
        value = stream.value.astype(dtype)
        gamma = np.full(length, stream.gamma, dtype)
        features = stream.index[:-1], value[:-1], stream.r.astype(dtype), gamma, stream.index[1:], value[1:]
        self.transitions = tuple(jnp.array(part) for part in features)
        self.t, self.length = 0, length
        step = functools.partial(structured, _most_near(stream))

        @functools.partial(jax.jit, donate_argnums=0)
        def along(carry: Any, transitions: Any, first: Any) -> Any:
            part = [lax.dynamic_slice_in_dim(each, first, self.unit) for each in transitions]
            return lax.scan(step, carry, tuple(part))[0]

        self._along = along

    def run(self, steps: int) -> None:
        for _ in range(steps // self.unit):
            self.carry = self._along(self.carry, self.transitions, self.t % self.length)
            self.t += self.unit
        if self.carry[10] < 1e-3:
            At, *rest, scale, norm2 = self.carry
            self.carry = (At * scale, *rest, jnp.ones_like(scale), norm2)
        jax.block_until_ready(self.carry)

    @property
    def w(self) -> np.ndarray:
        return np.asarray(self.carry[5])

    @property
    def C(self) -> np.ndarray:
        return np.asarray(self.carry[2])


def _most_near(stream: Stream) -> int:
    """The largest number of traces above the threshold at a time, going twice along the stream."""
    z, most = np.zeros(stream.d), 0
    for i in [*range(len(stream.r))] * 2:
        z *= stream.gamma * LAMBDA
        z[stream.index[i]] += stream.value[i]
        most = max(most, int((z > BETA).sum()))
    return most
