"""Export what an agent needs to act: its features, values and bounds, in the form that `ucls.policy` computes.

That is far less than what is needed to continue learning. A file of an agent has matrices of all features, whereas a
bound only reads the entries of features that are active together: those of one action and, with tiles, those of tiles
that overlap.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ucls import policy
from ucls._util.files import write_atomic
from ucls.algorithms import ALGORITHMS
from ucls.core.learner import Learner
from ucls.errors import UserError, printable
from ucls.gym.adapter import EnvAdapter
from ucls.kernels.active import Active

SUFFIX = ".npz"
FEATURES = ("tiles", "one_hot", "fourier", "random_fourier", "scaled", "observation", "precomputed")
MEAN = (
    *("w", "h", "constant", "prior_mean"),
    *("inverse", "kappa", "tried", "lowest"),
    *("basis_s", "basis_mu", "slope"),
    *(name for layer in policy.LAYERS for name in layer),
    *("last", "base", "center", "spread", "clip", "tiny", "directions", "shifts", "corrections"),
)  # the parts of the form that a mean reads
ROWS = 256  # of pairs of tiles that are compared at once


def write(path: str | Path, learner: Learner, stage: EnvAdapter, intervals: bool, runtime: bool) -> Path:
    """Write the policy of a learner to a file, and with `runtime` a copy of the program that reads it beside it."""
    path = Path(path)
    path = path if path.suffix else path.with_name(path.name + SUFFIX)
    if path.suffix.lower() != SUFFIX:
        raise UserError(
            f"a policy is exported in the format npz, not {printable(path.suffix)}: "
            f"name it {printable(path.with_suffix(SUFFIX))}"
        )
    about, arrays = content_of(learner, stage, intervals)

    def save(file: Path) -> None:
        with file.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, about=np.array(json.dumps(about, sort_keys=True)), **arrays)

    write_atomic(path, save)
    if runtime:
        source = Path(policy.__file__).read_bytes()
        write_atomic(path.with_name("policy.py"), lambda file: file.write_bytes(source))
    return path


def content_of(learner: Learner, stage: EnvAdapter, intervals: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A description of a policy, and its arrays."""
    plan, form = learner.plan, _form_of(learner, intervals)
    if plan.features not in FEATURES:
        raise UserError(f"the features {plan.features!r} cannot be exported: only {', '.join(FEATURES)} can")
    coder = {name: part for name, part in learner.coder._asdict().items() if part is not None}
    if plan.features == "tiles":
        taken = coder["indices"] >= 0
        coder |= {name: coder[name][taken] for name in ("keys", "indices")}
    form |= _matrices({name: form.pop(name) for name in ("C", "inverse") if name in form}, learner)
    arrays = {f"form.{name}": part for name, part in form.items() if isinstance(part, np.ndarray)}
    arrays |= {f"coder.{name}": part for name, part in coder.items() if isinstance(part, np.ndarray)}
    if learner.masks is not None:
        arrays["met"] = learner.masks.met
    about = {
        "format": policy.FORMAT,
        "algorithm": plan.agent,
        "features": plan.features,
        "space": stage.space,
        "low": plan.low,
        "high": plan.high,
        "n_actions": plan.n_actions,
        "first_action": stage.first_action,
        "intervals": intervals,
        "form": {name: part for name, part in form.items() if not isinstance(part, np.ndarray)},
        "coder": {name: part for name, part in coder.items() if not isinstance(part, np.ndarray)},
    }
    return about, arrays


def _form_of(learner: Learner, intervals: bool) -> dict[str, Any]:
    """The form of a learner's values, as its algorithm gives it, or a table where features are one-hot."""
    algorithm, name = learner.algorithm, learner.plan.agent
    if hasattr(algorithm, "export") and not hasattr(algorithm, "encode"):
        form = algorithm.export(learner.state, learner.hyper)
    elif name in ALGORITHMS and learner.plan.features == "one_hot":
        form = _tabulated(learner)
    else:
        raise UserError(f"{name} cannot be exported: its values do not have the form of ucls.policy")
    if intervals and form.pop("random", False):
        raise UserError(f"the bounds of {name} are random: export its means alone, with intervals=False")
    return form if intervals else {part: form[part] for part in MEAN if part in form}


