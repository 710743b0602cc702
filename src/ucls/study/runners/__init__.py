"""Runners: run a study on this machine, on Ray or on Slurm."""

from ucls.errors import UserError
from ucls.study.runners.base import Runner
from ucls.study.runners.local import local_runner


def runner_of(jobs: int | None = None, ray: str | None = None, slurm: str | None = None) -> Runner:
    """Select a runner."""
    if ray is not None and slurm is not None:
        raise UserError("--ray and --slurm are mutually exclusive: give one")
    if ray is not None:
        from ucls.study.runners.ray import ray_runner

        return ray_runner(ray, jobs)
    if slurm is not None:
        from ucls.study.runners.slurm import slurm_runner

        return slurm_runner(slurm, jobs)
    return local_runner(jobs)
