"""A helper process for the first run: it compiles an algorithm's update while the main process compiles the rest.

The two share only the kernel cache: the second to need a kernel waits for the first, unless that was killed. So a
helper that fails or never starts does no harm.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from ucls._util import compiling as _compiling
from ucls.algorithms import ALGORITHMS, algorithm_module, is_compiled
from ucls.core.calls.binding import compile_inwards
from ucls.core.config import Plan, resolve_plan
from ucls.core.learner import Learner


@contextmanager
def helped(plan: Plan) -> Iterator[None]:
    """Start a helper process as soon as this one has to compile, if there is a second core."""
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
