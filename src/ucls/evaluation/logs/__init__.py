"""Logs as people have them: transitions with features (`logfile`), and episodes with states and actions (`episodes`).

`read_log` reads a log with one row per step from CSV, Parquet, .npz, a DataFrame, a mapping of arrays or a Minari
dataset. `roles` guesses which column is what, `check` lists everything that is wrong with a log, with its row.
"""

from ucls.evaluation.logs.check import Problem, check_log
from ucls.evaluation.logs.episodes import EpisodeLog, read_log
from ucls.evaluation.logs.roles import Columns

__all__ = ["Columns", "EpisodeLog", "Problem", "check_log", "read_log"]
