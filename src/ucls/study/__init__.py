"""Studies: what to run (`cell`, `declare`), what came of it (`store`), where it runs (`runners`).

A cell is one run as data, and its id a digest of its content. A study is a tuple of labeled cells. Running a study is
running the cells that the store lacks, so a study that was stopped, killed or enlarged goes on where it was.

Two verbs say who does what:

- `conduct(store, study, runner)`: the driver, one process, declares the study, gives the cells that the store lacks
  to a runner, and writes down every outcome as it comes;
- `run_local`, `run_ray`, `run_slurm` run cells somewhere, and end in `run_cell` in some worker process; each is a
  `Runner`, which gives an `Outcome` for every cell. `runners.runner_of` makes the one that was asked for.
"""

from ucls.study.cell import Cell, make_cells
from ucls.study.declare import Member, Study, parse_study, read_study
from ucls.study.run_study import run_study
from ucls.study.store import Store

__all__ = ["Cell", "Member", "Store", "Study", "make_cells", "parse_study", "read_study", "run_study"]
