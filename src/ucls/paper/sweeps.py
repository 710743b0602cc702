"""The sweeps that tune the competitors: 16 settings each in each domain, on three seeds that are never reported.

What costs d^2 a step is tuned on 20,000 of the 50,000 steps in Sparse Mountain Car, where a whole run takes a minute.
The paper's figures show UCLS untuned and GV-UCB at the p that the paper gives. UCLS's sweep over p answers one claim
(17); `ucls-tuned`, `gv-ucb` and `dgpq-wide`, with four times the budget, are experiments (`table_causes`) only.
"""

import json
from pathlib import Path

from ucls._files import write_atomic
from ucls.envs import default_measure
from ucls.paper.domains import CLASSIC, PUDDLE, QUADRATIC, RIVER, SPARSE, as_printed, dtype_of
from ucls.study import Member, Store, Study
from ucls.study.conduct import choose, conduct
from ucls.study.runners.base import Runner
from ucls.study.sweep import Range, Space, Sweep, candidates, sweep_cells

SIZE, RUNS = 16, 3

# What each algorithm's sweep fixes and ranges over; DGPQ's ranges are those of its box.
SPACES: dict[str, tuple[str, dict[str, object], Space]] = {
    "sarsa-optimistic": ("sarsa", {"optimistic": "yes", "epsilon": 0.0}, {"alpha": Range(0.003, 1.0)}),
    "sarsa-epsilon": ("sarsa", {}, {"alpha": Range(0.01, 1.0), "epsilon": Range(0.001, 0.5)}),
    "ucls-l": (
        "ucls-l",
        {"step_size": "plain"},
        {"p_bar": Range(0.03, 10.0), "alpha": Range(0.01, 1.0), "alpha_var": Range(0.001, 0.3)},
    ),
    "ucbootstrap": ("ucbootstrap", {}, {"step": Range(0.003, 1.0), "alpha": Range(0.005, 0.5)}),
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
    "rlsvi": ("rlsvi", {}, {"l": Range(1e-4, 100.0)}),
    "lspi-rmax": (
        "lspi-rmax",
        {},
        {"m": Range(1, 50, whole=True), "eta": Range(1e-5, 1e-2), "b_step": Range(0.001, 0.1)},
    ),
    "ucls-p": ("ucls", {}, {"p": Range(1e-3, 0.9)}),
}
SPACES["dgpq-wide"] = SPACES["dgpq"]
SPACES["ucls-tuned"] = (
    "ucls",
    {},
    {"p": Range(1e-3, 0.9), "beta": Range(1e-4, 1e-2), "b_step": Range(0.001, 0.1)},
)
SPACES["gv-ucb"] = ("gv-ucb", {}, {"p": Range(1e-5, 0.9)})
SIZES = dict.fromkeys(SPACES, SIZE) | {"dgpq-wide": 4 * SIZE}

DOMAINS_OF = dict.fromkeys(SPACES, (RIVER, PUDDLE, SPARSE)) | {
    "dgpq": (RIVER, PUDDLE, SPARSE, CLASSIC),
    "ucls-p": (SPARSE,),
    "dgpq-wide": (RIVER, SPARSE),
    "ucls-tuned": (PUDDLE,),
    "gv-ucb": (RIVER, PUDDLE),
}


def sweep_of(label: str, env: str) -> Sweep:
    """The sweep of an algorithm in a domain."""
    agent, fixed, space = SPACES[label]
    if agent == "rlsvi" and env != RIVER:
        fixed = {**fixed, "resample_every": 0}  # the paper resamples at the start of episodes only
    fixed = as_printed(agent, env, fixed)
    steps = 20_000 if agent in QUADRATIC and env == SPARSE else 50_000
    return Sweep(label, agent, env, space, fixed, steps, SIZES[label], RUNS, default_measure(env), dtype_of(agent, env))


def all_sweeps() -> list[Sweep]:
    """Every sweep, the cheap ones first."""
    return [sweep_of(label, env) for label in SPACES for env in DOMAINS_OF[label]]


def tune(store: Store, runner: Runner, out: Path, quiet: bool = False) -> bool:
    """Run what is missing of every sweep, write the winners, each with its whole table, and say so; not if stopped."""
    winners = {}
    for sweep in all_sweeps():
        cells = [cell for settings in candidates(sweep) for cell in sweep_cells(sweep, settings)]
        study = Study(f"sweep/{sweep.label}/{sweep.env}", tuple(Member(sweep.label, cell) for cell in cells))
        if conduct(store, study, runner, quiet).stopped:
            return False
        winners[f"{sweep.label} {sweep.env}"] = choose(sweep, {row.id: row for row in store.rows(study.name)}).as_data()
    write_atomic(out, lambda path: path.write_text(json.dumps(winners, indent=1, sort_keys=True) + "\n"))
    return True
