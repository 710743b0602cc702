"""The door to numba: a changed source never runs stale machine code, and a cache never breaks a run."""

import errno
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import ucls
from ucls._util import files as _files
from ucls.algorithms import algorithm_module
from ucls.core import steps
from ucls.envs import module_of
from ucls.features import features_module
from ucls.kernels.compilation import jit, machine_code

USE = "import numpy as np\nfrom ucls.algorithms import helped\nprint(helped.twice(np.ones(3)))"
HELPER = "from ucls.kernels import jit\n\n\n@jit\ndef add(x):\n    return x.sum() + {}\n"
USER = "from ucls.kernels import jit\nfrom ucls.helper import add\n\n\n@jit\ndef twice(x):\n    return 2 * add(x)\n"

compiled = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


class Pair(NamedTuple):
    """A type from outside the package."""

    a: Any
    b: Any


def run(package, cache):
    # Python's own cache of bytecode goes by size and time stamp, ours must not
    kept = {"UCLS_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**os.environ, "PYTHONPATH": str(package), **kept}
    return subprocess.run(
        [sys.executable, "-c", USE], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def copy_of_package(folder):
    shutil.copytree(Path(ucls.__file__).parent, folder / "ucls", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "ucls" / "algorithms" / "helped.py").write_text(USER)
    (folder / "ucls" / "helper.py").write_text(HELPER.format(1))
    return folder


@compiled
def test_a_changed_helper_in_another_file_is_seen_and_a_stranger_is_not(tmp_path):
    package, cache = copy_of_package(tmp_path / "src"), tmp_path / "cache"
    helper = package / "ucls" / "helper.py"
    assert run(package, cache) == "8.0"
    first = set(cache.rglob("*.kernel"))
    assert {path.name.split("-")[0] for path in first} >= {"add", "twice"}
    with (package / "ucls" / "cli" / "__init__.py").open("a") as file:
        file.write("# of no interest to kernels\n")
    assert run(package, cache) == "8.0"
    assert set(cache.rglob("*.kernel")) == first
    # same size and time stamp: nothing but the content tells
    stamp = helper.stat()
    helper.write_text(HELPER.format(2))
    os.utime(helper, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run(package, cache) == "10.0"
    assert len(set(cache.rglob("*.kernel")) - first) == 2


@compiled
def test_processes_that_compile_at_once_and_are_killed_leave_a_sound_cache(tmp_path):
    package, cache = copy_of_package(tmp_path / "src"), tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": str(package), "UCLS_CACHE_DIR": str(cache)}
    use = [sys.executable, "-c", f"from ucls.kernels import active\nprint('ready', flush=True)\n{USE}"]
    several = [subprocess.Popen(use, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process, patience in zip(several[:2], (0.05, 0.3), strict=True):
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(patience)
        process.kill()
    assert several[2].communicate()[0].split() == ["ready", "8.0"]
    [process.communicate() for process in several[:2]]
    assert run(package, cache) == "8.0"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Compile a function as if a new process met it in a module of the package."""
    monkeypatch.setattr(machine_code, "kernel_cache", lambda ours=True: tmp_path if ours else tmp_path / "others")
    (tmp_path / "others").mkdir()

    def make(function):
        function.__module__ = "ucls.kernels.active"
        return jit.jit(function)

    return make


def total(x):
    return x[0] + x[1]


def files(folder):
    return sorted(folder.glob("*/*.kernel"))


@compiled
def test_a_kernel_is_found_again(made, tmp_path):
    assert made(total)(np.ones(2)) == 2.0
    assert len(files(tmp_path)) == 1
    again = made(total)
    assert again(np.ones(2)) == 2.0
    assert sum(again.stats.cache_hits.values()) == 1


BITS = """import hashlib
from ucls.core.saving import checkpoint
from ucls.core.run import make_run
run = make_run("ucls/RiverSwim-v0", "ucls", settings={"tilings": 2, "tiles": 3, "table_size": 8}, seed=10)
run.advance(4000)
print(hashlib.sha256(checkpoint.to_bytes(run.checkpoint(), run.about())).hexdigest())"""


LOADED = """import sys
from ucls.core.run import make_run
run = make_run("ucls/RiverSwim-v0", "sarsa")
run.advance(10)
print("numba.np.arraymath" in sys.modules)"""


@compiled
def test_where_kernels_are_found_nothing_is_loaded_that_only_a_compiler_needs():
    """Numba's knowledge of arrays, and SciPy with it, take as long as everything else of a start."""
    command = [sys.executable, "-c", LOADED]
    said = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() for _ in range(2)]
    assert said[1] == "False"


@compiled
@pytest.mark.slow
def test_a_run_has_the_same_bits_where_kernels_are_compiled_and_where_they_are_found(tmp_path):
    environment = {**os.environ, "UCLS_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(ucls.__file__).parents[1])}
    command = [sys.executable, "-c", BITS]
    said = [subprocess.run(command, env=environment, capture_output=True, check=True).stdout for _ in range(2)]
    assert said[0] == said[1]


@compiled
def test_code_that_nobody_used_for_a_month_goes_when_new_code_is_kept(made, tmp_path):
    long_ago = time.time() - 31 * 86400
    for name in ("unused", "used"):
        (tmp_path / name / "sub").mkdir(parents=True)
        os.utime(tmp_path / name, (long_ago, long_ago))
    _files.touch_daily(tmp_path / "used")
    (tmp_path / "link").symlink_to(tmp_path / "used")
    made(total)(np.ones(2))
    [file] = files(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["link", "others", "used", file.parent.name])
    os.utime(file.parent, (long_ago, long_ago))
    made(total)(np.ones(2))
    assert time.time() - file.parent.stat().st_mtime < 60


@compiled
def test_what_has_a_part_from_outside_is_kept_apart(made, tmp_path):
    assert made(total)(Pair(1.0, 2.0)) == 3.0
    assert (len(files(tmp_path)), len(files(tmp_path / "others"))) == (0, 1)
    assert made(total)(((Pair(1.0, 2.0), 1)[0].a, 2.0)) == 3.0
    assert (len(files(tmp_path)), len(files(tmp_path / "others"))) == (1, 1)


def built(made, factor):
    """A kernel around another, and around a number."""

    def scaled(x):
        return factor * x

    inner = made(scaled)

    def around(x):
        return inner(x) + 1.0

    return made(around)


@compiled
def test_a_kernel_that_is_built_around_others_is_found_again_and_not_taken_for_another(made):
    assert built(made, 2.0)(3.0) == 7.0
    again = built(made, 2.0)
    assert again(3.0) == 7.0
    assert sum(again.stats.cache_hits.values()) == 1
    other = built(made, 4.0)
    assert other(3.0) == 13.0
    assert sum(other.stats.cache_hits.values()) == 0


@compiled
def test_a_kernel_around_what_cannot_be_described_is_not_kept(made, tmp_path):
    assert built(made, np.float32(2.0))(3.0) == 7.0
    assert files(tmp_path) == []


THEIRS = "from ucls.kernels import jit\nfrom its_helper import FACTOR\n\n\n@jit\ndef act(x):\n    return FACTOR * x\n"


@compiled
def test_an_algorithm_from_elsewhere_is_watched_with_what_it_imports(tmp_path):
    (tmp_path / "theirs.py").write_text(THEIRS)
    helper, cache = tmp_path / "its_helper.py", tmp_path / "cache"
    use = "import theirs\nprint(theirs.act(1.0), sum(theirs.act.stats.cache_hits.values()))"
    path = os.pathsep.join([str(Path(ucls.__file__).parents[1]), str(tmp_path)])
    environment = {**os.environ, "PYTHONPATH": path, "UCLS_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}

    def said(factor):
        helper.write_text(f"FACTOR = {factor}\n")
        command = [sys.executable, "-c", use]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert [said(2.0), said(2.0), said(3.0)] == [["2.0", "0"], ["2.0", "1"], ["3.0", "0"]]
    assert len(list((cache / "kernels of others").rglob("act-*.kernel"))) == 2
    assert not list((cache / "kernels").rglob("act-*.kernel"))


@compiled
def test_types_that_share_a_name_do_not_share_code(made):
    def ours(fields):
        kind = namedtuple("State", fields)
        kind.__module__ = "ucls.kernels.active"
        return kind

    def first(x):
        return x.a

    assert made(first)(ours("a b")(1.0, 2.0)) == 1.0
    assert made(first)(ours("b a")(1.0, 2.0)) == 2.0


@compiled
@pytest.mark.parametrize("damage", ["cut", "empty", "turned", "foreign"])
def test_a_damaged_file_is_thrown_away_and_made_again(made, tmp_path, damage):
    made(total)(np.ones(2))
    [file] = files(tmp_path)
    sound = file.read_bytes()
    other = pickle.dumps(("not", "code"))
    turned = bytes([*sound[:-9], sound[-9] ^ 1, *sound[-8:]])
    signed = machine_code.hashlib.sha256(other).digest() + other
    file.write_bytes({"cut": sound[:100], "empty": b"", "turned": turned, "foreign": signed}[damage])
    assert made(total)(np.ones(2)) == 2.0
    again = made(total)
    again(np.ones(2))
    assert sum(again.stats.cache_hits.values()) == 1


@compiled
@pytest.mark.parametrize("trouble", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_no_room_for_code_does_not_stop_a_run(made, tmp_path, monkeypatch, trouble):
    def fail(*_, **__):
        raise OSError(trouble, os.strerror(trouble))

    monkeypatch.setattr(_files.tempfile, "mkstemp", fail)
    assert made(total)(np.ones(2)) == 2.0
    assert files(tmp_path) == []


@compiled
def test_a_file_that_others_can_write_is_not_executed(made, tmp_path):
    made(total)(np.ones(2))
    [file] = files(tmp_path)
    file.chmod(0o666)
    again = made(total)
    assert again(np.ones(2)) == 2.0
    assert not again.stats.cache_hits


@compiled
def test_a_file_in_a_folder_that_others_can_write_to_is_not_executed(made, tmp_path):
    made(total)(np.ones(2))
    [file] = files(tmp_path)
    file.parent.chmod(0o777)  # another kernel of this user's could be put in its place
    again = made(total)
    assert again(np.ones(2)) == 2.0
    assert not again.stats.cache_hits


def test_a_cache_is_this_users_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("UCLS_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setattr(_files.tempfile, "gettempdir", lambda: str(tmp_path))
    spare = tmp_path / f"ucls-{os.geteuid()}"
    folder = tmp_path / "named" / "kernels"
    assert _files.cache_dir("kernels") == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert _files.cache_dir("kernels") == folder
    assert folder.stat().st_mode & 0o022 == 0
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert _files.cache_dir("kernels") == spare / "kernels"
    shutil.rmtree(spare)
    spare.symlink_to(tmp_path / "elsewhere")
    assert _files.cache_dir("kernels") is None


def test_a_cache_of_another_user_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("UCLS_CACHE_DIR", str(tmp_path / "named"))
    monkeypatch.setattr(_files.tempfile, "gettempdir", lambda: str(tmp_path))
    _files.cache_dir("kernels")
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert _files.cache_dir("kernels") is None


def test_an_empty_name_of_the_cache_is_no_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UCLS_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "general"))
    assert _files.cache_dir("kernels") == tmp_path / "general" / "ucls" / "kernels"


@compiled
def test_a_kernel_that_only_kernels_call_has_no_wrapper_for_python(made):
    around = built(made, 2.0)
    assert around(3.0) == 7.0
    inner = next(cell.cell_contents for cell in around.py_func.__closure__ if hasattr(cell.cell_contents, "py_func"))
    assert not inner.overloads  # nobody called it from Python
    assert inner(5.0) == 10.0
    assert len(inner.overloads) == 1
    names = [f.name for cres in around.overloads.values() for f in cres.library.get_defined_functions()]
    assert sum("cpython" in name for name in names) == 1


@compiled
def test_a_woven_kernel_is_a_part_of_its_caller_and_has_no_code_of_its_own(made, tmp_path):
    def double(x):
        return 2.0 * x

    part = jit.woven(made(double))

    def around(x):
        return part(x) + 1.0

    kernel = made(around)
    assert kernel(3.0) == 7.0
    assert not part.overloads
    assert [file.name.partition("-")[0] for file in files(tmp_path)] == ["around"]
    assert made(around)(3.0) == 7.0


@compiled
def test_the_steps_of_a_learner_are_woven_into_the_loop_of_a_run():
    world, algorithm, features = module_of("ucls/RiverSwim-v0"), algorithm_module("sarsa"), features_module("tiles")
    loop = steps.compiled(world, algorithm, features)
    parts = dict(zip(loop.py_func.__code__.co_freevars, loop.py_func.__closure__, strict=True))
    for name in ("begin", "advance"):
        part = parts[name].cell_contents
        assert part.targetoptions["inline"] == "always"
        assert part.targetoptions["fastmath"] == loop.targetoptions["fastmath"]  # or it would round as its caller does


falling: Any = None


def _falling(n):
    return 1 if n < 2 else n * falling(n - 1)


def _around_falling(n):
    return falling(n)


@compiled
def test_a_kernel_may_call_itself(made, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "falling", made(_falling))
    assert made(_around_falling)(5) == 120
    assert falling(4) == 24


TOGETHER = """import sys, numpy as np
from ucls.algorithms import helped
from ucls import helper
from ucls._util import compiling as _compiling
count = []
_compiling.clock.watcher = lambda compiled: count.append(compiled.kernels)
print("ready", flush=True)
sys.stdin.readline()
print(helped.twice(np.ones(3)), max(count, default=0))"""


@compiled
def test_processes_that_want_the_same_code_make_it_once(tmp_path):
    package, cache = copy_of_package(tmp_path / "src"), tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": str(package), "UCLS_CACHE_DIR": str(cache)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    several = [subprocess.Popen([sys.executable, "-c", TOGETHER], env=environment, **pipes) for _ in range(3)]
    for process in several:
        assert process.stdout.readline() == "ready\n"
    for process in several:
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate()[0].split() for process in several]
    assert [words[0] for words in said] == ["8.0"] * 3
    assert sum(int(words[1]) for words in said) == 2, "add and twice, each by whoever came first"
    assert not list(cache.rglob("*.lock"))


@compiled
def test_a_process_that_waited_too_long_compiles_and_does_not_wait_again(made, tmp_path, monkeypatch):
    made(total)(np.ones(2))
    [file] = files(tmp_path)
    file.unlink()
    handle = _files.hold(file.with_suffix(".lock"), 0)
    assert handle is not None
    monkeypatch.setattr(machine_code.KernelCache, "patience", 0.1)
    assert made(total)(np.ones(2)) == 2.0
    assert machine_code.KernelCache.patience == 0
    _files.release_file(file.with_suffix(".lock"), handle)
    assert _files.hold(tmp_path / "nowhere" / "x.lock", 0) is None


@compiled
def test_a_kernel_that_cannot_be_compiled_is_let_go(made, tmp_path):
    def wrong(x):
        return x.nothing

    for _ in range(2):
        with pytest.raises(numba.errors.TypingError):
            made(wrong)(np.ones(2))
    assert not list(tmp_path.rglob("*.lock"))


WITHOUT = """import warnings
import numba.core.caching, numba.core.codegen, numba.core.dispatcher
{}
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from ucls.kernels.compilation.jit import exact, jit, kernel_cache, woven
double = exact(lambda x: 2 * x)
half = woven(exact(lambda x: x / 2))
print(jit(lambda x: double(x) + half(x))(3.0), kernel_cache(), *[str(each.message) for each in told], sep="\\n")"""


RENAMED = """kind = numba.core.codegen.CPUCodeLibrary
renamed = kind._optimize_final_module
kind.__getattr__ = lambda self, name: renamed.__get__(self)  # numba itself still finds it
del kind._optimize_final_module"""


@compiled
@pytest.mark.parametrize(
    ("hook", "lack"),
    [
        ("_optimize_final_module", RENAMED),
        ("_reduce", "del numba.core.compiler.CompileResult._reduce"),
    ],
)
def test_without_a_private_hook_of_numba_every_process_compiles_and_a_notice_says_so(hook, lack):
    code = WITHOUT.format(lack)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[:2] == ["7.5", "None"]
    assert len(said) == 3
    assert said[2].startswith(f"machine code cannot be saved with numba {numba.__version__} (")
    assert hook in said[2]


REMOVED = """import sys, warnings
from numba.core import caching, codegen, compiler, dispatcher, event, serialize
from numba.core.runtime.nrt import rtsys
base = dispatcher._DispatcherBase
hooks = [(caching, "NullCache"), (event, "register"), (serialize, "dumps"), (compiler.CompileResult, "_rebuild"),
         (base, "get_call_template"), (base, "get_overload"), (codegen.CPUCodegen, "magic_tuple"),
         (codegen.CodeLibrary, "has_dynamic_globals"), (type(rtsys), "initialize")]
import ucls.kernels.compilation
from ucls.kernels.compilation import jit
for owner, name in hooks:
    hook = owner.__dict__[name]
    delattr(owner, name)
    sys.modules.pop("ucls.kernels.compilation.machine_code", None)
    vars(ucls.kernels.compilation).pop("machine_code", None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        keeper = jit._find_keeper()
    setattr(owner, name, hook)
    print(name, keeper, len(told), name in str(told[0].message) if told else "silent")
"""


@compiled
def test_every_private_hook_that_is_used_is_looked_for_when_the_package_starts():
    done = subprocess.run([sys.executable, "-c", REMOVED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 9
    assert [line for line in lines if line.split()[1:] != ["None", "1", "True"]] == []
