"""A second process for a first start: it compiles an algorithm's update while the first one compiles the rest.

Nothing passes between the two but files of machine code: whoever comes second to a kernel waits for the other, and one
that is killed is not waited for. So a helper that fails, or never starts, costs nothing but its time.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from ucls import _compiling
from ucls.algorithms import ALGORITHMS, algorithm_module, is_compiled
from ucls.core.binding import compile_inwards
from ucls.core.config import Plan, resolve_plan
from ucls.core.learner import Learner


@contextmanager
def helped(plan: Plan) -> Iterator[None]:
    """Let a second process help as soon as this one has to compile, if there is a core for it."""
    started: list[Any] = []
    words = [sys.executable, "-m", __name__, json.dumps(asdict(plan))]
    nothing: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores > 1 and plan.agent in ALGORITHMS and is_compiled(algorithm_module(plan.agent)):
        _compiling.clock.helper = lambda: started.append(subprocess.Popen(words, **nothing))
    try:
        yield
    finally:
        _compiling.clock.helper = None
        for process in started:
            process.kill()
            process.wait()


def help_with(plan: Plan) -> None:
    """Compile the update of a plan's algorithm, as other kernels call it."""
    me = Learner(resolve_plan(plan))
    xs = me.pending.xs
    compile_inwards(me.algorithm.update, (me.state, me.hyper, xs, 0, 0.0, 0.0, xs, 0, me.rng))


if __name__ == "__main__":
    help_with(Plan(**json.loads(sys.argv[1])))