def _tabulated(learner: Learner) -> dict[str, Any]:
    """The mean, the radius and what is maximized for every feature by itself."""
    algorithm, parts, size = learner.algorithm, (learner.state, learner.hyper), learner.coder.size
    table = np.zeros((3, size))
    for feature in range(size):
        x = Active(np.array([feature]), np.ones(1))
        if hasattr(algorithm, "interval"):
            mean, radius = algorithm.interval(*parts, x, learner._onlooker)
        else:
            mean, radius = algorithm.value(*parts, x), 0.0
        upper = algorithm.upper(*parts, x) if hasattr(algorithm, "upper") else mean + radius
        table[:, feature] = mean, radius, upper
    return dict(zip(("w", "u", "theta"), table, strict=True))


def _matrices(matrices: dict[str, np.ndarray], learner: Learner) -> dict[str, np.ndarray]:
    """The entries that bounds and values read of symmetric matrices, by name.

    Of a matrix of all features the lower triangle counts; one of a stack with a matrix for each action is averaged with
    its transpose, which gives the same x'Cx.
    """
    plan, coder = learner.plan, learner.coder
    stacked = any(matrix.ndim == 3 for matrix in matrices.values())
    if stacked and getattr(coder, "joint", False):
        raise UserError(f"{plan.agent} cannot be exported with hashing=joint: use hashing=blocks")
    if plan.features not in ("tiles", "one_hot"):
        return {f"{name}.blocks": _lower(matrix, plan.n_actions) for name, matrix in matrices.items()}
    i, j = _together(coder) if plan.features == "tiles" and matrices else np.zeros((2, 0), np.int64)
    order = np.argsort(i * coder.size + j)
    i, j = i[order], j[order]
    entries = {name: _entries(matrix, i, j, plan.n_actions) for name, matrix in matrices.items()}
    used = np.any([part != 0.0 for part in entries.values()], axis=0) if matrices else np.zeros(0, bool)
    every = np.arange(coder.size)
    form = {f"{name}.entries": part[used] for name, part in entries.items()}
    form |= {f"{name}.diagonal": _entries(matrix, every, every, plan.n_actions) for name, matrix in matrices.items()}
    return form | {"pairs": (i * coder.size + j)[used]}


def _lower(matrix: np.ndarray, n_actions: int) -> np.ndarray:
    """The lower triangles of the blocks of all actions."""
    if matrix.ndim == 3:
        return np.tril((matrix + matrix.transpose(0, 2, 1)) / 2)
    return np.stack([np.tril(matrix[a::n_actions, a::n_actions]) for a in range(n_actions)])


def _entries(matrix: np.ndarray, i: np.ndarray, j: np.ndarray, n_actions: int) -> np.ndarray:
    """The entries of pairs i <= j of features; in a stack, both are of the same action."""
    if matrix.ndim == 2:
        return matrix[j, i]
    a, i, j = i % n_actions, i // n_actions, j // n_actions
    return (matrix[a, i, j] + matrix[a, j, i]) / 2


def _together(coder: Any) -> tuple[np.ndarray, np.ndarray]:
    """The pairs i < j of features that can be active together: those of tiles that overlap.

    If the table is full, further tiles share indices, so that any two features of an action can be active together.
    """
    count, n_actions = int(coder.count[0]), 1 if coder.joint else coder.n_actions
    keys = np.zeros((count, coder.keys.shape[1]), np.int64)
    taken = coder.indices >= 0
    keys[coder.indices[taken]] = coder.keys[taken]
    pairs = [np.zeros((2, 0), np.int64)]
    for first in range(0, count, ROWS):
        rows = keys[first : first + ROWS]
        near = np.ones((len(rows), count), bool) if count == coder.table_size else _overlap(coder, rows, keys)
        i, j = np.nonzero(near)
        i += first
        pairs.append(np.stack([i, j])[:, i < j])
    i, j = np.concatenate(pairs, axis=1)[:, :, None] * n_actions + np.arange(n_actions)
    return i.ravel(), j.ravel()


def _overlap(coder: Any, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether tiles overlap. Along dimension k, a tile of tiling t begins at n c - (2 k + 1) t units and is n long."""
    n, dimensions = coder.n_active, len(coder.low)
    shift = 2 * np.arange(dimensions) + 1
    near = some[:, None, 0] != others[None, :, 0]
    if coder.joint:
        near &= some[:, None, -1] == others[None, :, -1]
    for k in range(dimensions):
        begin, begins = (n * keys[:, 1 + k] - shift[k] * keys[:, 0] for keys in (some, others))
        near &= np.abs(begin[:, None] - begins[None, :]) < n
    return near
