"""A small study in a separate process, to be killed: `python -m faults.driver STORE --cells N --runner NAME`."""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from ucls.study import Member, RunSpec, Store, Study, make_run_specs, run_study
from ucls.study.declaration.run_spec import RESULTS_VERSION
from ucls.study.outcome import Outcome
from ucls.study.runners.base import Runner
from ucls.study.storage.partial import Checkpoints

NAME = "campaign"
RUNNERS = ("local", "ray", "ray-two-nodes", "submitit", "slurm")
LOSE_NODE_AFTER = 4
SMALL = {"tilings": 2, "tiles": 3, "table_size": 8}


def small_study(cells: int) -> Study:
    """A study of short runs, a few long enough to be killed in their middle, and a few whose learners are kept.

    `UCLS_CAMPAIGN_LONGER` makes all of them so many times as long.
    """
    longer = int(os.environ.get("UCLS_CAMPAIGN_LONGER", "1"))
    steps = {"sarsa": 400, "ucls": 300, "ucls, long": 4000}
    long = max(1, cells // 20)
    seeds = {"sarsa": cells // 2, "ucls": cells - cells // 2 - long, "ucls, long": long}
    members = [
        Member(label, cell)
        for label in steps
        for cell in make_run_specs(
            "ucls/RiverSwim-v0",
            label.removesuffix(", long"),
            steps=longer * steps[label],
            seeds=range(seeds[label]),
            settings=SMALL,
            keep=label == "ucls, long",
        )
    ]
    return Study(NAME, tuple(members))


def troubled_study(cells: int) -> Study:
    """Return a few runs of a small study, one of them long, with one run that never ends and one that fails."""
    troubles = (Member("endless", endless_cell()), Member("failing", failing_cell()))
    return Study(NAME, (*troubles, *small_study(cells).members[::-5]))


def endless_cell() -> RunSpec:
    """Return a run that never ends; it needs its own kernels, so that no batch of jobs has other runs beside it."""
    return _sarsa(50_000_000, "float32")


def failing_cell() -> RunSpec:
    """Return a run that every runner refuses."""
    return _sarsa(10)._replace(numerics=RESULTS_VERSION + 1)


def _sarsa(steps: int, dtype: str = "float64") -> RunSpec:
    return make_run_specs("ucls/RiverSwim-v0", "sarsa", steps=steps, seeds=[0], settings=SMALL, dtype=dtype)[0]


def main() -> None:
    """Run the study, or the rest of it, and log every outcome beside the store."""
    parser = argparse.ArgumentParser(prog="python -m faults.driver")
    parser.add_argument("store", type=Path)
    parser.add_argument("--cells", type=int, required=True)
    parser.add_argument("--runner", choices=RUNNERS, default="local")
    parser.add_argument("--every", type=float, default=0.05)
    parser.add_argument("--troubled", action="store_true", help="with a cell that never ends and one that fails")
    asked = parser.parse_args()
    runner = logged(runner_named(asked.runner), asked.store.with_suffix(".log"))
    study = (troubled_study if asked.troubled else small_study)(asked.cells)
    with Store(asked.store, write=True) as store:
        run_study(store, study, runner, quiet=True, checkpoint_interval=asked.every)


def runner_named(name: str) -> Runner:
    """A runner with two workers."""
    from ucls.study.runners.local import local_runner
    from ucls.study.runners.ray import ray_runner
    from ucls.study.runners.slurm import slurm_runner

    makers: dict[str, Any] = {
        "local": lambda: local_runner(2),
        "ray": lambda: ray_runner("local", 2),
        "ray-two-nodes": lambda: _on_two_nodes,
        "submitit": lambda: slurm_runner(jobs=2, executor="local"),
        "slurm": lambda: slurm_runner(os.environ.get("UCLS_SLURM_PARTITION"), jobs=2),
    }
    return makers[name]()


def logged(runner: Runner, log: Path) -> Runner:
    """Wrap a runner so that every outcome is logged before the driver gets it."""

    def run(cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event) -> Iterator[Outcome]:
        with log.open("a") as file:
            for outcome in runner(cells, checkpoints, stop):
                if outcome.result is not None or outcome.error:
                    file.write(f"{outcome.id}\n")
                    file.flush()
                yield outcome

    return run


def _on_two_nodes(cells: Sequence[RunSpec], checkpoints: Checkpoints, stop: Event) -> Iterator[Outcome]:
    """Run on a Ray cluster of two nodes with a core each, and remove the second after a few outcomes."""
    from ucls.study.runners.ray import LOOPBACK, SETTINGS, run_ray

    os.environ |= SETTINGS | LOOPBACK  # before Ray is imported
    import ray
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    second = cluster.add_node(**node)
    cluster.wait_for_nodes(60)
    ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
    try:
        for count, outcome in enumerate(run_ray(cells, checkpoints, stop)):
            if count == LOSE_NODE_AFTER:
                cluster.remove_node(second, allow_graceful=False)
            yield outcome
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
