"""The UCLS step in several implementations that must agree: each is a class made from a stream and a data type.

It has `run(steps)`, which goes on along the stream, `unit` (how many steps it takes at a time), and `w` and `C`.
"""

from typing import Any

from bench import native
from bench.steps.dense_numpy import DenseNumpy
from bench.steps.kernel import Kernel
from bench.steps.stream import Stream
from bench.steps.tuned_numpy import TunedNumpy

OURS = "ucls"


def versions(stream: Stream, dtype: str) -> tuple[dict[str, Any], list[str]]:
    """Return every version that this machine can run, and the reasons for those that it cannot."""
    found: dict[str, Any] = {OURS: Kernel(stream, dtype)}
    skipped = []
    if native.compiler():
        from bench.steps.c import Native

        found["C"] = Native(stream, dtype)
    else:
        skipped.append("C: no compiler")
    found |= {cls.NAME: cls(stream, dtype) for cls in (DenseNumpy, TunedNumpy)}
    try:
        from bench.steps.jax_scan import JaxScan
    except ImportError:
        skipped.append("JAX: not installed (pip install 'ucls[bench]')")
    else:
        found[JaxScan.NAME] = JaxScan(stream, dtype)
    return found, skipped
