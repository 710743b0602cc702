"""`ucls doctor`: the details that a bug report needs."""

import importlib.metadata
import os
import platform
import sys
from typing import Any

import typer

from ucls._util.files import cache_dir
from ucls.cli.input.options import Json
from ucls.cli.output.streams import print_json


def doctor(as_json: Json = False) -> None:
    """Print details for a bug report: versions, machine, caches, and whether compiled kernels agree with NumPy."""
    facts = examine()
    if as_json:
        print_json(facts)
    else:
        for name, value in facts.items():
            print(f"{name:18} {value}")
    if not facts["kernels_agree"]:
        raise typer.Exit(1)


def examine() -> dict[str, Any]:
    """Gather versions, machine and caches, and compile one kernel to see that it agrees with plain Python."""
    import ucls
    from ucls.core.memory import machine_memory
    from ucls.kernels.compilation.jit import kernel_cache
    from ucls.study.runners.cores import cores

    names = ("numpy", "scipy", "numba", "llvmlite", "gymnasium", "safetensors", "matplotlib", "typer")
    return {
        "ucls": ucls.__version__,
        "python": sys.version.split()[0],
        **{name: importlib.metadata.version(name) for name in names},
        "platform": platform.platform(),
        "cores": cores(),
        "memory_gb": round(machine_memory() / 2**30, 1),
        "kernel_cache": str(kernel_cache() or "none"),
        "optimum_cache": str(cache_dir("optimal") or "none"),
        "jit_disabled": bool(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"),
        "kernels_agree": kernels_agree(),
    }


def kernels_agree() -> bool:
    """Whether a compiled quadratic form equals NumPy's."""
    import numpy as np

    from ucls.kernels import active as la

    rng = np.random.default_rng(0)
    C = rng.normal(size=(6, 6))
    C = C + C.T
    x = la.Active(np.array([4, 1, 3]), np.array([0.5, 2.0, -1.0]))
    dense = np.zeros(6)
    dense[x.index] = x.value
    return bool(np.isclose(la.quadratic(C, x), dense @ C @ dense, rtol=1e-12))
