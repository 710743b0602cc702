"""What valgrind counts: `python -m bench.counted N` takes N steps at d = 256 with the cached kernel."""

import sys

import numpy as np

from bench.steps.stream import make_stream
from ucls.algorithms import ucls
from ucls.kernels import active as la

D = 256


def take(steps: int) -> None:
    """Take some steps along the stream, called from Python so that nothing has to be compiled."""
    stream, hyper, rng = make_stream(D, length=1000), ucls.Settings(), np.random.default_rng(0)
    state = ucls.init(hyper, D, 1, stream.index.shape[1])
    state.system.seen[0] = D
    features = [la.Active(index[None], value[None]) for index, value in zip(stream.index, stream.value, strict=True)]
    for t in range(steps):
        ucls.update(state, hyper, features[t], 0, float(stream.r[t]), stream.gamma, features[t + 1], 0, rng)


if __name__ == "__main__":
    take(int(sys.argv[1]))
