"""Studies: what to run (`declaration`), the results (`storage`), where to run (`runners`).

A cell specifies one run as data, and its id is a digest of its content. A study is a tuple of labeled cells. Running a
study runs the cells without a result in the store, so a study that was stopped, killed or enlarged resumes.

- `run_study(store, study, runner)` is the driver, a single process: it declares the study, gives the missing cells to
  a runner, and writes every outcome to the store as it arrives;
- `run_local`, `run_ray` and `run_slurm` are runners: they call `run_cell` in worker processes and yield an `Outcome`
  for every cell. `runners.runner_of` selects one.
"""

from ucls.study.declaration.declare import Member, Study, parse_study, read_study
from ucls.study.declaration.run_spec import RunSpec, make_run_specs
from ucls.study.run_study import run_study
from ucls.study.storage.store import Store

__all__ = ["Member", "RunSpec", "Store", "Study", "make_run_specs", "parse_study", "read_study", "run_study"]
