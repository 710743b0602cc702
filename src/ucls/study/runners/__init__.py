"""Where a study runs: on this machine by default, on Ray or in Slurm when asked."""

from ucls.errors import UserError
from ucls.study.runners.base import Runner
from ucls.study.runners.local import local_runner


def runner_of(jobs: int | None = None, ray: str | None = None, slurm: str | None = None) -> Runner:
    """The runner that was asked for."""
    if ray is not None and slurm is not None:
        raise UserError("a study runs in one place: give --ray or --slurm, not both")
    if ray is not None:
        from ucls.study.runners.ray import ray_runner

        return ray_runner(ray, jobs)
    if slurm is not None:
        from ucls.study.runners.slurm import slurm_runner

        return slurm_runner(slurm, jobs)
    return local_runner(jobs)
