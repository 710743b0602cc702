"""Act on a policy that `agent.export` wrote, with NumPy alone. This file can be copied: it imports nothing of ucls.

    policy = Policy("policy.npz")
    action, _ = policy.predict(observation, deterministic=True)
    mean, radius = policy.value_estimates(observation)

An exported policy has the features of an agent, and its values and bounds in one form for all algorithms. With x the
features of an action, and terms that are not in the file left out,

    prior  = clip(1 - x'h, 0, 1)
    mean   = constant + prior_mean prior + x'w
    noise  = scale sqrt(max(0, x'Cx + (x'u)^2 + sum_i d_i x_i^2))
    radius = prior_radius prior + noise

While exploring, the agent takes the action with the highest x'theta, or else the highest mean + radius, and any action
with probability `epsilon`. If the file has phi and M^-1 (`inverse`), those of a planner, then instead

    mean   = the above, or `lowest` if that is less and the prior's weight, kappa x'M^-1 x / |x|^2, is above `tried`
    radius = max(optimistic + x'phi + noise - mean, noise)

and an exploring agent takes the action with the highest optimistic + x'phi + noise. If it has basis vectors s_i with
values mu_i, and the points p_j of a Gaussian process for each action, then

    mean   = min(0, min_i mu_i + slope |x - s_i|)
    radius = sqrt(max(0, 1 - |L^-1 k|^2))                           k_j = exp(-|x - p_j|^2 / (2 bandwidth))

and an exploring agent takes the action with the highest mean. If it has a network, phi are the features that this
makes of z = (s - center) / spread, and x = (phi, 1); means over random partitions of the state space, whose cells for z
have n visits, squared residuals S and corrections c, are written as < >. With q = prior_visits <1 / (n + 0.01)>,

    mean   = min(0, v0) + x'w + <c_w>
    upper  = v0 + (x'phi + <c_u>) / (1 + q) + noise,                 noise = noise_scale sqrt(<S / (n + 0.01)^2>)
    radius = max(upper - noise - mean, 0) + noise

and an exploring agent takes the action with the highest min(upper, v0). A matrix has a block for each
action if all features are active; otherwise it has a diagonal, and the other entries only for pairs of features that
can be active together.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 3  # of files with networks; format 2 has none
MASK = "action_mask"  # the key of a mask in Dict observations
INVALID = 1  # of a feature that was met only where its action was invalid
PRIME = 2**31 - 1
PRIMES = 73856093, 19349663  # of the hash of partitions
LAYERS = ("W1", "b1", "gain1", "bias1"), ("W2", "b2", "gain2", "bias2")


class Policy:
    """A policy from a file: predictions, means and radii like those of the agent that was exported."""

    def __init__(self, path: str | Path, features: Callable[[Any], Any] | None = None, seed: int | None = None) -> None:
        """Read a policy. Loading never executes code: if the agent's features were your own function, give it again.

        `seed` is that of the random numbers of exploration.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            about = json.loads(str(arrays.pop("about")))
            known = about["format"]
        except Exception as error:  # a corrupted file raises many kinds
            why = "no such file" if isinstance(error, FileNotFoundError) else "give what agent.export wrote"
            raise ValueError(f"{path} is not an exported policy: {why}") from None
        if known not in range(2, FORMAT + 1):
            raise ValueError(f"{path} has format {known}, but this file reads format {FORMAT}: use a newer policy.py")
        self.about = about
        self.n_actions, self.first_action = about["n_actions"], about["first_action"]
        self._form: dict[str, Any] = {**about["form"], **_with_prefix("form.", arrays)}
        self._coder: dict[str, Any] = {**about["coder"], **_with_prefix("coder.", arrays)}
        for name in ("C.blocks", "inverse.blocks"):
            if name in self._form:  # only the lower triangles are in the file
                lower = self._form[name]
                self._form[name] = lower + np.tril(lower, -1).transpose(0, 2, 1)
        self._met = arrays.get("met")
        self._function = features
        self._encode = {"tiles": self._tiles, "one_hot": self._one_hot}.get(about["features"], self._dense)
        if about["features"] == "tiles":
            rows = zip(self._coder["keys"].tolist(), self._coder["indices"].tolist(), strict=True)
            self._tile_of = {tuple(key): index for key, index in rows}
        self._rng = np.random.default_rng(seed)

    def predict(
        self, observation: Any, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[int | np.ndarray, None]:
        """The action to take, and None in place of a recurrent state; for a batch, an array of actions.

        `deterministic=True` takes the first action with the highest mean; otherwise the policy explores as the agent
        did. `action_masks` says which actions are allowed: one value per action, a row for each observation of a batch.
        By default it is that of a Dict observation, or what the agent met in training.
        """
        rows, masks, many = self._read(observation, action_masks)
        actions = [self._choose(*row, mask, deterministic) for row, mask in zip(rows, masks, strict=True)]
        return (np.array(actions) if many else actions[0]), None

    def value_estimates(self, observation: Any, *, action_masks: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """The mean and the radius of every action's value, NaN for invalid actions; for a batch, one row per
        observation. `action_masks` is as in `predict`."""
        rows, masks, many = self._read(observation, action_masks)
        bounds = np.array([self._bounds(*row)[:2] for row in rows]).reshape(len(rows), 2, self.n_actions)
        mean, radius = (np.where(masks, bounds[:, i], np.nan) for i in range(2))
        return (mean, radius) if many else (mean[0], radius[0])

    def _read(self, observation: Any, given: Any) -> tuple[list[tuple[np.ndarray, np.ndarray]], np.ndarray, bool]:
        """The features of one observation or of a batch, a mask for each, and whether it is a batch."""
        plain, inside = _without_mask(observation)
        states, many = self._states(plain if self._function is None else observation)
        rows, given = [self._encode(s) for s in states], inside if given is None else given
        if given is None:
            masks = np.array([self._recalled(*row) for row in rows]).reshape(len(rows), self.n_actions)
        else:
            masks = np.asarray(given, bool)
            if masks.shape not in ((self.n_actions,), (len(rows), self.n_actions)):
                raise ValueError(f"action_masks needs {self.n_actions} values for each observation, not {given!r}")
            masks = masks | np.zeros((len(rows), self.n_actions), bool)
        if not masks.any(axis=1).all():
            raise ValueError("no action is allowed: action_masks needs at least one true value for each observation")
        return rows, masks, many

    def _recalled(self, index: np.ndarray, value: np.ndarray) -> np.ndarray:
        """Return the masks that the agent met: an action is invalid if it was invalid wherever one of its features was
        active."""
        if self._met is None:
            return np.ones(self.n_actions, bool)
        mask = ~((self._met[index] == INVALID) & (value != 0.0)).any(axis=1)
        return mask if mask.any() else ~mask

    def _choose(self, index: np.ndarray, value: np.ndarray, mask: np.ndarray, deterministic: bool) -> int:
        mean, _, upper = self._bounds(index, value)
        if deterministic:
            return self.first_action + int(np.argmax(np.where(mask, mean, -np.inf)))
        if not self.about["intervals"]:
            raise ValueError("this policy was exported without intervals: use deterministic=True")
        if self._rng.random() < self._form.get("epsilon", 0.0):
            return self.first_action + int(self._rng.choice(np.flatnonzero(mask)))
        upper = np.where(mask, upper, -np.inf)
        return self.first_action + int(self._rng.choice(np.flatnonzero(upper == upper.max())))

    def _bounds(self, index: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean, the radius, and what an exploring agent maximizes, for the features of every action."""
        form, zeros = self._form, np.zeros(self.n_actions)
        if "slope" in form:
            return self._basis_bounds(value)
        if "W1" in form:
            return self._network_bounds(value[0])

        def dot(name: str) -> Any:
            return (value * form[name][index]).sum(axis=1) if name in form else zeros

        prior = np.clip(1.0 - dot("h"), 0.0, 1.0) if "h" in form else zeros
        mean = form.get("constant", 0.0) + form.get("prior_mean", 0.0) * prior + dot("w")
        if "kappa" in form:
            size = np.square(value).sum(axis=1)
            left = form["kappa"] * self._quadratic("inverse", index, value) / np.where(size > 0.0, size, 1.0)
            mean = np.where((left > form["tried"]) | (size == 0.0), np.minimum(mean, form["lowest"]), mean)
        if not self.about["intervals"]:
            return mean, zeros + np.nan, zeros + np.nan
        spread = self._quadratic("C", index, value) + np.square(dot("u"))
        if "d" in form:
            spread = spread + (np.square(value) * form["d"][index]).sum(axis=1)
        noise = form.get("scale", 1.0) * np.sqrt(np.maximum(0.0, spread))
        radius = form.get("prior_radius", 0.0) * prior + noise
        upper = dot("theta") if "theta" in form else mean + radius
        if "phi" in form:
            upper = form["optimistic"] + dot("phi") + noise
            radius = np.maximum(upper - mean, noise)
        return mean, radius, upper

    def _basis_bounds(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for basis vectors and Gaussian processes."""
        form = self._form
        apart = np.linalg.norm(form["basis_s"] - value[:, None], axis=2)
        mean = np.minimum(0.0, (form["basis_mu"] + form["slope"] * apart).min(axis=1, initial=0.0))
        if not self.about["intervals"]:
            return mean, mean + np.nan, mean
        k = np.exp(-np.square(form["points"] - value[:, None]).sum(axis=2) / (2.0 * form["bandwidth"]))
        explained = np.square((form["inverse_factor"] @ k[:, :, None])[:, :, 0]).sum(axis=1)
        return mean, np.sqrt(np.maximum(0.0, 1.0 - explained)), mean

    def _network_bounds(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for networks with an exact last layer and random partitions; the mean is that of all, the newest,
        which is the first, has the bound."""
        form, every = self._form, np.arange(len(self._form["shifts"]) // 2)
        found = []
        for k in range(len(form["base"])):
            phi, cells = self._features_of_network(k, s)
            W = form["base"][k] + form["last"][k] @ phi
            found.append((W + form["corrections"][k][every, cells].mean(axis=0), phi, cells))
        mean = np.mean([W for W, _, _ in found], axis=0)
        if not self.about["intervals"]:
            return mean, mean + np.nan, mean + np.nan
        _, phi, cells = found[0]
        visits = form["visits"][every, cells] + 0.01
        noise = form["noise_scale"] * np.sqrt((form["squares"][every, cells] / visits**2).mean(axis=0))
        q = form["prior_visits"] * (1.0 / visits).mean(axis=0)
        ahead = form["last_upper"] @ phi + form["correction_upper"][every, cells].mean(axis=0)
        without = form["v0"] + ahead / (1.0 + q)
        radius = np.maximum(0.0, without - mean) + noise
        return mean, radius, np.minimum(without + noise, form["v0"])

    def _features_of_network(self, k: int, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(phi, 1) of the network of a solution, and the cells of the partitions."""
        form = self._form
        z = ((s - form["center"][k]) / form["spread"][k]).astype(np.float32)
        at = np.floor(z @ form["directions"].T + form["shifts"]).astype(np.int64)
        cells = ((at[0::2] * PRIMES[0]) ^ (at[1::2] * PRIMES[1])) % form["corrections"].shape[2]
        far = np.abs(z) - form["clip"]
        h = np.where(far > 0.0, np.sign(z) * (form["clip"] + np.log1p(np.maximum(far, 0.0))), z)
        for W, b, gain, bias in LAYERS:
            h = h @ form[W][k] + form[b][k]
            h = (h - h.mean()) / np.sqrt(h.var() + form["tiny"])
            h = np.maximum(0.0, form[gain][k] * h + form[bias][k])
        return np.append(h / np.sqrt(len(h) / 2), 1.0), cells

    def _quadratic(self, name: str, index: np.ndarray, value: np.ndarray) -> Any:
        """x'Mx of every action, for the matrix M with this name; 0 if it is not in the file."""
        form = self._form
        if f"{name}.blocks" in form:
            return (value * (form[f"{name}.blocks"] @ value[:, :, None])[:, :, 0]).sum(axis=1)
        if f"{name}.diagonal" not in form:
            return np.zeros(self.n_actions)
        total = (np.square(value) * form[f"{name}.diagonal"][index]).sum(axis=1)
        if len(form["pairs"]) == 0:
            return total
        first, second = np.triu_indices(index.shape[1], 1)
        i, j = index[:, first], index[:, second]
        wanted = np.minimum(i, j) * self._coder["size"] + np.maximum(i, j)
        found = np.searchsorted(form["pairs"], wanted)
        found[found == len(form["pairs"])] = 0
        entries = np.where(form["pairs"][found] == wanted, form[f"{name}.entries"][found], 0.0)
        return total + 2.0 * (value[:, first] * value[:, second] * entries).sum(axis=1)

    def _states(self, observation: Any) -> tuple[np.ndarray, bool]:
        """The states of one observation, or of a batch; and whether it is a batch."""
        if self._function is not None:
            return np.asarray(self._function(observation), np.float64)[None], False
        states, many = _numbers(self.about["space"], observation)
        low, high = np.array(self.about["low"]), np.array(self.about["high"])
        if states.shape[1] != len(low) or not np.isfinite(states).all():
            raise ValueError(f"an observation has {len(low)} finite numbers, not {observation!r}")
        if self.about["features"] == "one_hot" and not ((states >= low) & (states <= high)).all():
            raise ValueError(f"an observation has integers from {low} to {high}, not {observation!r}")
        return states, many

    def _one_hot(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A feature for each state; states that the agent has not visited share one."""
        coder = self._coder
        state = int(s.astype(np.int64) @ coder.get("place", np.ones(1, np.int64))) - coder["low"]
        number = coder["number"][state]
        if number < 0:
            number = coder["count"][0]
        return (number * self.n_actions + np.arange(self.n_actions))[:, None], np.ones((self.n_actions, 1))

    def _dense(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Features that are all active, with the same values for every action."""
        coder, x = self._coder, s
        if "span" in coder:
            x = (s - coder["low"]) / coder["span"]
        if "frequencies" in coder:
            x = coder["value"] * np.cos(coder["phases"] + coder["frequencies"] @ np.clip(x, 0.0, 1.0))
        index = np.arange(len(x)) * self.n_actions + np.arange(self.n_actions)[:, None]
        return index, np.tile(x, (self.n_actions, 1))

    def _tiles(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tiles that a state is in. A tile that the agent has not visited has no data, or shares a hashed index."""
        coder, n = self._coder, self._coder["n_active"]
        units = np.clip(np.floor((s - coder["low"]) * coder["tiles_per_unit"] * n), coder["least"], coder["most"])
        shift = np.arange(n)[:, None] * (2 * np.arange(len(s)) + 1)
        tiles = (units.astype(np.int64) + shift) // n
        unseen, rows = 0, []
        for a in range(self.n_actions if coder["joint"] else 1):
            row = []
            for tiling, tile in enumerate(tiles.tolist()):
                key = (tiling, *tile, a) if coder["joint"] else (tiling, *tile)
                index = self._tile_of.get(key)
                if index is None:
                    index = int(coder["count"][0]) + unseen
                    unseen += 1
                if index >= coder["table_size"]:
                    unseen, index = unseen - 1, _hash(key) % coder["table_size"]
                row.append(index)
            rows.append(row)
        index = np.array(rows, np.int64)
        if not coder["joint"]:
            index = index * self.n_actions + np.arange(self.n_actions)[:, None]
        value = np.full(index.shape, coder["value"])
        for a, row in enumerate(index):
            value[a, np.setdiff1d(np.arange(n), np.unique(row, return_index=True)[1])] = 0.0  # shared: counted once
        return index, value


def _hash(key: tuple[int, ...]) -> int:
    h = 1
    for coordinate in key:
        h = (h + coordinate) * 48271 % PRIME
    return h


def _without_mask(given: Any) -> tuple[Any, Any]:
    """An observation without its action mask, as the agent reads it, and the mask; None without one."""
    if not isinstance(given, Mapping) or MASK not in given or len(given) < 2:
        return given, None
    others = {key: part for key, part in given.items() if key != MASK}
    return (next(iter(others.values())) if len(others) == 1 else others), given[MASK]


def _numbers(space: Any, given: Any) -> tuple[np.ndarray, bool]:
    """The numbers of an observation, or of a batch, as rows; and whether it is a batch."""
    if space is not None and space["kind"] in ("tuple", "dict") and not isinstance(given, np.ndarray):
        keys = space["keys"] if space["kind"] == "dict" else range(len(space["parts"]))
        if space["kind"] == "dict" and not (isinstance(given, Mapping) and set(given) == set(keys)):
            raise ValueError(f"an observation is a mapping with the keys {', '.join(map(repr, keys))}, not {given!r}")
        parts = [_numbers(part, given[key]) for key, part in zip(keys, space["parts"], strict=True)]
        return np.concatenate([rows for rows, _ in parts], axis=1), parts[0][1]
    numbers = np.asarray(given, np.float64)
    size = 0 if space is None else len(space.get("low", ()))
    shape = () if space is None else tuple(space.get("shape", () if space["kind"] == "discrete" else (size,)))
    if space is None or space["kind"] in ("tuple", "dict"):
        return np.atleast_2d(numbers), numbers.ndim == 2
    if numbers.shape == shape or (numbers.shape == (size,) and shape != ()):
        return numbers.reshape(1, size), False
    if numbers.shape[1:] in (shape, (size,)) and numbers.ndim:
        return numbers.reshape(len(numbers), size), True
    raise ValueError(f"an observation has the shape {shape}, a batch (n, ...), not {numbers.shape}")


def _with_prefix(prefix: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
