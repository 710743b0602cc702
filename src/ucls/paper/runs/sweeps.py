"""The sweeps that tune the baselines: 16 settings each in each domain, on three seeds that are never reported.

What costs d^2 per step is tuned on 20,000 of the 50,000 steps in Sparse Mountain Car, where a whole run takes a minute.
The paper's figures show UCLS untuned and GV-UCB at the p that the paper gives. UCLS's sweeps over p, and over its whole
scale, answer one claim (17): the bound of UCLS-L may shrink to nothing, that of UCLS only with c_max. `ucls-tuned`,
`gv-ucb` and `dgpq-wide`, with four times the budget, are experiments (`table_causes`) and readings (`alternatives`)
only, and so is `sarsa-high`, whose values start where no return can be. `ucls-joint`, with twice the budget, searches
what the paper leaves open of UCLS for one reading in all domains (`table_learned`).

Candidates depend on the space alone, so that they are the same in every domain (`table_one_setting`). With room for
every tile the baselines are tuned again where the printed memory is smaller.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ucls._util.files import write_atomic
from ucls.envs import default_metric
from ucls.errors import unknown
from ucls.paper.runs.domains import (
    CLASSIC,
    HAS_READING,
    PRINTED,
    PUDDLE,
    QUADRATIC,
    RIVER,
    ROOM,
    SPARSE,
    as_read,
    dtype_of,
    has_tiles,
)
from ucls.study import Member, Store, Study
from ucls.study.declaration.sweep import Range, Space, Sweep, candidates, sweep_cells
from ucls.study.run_study import choose, run_study
from ucls.study.runners.base import Runner

SIZE, RUNS = 16, 3
JOINT = "ucls-joint"
HIGH = 500.0  # R_max / (1 - gamma) in Sparse Mountain Car, where no return is above 1

# What each algorithm's sweep fixes and ranges over; DGPQ's ranges are those of its box.
SPACES: dict[str, tuple[str, dict[str, object], Space]] = {
    "sarsa-optimistic": ("sarsa", {"initial_value": "return_max", "epsilon": 0.0}, {"alpha": Range(0.003, 1.0)}),
    "sarsa-epsilon": ("sarsa", {}, {"alpha": Range(0.01, 1.0), "epsilon": Range(0.001, 0.5)}),
    "ucls-l": (
        "ucls-l",
        {"normalize_step": False},
        {"p_bar": Range(0.03, 10.0), "alpha": Range(0.01, 1.0), "alpha_var": Range(0.001, 0.3)},
    ),
    "ucbootstrap": ("ucbootstrap", {}, {"step_size": Range(0.003, 1.0), "alpha": Range(0.005, 0.5)}),
    "dgpq": (
        "dgpq",
        {},
        {
            "bandwidth": Range(0.001, 0.5),
            "sigma_tol": Range(0.01, 0.1),
            "epsilon": Range(0.01, 0.1),
            "lipschitz": Range(1.0, 20.0),
        },
    ),
    "rlsvi": ("rlsvi", {}, {"prior_precision": Range(1e-4, 100.0)}),
    "lspi-rmax": (
        "lspi-rmax",
        {},
        {"m": Range(1, 50, whole=True), "eta": Range(1e-5, 1e-2), "b_step": Range(0.001, 0.1)},
    ),
    "ucls-p": ("ucls", {}, {"p": Range(1e-3, 0.9)}),
}
SPACES["ucls-scale"] = ("ucls", {}, {"p": Range(1e-2, 100.0), "c_max": Range(1e-3, 10.0)})
SPACES["dgpq-wide"] = SPACES["dgpq"]
SPACES["sarsa-high"] = (
    "sarsa",
    {**SPACES["sarsa-optimistic"][1], "initial_value": HIGH},
    SPACES["sarsa-optimistic"][2],
)
SPACES["ucls-tuned"] = (
    "ucls",
    {},
    {"p": Range(1e-3, 0.9), "beta": Range(1e-4, 1e-2), "b_step": Range(0.001, 0.1)},
)
SPACES[JOINT] = (
    "ucls",
    {},
    {
        "feature_value": ("1", "1/sqrt_n", "1/n"),
        "w_step": (1.0, 0.3, 0.1),
        "initial_variance": ("decaying", "constant"),
        "b_step": Range(0.01, 1.0),
        "beta": Range(3e-4, 1e-2),
        "c_max": Range(0.01, 10.0),
    },
)
SPACES["gv-ucb"] = ("gv-ucb", {}, {"p": Range(1e-5, 0.9)})
SIZES = dict.fromkeys(SPACES, SIZE) | {"dgpq-wide": 4 * SIZE, JOINT: 2 * SIZE}

DOMAINS_OF = dict.fromkeys(SPACES, (RIVER, PUDDLE, SPARSE)) | {
    "dgpq": (RIVER, PUDDLE, SPARSE, CLASSIC),
    "ucls-p": (SPARSE,),
    "ucls-scale": (SPARSE,),
    "dgpq-wide": (RIVER, PUDDLE, SPARSE, CLASSIC),
    "sarsa-high": (SPARSE,),
    "ucls-tuned": (PUDDLE,),
    "gv-ucb": (RIVER, PUDDLE),
}


# Tuned with room too; the joint reading only so.
AGAIN = ("sarsa-optimistic", "sarsa-epsilon", "ucls-l", "ucbootstrap", "rlsvi", "lspi-rmax", "gv-ucb", "ucls-tuned")


def fixed_of(label: str, env: str) -> dict[str, object]:
    """Return the settings that the sweep of an algorithm fixes in a domain."""
    agent, fixed, _ = SPACES[label]
    if agent == "rlsvi" and env != RIVER:
        return {**fixed, "resample_every": 0}  # the paper resamples at the start of episodes only
    return fixed


def sweep_of(label: str, env: str, reading: str = PRINTED) -> Sweep:
    """Return the sweep of an algorithm in a domain, with an interpretation of the hash-table size."""
    agent, _, space = SPACES[label]
    fixed = as_read(agent, env, fixed_of(label, env), reading)
    steps = 20_000 if agent in QUADRATIC and env == SPARSE else 50_000
    return Sweep(label, agent, env, space, fixed, steps, SIZES[label], RUNS, default_metric(env), dtype_of(agent, env))


def candidates_of(label: str) -> list[dict[str, Any]]:
    """Return the candidates of the sweep of an algorithm, the same in every domain."""
    return candidates(sweep_of(label, DOMAINS_OF[label][0]))


def key_of(label: str, env: str, reading: str = PRINTED) -> str:
    """Return the key of a sweep's winner; an interpretation of the table size that changes nothing has none of its
    own."""
    apart = reading == ROOM and env in HAS_READING and has_tiles(SPACES[label][0])
    return f"{label} {env}{' room' if apart else ''}"


def all_sweeps() -> dict[str, Sweep]:
    """Return every sweep by the name of its winner, the fast ones first; those with a collision-free hash table are
    last."""
    pairs = [(label, env) for label in SPACES if label != JOINT for env in DOMAINS_OF[label]]
    again = [(label, env) for label in AGAIN for env in HAS_READING if env in DOMAINS_OF[label]]
    again += [(JOINT, env) for env in DOMAINS_OF[JOINT]]
    sweeps = {key_of(label, env): sweep_of(label, env) for label, env in pairs}
    return sweeps | {key_of(label, env, ROOM): sweep_of(label, env, ROOM) for label, env in again}


def chosen_sweeps(only: Sequence[str]) -> dict[str, Sweep]:
    """Return the sweeps of these labels, or (`room`) those with a collision-free hash table; by default all."""
    for name in only:
        if name not in (*SPACES, ROOM):
            raise unknown("sweep", name, (*SPACES, ROOM))
    if not only:
        return all_sweeps()
    return {key: s for key, s in all_sweeps().items() if s.label in only or (ROOM in only and key.endswith(ROOM))}


def tune(
    store: Store,
    runner: Runner,
    out: Path,
    quiet: bool = False,
    only: Sequence[str] = (),
    known: Mapping[str, Any] = {},
) -> bool:
    """Make the missing runs of the sweeps, and write the winners with all scores; return whether it was not stopped.

    Winners of other sweeps are kept.
    """
    winners = dict(known)
    for key, sweep in chosen_sweeps(only).items():
        cells = [cell for settings in candidates(sweep) for cell in sweep_cells(sweep, settings)]
        study = Study(f"sweep/{key.replace(' ', '/')}", tuple(Member(sweep.label, cell) for cell in cells))
        if run_study(store, study, runner, quiet).stopped:
            return False
        winners[key] = choose(sweep, {row.id: row for row in store.rows(study.name)}).as_data()
    write_atomic(out, lambda path: path.write_text(json.dumps(winners, indent=1, sort_keys=True) + "\n"))
    return True
