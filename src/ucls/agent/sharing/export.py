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
from ucls.core.learner import Learner
from ucls.errors import UserError, printable
from ucls.gym.adapter import EnvAdapter

SUFFIX = ".npz"
FEATURES = ("tiles", "one_hot", "fourier", "random_fourier", "scaled", "precomputed")
MEAN = ("w", "h", "constant", "prior_mean")  # the parts of the form that a mean reads
ROWS = 256  # of pairs of tiles that are compared at once


def write(path: str | Path, learner: Learner, stage: EnvAdapter, intervals: bool, runtime: bool) -> Path:
    """Write the policy of a learner to a file, and with `runtime` the program that reads it beside it."""
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
    if (C := form.pop("C", None)) is not None:
        form |= _matrix(C, learner)
    arrays = {f"form.{name}": part for name, part in form.items() if isinstance(part, np.ndarray)}
    arrays |= {f"coder.{name}": part for name, part in coder.items() if isinstance(part, np.ndarray)}
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
    """The values and bounds of a learner, from its algorithm."""
    algorithm, name = learner.algorithm, learner.plan.agent
    if not hasattr(algorithm, "export") or hasattr(algorithm, "encode"):
        raise UserError(f"{name} cannot be exported: its values are not linear in features that stay the same")
    form = algorithm.export(learner.state, learner.hyper)
    if intervals and form.pop("random", False):
        raise UserError(f"the bounds of {name} are random: export its means alone, with intervals=False")
    return form if intervals else {part: form[part] for part in MEAN if part in form}


def _matrix(C: np.ndarray, learner: Learner) -> dict[str, np.ndarray]:
    """The entries that bounds read of a symmetric matrix, whose lower triangle counts."""
    n_actions, size = learner.plan.n_actions, learner.coder.size
    if learner.plan.features not in ("tiles", "one_hot"):
        lower = np.stack([np.tril(C[a::n_actions, a::n_actions]) for a in range(n_actions)])
        return {"blocks": lower}
    form = {"diagonal": np.diag(C).copy(), "pairs": np.zeros(0, np.int64), "entries": np.zeros(0)}
    if learner.plan.features == "tiles":
        i, j = _together(learner.coder)
        order = np.argsort(i * size + j)
        i, j = i[order], j[order]
        used = C[j, i] != 0.0
        form |= {"pairs": (i * size + j)[used], "entries": C[j, i][used]}
    return form


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
