"""The door to numba: a changed source never runs stale machine code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import ucls

USE = "import numpy as np\nfrom ucls.algorithms import helped\nprint(helped.twice(np.ones(3)))"
HELPER = "from ucls._jit import jit\n\n\n@jit\ndef add(x):\n    return x.sum() + {}\n"
USER = "from ucls._jit import jit\nfrom ucls.helper import add\n\n\n@jit\ndef twice(x):\n    return 2 * add(x)\n"


def run(package, cache):
    environment = {**os.environ, "PYTHONPATH": str(package), "UCLS_CACHE_DIR": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_changed_helper_in_another_file_is_seen(tmp_path):
    package = tmp_path / "src"
    shutil.copytree(Path(ucls.__file__).parent, package / "ucls", ignore=shutil.ignore_patterns("__pycache__"))
    helper, user = package / "ucls" / "helper.py", package / "ucls" / "algorithms" / "helped.py"
    user.write_text(USER)
    helper.write_text(HELPER.format(1))
    assert run(package, tmp_path / "cache") == "8.0"
    assert run(package, tmp_path / "cache") == "8.0"
    # same size and time stamp: nothing but the content tells
    stamp = helper.stat()
    helper.write_text(HELPER.format(2))
    os.utime(helper, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run(package, tmp_path / "cache") == "10.0"
    assert len(list((tmp_path / "cache" / "kernels").iterdir())) == 2


def test_numbas_own_cache_folder_is_left_alone():
    import numba

    before = numba.config.CACHE_DIR
    from ucls import linalg  # noqa: F401

    assert before == numba.config.CACHE_DIR
    assert "kernels" not in (numba.config.CACHE_DIR or "")
