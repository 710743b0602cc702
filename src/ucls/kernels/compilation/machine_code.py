"""A disk cache of the machine code of kernels, built on hooks of numba that are not public.

There is one file per kernel and argument types. numba's own cache has two defects that this one avoids. It watches only
the file of the decorated function, so a changed helper in another file leaves stale machine code behind. And a single
index, a pickle, lists all types that a kernel was ever compiled for, so that one type that can no longer be imported
breaks it for all. Here the file name contains a digest of every module involved and of everything these import
(`sources`): the kernel's own module, those of the kernels it closes over or receives, and those of its NamedTuples.
Kernels that involve modules outside this package are stored in a separate folder.

Files are written atomically and carry a checksum. A corrupted file is deleted, and if none can be written (no space, a
quota, a read-only disk) every process compiles for itself. Files contain pickles, so they are read only if they belong
to this user and nobody else can write to them (`_util.files.cache_dir`). Whoever can write to them can run code as this
user, as with Python's own `__pycache__`. Files that were not used for 30 days are deleted when a new one is written.

Processes that need the same kernel do not compile it twice: one holds a lock file and compiles, the others wait. A
process keeps the lock of a kernel while it waits for one that this kernel calls. That cannot deadlock, because calls
between kernels form no cycle.

Every kernel is compiled in two forms. The one that Python calls has a wrapper that unpacks Python objects and costs
about as much to compile as the kernel itself. The one that other kernels call has no wrapper (`keep`); most kernels are
only called by others.

A function that numba copies into the machine code of its caller stays that copy (`_keep_copies`). Otherwise the linker
would replace it by a loaded function of the same name, if there is one; that depends on what was compiled and what came
from the cache, and sums that are reordered differently differ in their last bit.
"""

import contextlib
import functools
import hashlib
import pickle
import sys
import time
from pathlib import Path
from typing import Any, ClassVar, cast

import llvmlite
import numba
import numba.core.codegen
import numba.core.config
from llvmlite.binding import Linkage
from numba.core import types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.event import Listener, register
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from ucls._util.compiling import clock
from ucls._util.files import cache_dir, hold, prune, read_owned, release_file, touch_daily, write_owned
from ucls.kernels.compilation import sources

SHA = hashlib.sha256().digest_size
PATIENCE = 120.0  # seconds to wait for another process that compiles the same
PLAIN = (types.Number, types.Boolean, types.NoneType, types.NumPyRandomGeneratorType)

config: Any = numba.core.config


def _require() -> None:
    """Raise AttributeError if this numba lacks a hook that is only used later."""
    needed = {
        numba.njit(lambda: None): ("_cache", "_compiling_counter", "get_call_template", "get_overload"),
        CompileResult: ("_reduce", "_rebuild", "codegen", "library", "lifted"),
        numba.core.codegen.CPUCodegen: ("magic_tuple",),
        numba.core.codegen.CPUCodeLibrary: ("_optimize_final_module", "has_dynamic_globals"),
        rtsys: ("initialize",),
    }
    for owner, names in needed.items():
        for name in names:
            getattr(owner, name)


def _keep_copies() -> None:
    """Let numba make the copies of other functions in each piece of machine code its own."""
    library: Any = numba.core.codegen.CPUCodeLibrary
    optimize = library._optimize_final_module

    def optimize_and_own(self: Any) -> None:
        optimize(self)
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"

    library._optimize_final_module = optimize_and_own


_require()
_keep_copies()


@functools.cache
def kernel_cache(ours: bool = True) -> Path | None:
    """Return the folder of machine code, of this package or of third-party kernels, or None if none is safe to use."""
    return cache_dir("kernels" if ours else "kernels of others")


def keep(dispatcher: Any, inner: Any) -> None:
    """Cache the machine code of a kernel, and let other kernels call its form without a wrapper, `inner`."""
    dispatcher._cache, inner._cache = KernelCache(dispatcher), KernelCache(inner)
    inner._compiling_counter = dispatcher._compiling_counter  # how numba recognizes a kernel that calls itself
    dispatcher.get_call_template, dispatcher.get_overload = inner.get_call_template, inner.get_overload


class _Ear(Listener):
    """Is notified by numba when the compilation of a kernel begins and ends."""

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"]._cache, KernelCache):
            clock.begin()

    def on_end(self, event: Any) -> None:
        dispatcher, args = event.data["dispatcher"], tuple(event.data["args"])
        if isinstance(dispatcher._cache, KernelCache):
            clock.end()
            if args not in dispatcher.overloads:
                dispatcher._cache.release(args)


register("numba:compile", _Ear())


class KernelCache(NullCache):
    """The cache of one kernel, which numba's dispatcher asks for machine code."""

    patience = PATIENCE  # of this process
    holding: ClassVar[set[Path]] = set()  # what this process holds

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._held: dict[Any, tuple[Path, int]] = {}
        sources.read(dispatcher.py_func.__module__)  # now: a file may be edited while this process runs

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for these types, or None if this process has to compile it."""
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        _make_ready(target_context, ours=path.parents[1] == kernel_cache())
        found = _read(path, target_context)
        if found is None and self._hold(sig, path):
            found = _read(path, target_context)  # another process may have compiled it meanwhile
            if found is not None:
                self.release(sig)
        return found

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Save what was compiled for these types, if it can be loaded again and there is space."""
        path = self._path(sig, cres.codegen)
        try:
            if path is None or cres.lifted or cres.library.has_dynamic_globals:
                return
            blob = dumps(cres._reduce())
            with contextlib.suppress(OSError):
                write_owned(path, hashlib.sha256(blob).digest() + blob)
        finally:
            self.release(sig)

    def _hold(self, sig: Any, path: Path) -> bool:
        """Take the lock for compiling a kernel; a process that has waited in vain once does not wait again."""
        with contextlib.suppress(OSError):
            if not path.parent.exists():  # sources have changed: files of earlier ones may be unused
                prune(path.parent.parent)
                path.parent.mkdir(exist_ok=True, mode=0o700)
        lock, began = path.with_suffix(".lock"), time.monotonic()
        handle = None if lock in self.holding else hold(lock, self.patience)
        if handle is None:
            if time.monotonic() - began > self.patience:
                KernelCache.patience = 0.0
            return False
        self._held[_kinds(sig)] = lock, handle
        self.holding.add(lock)
        return True

    def release(self, sig: Any) -> None:
        """Release the lock, after compiling or after an error."""
        held = self._held.pop(_kinds(sig), None)
        if held is not None:
            self.holding.discard(held[0])
            release_file(*held)

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        """Return the file for these types, this processor and these versions; None if the kernel cannot be cached."""
        modules: set[str] = set()
        kinds = [_described(kind, modules) for kind in _kinds(sig)]
        made = _built(self._dispatcher, modules)
        digests = [sources.digest(module) for module in sorted(modules)]
        root = kernel_cache() if all(map(sources.is_ours, modules)) else kernel_cache(ours=False)
        if None in (made, root, *kinds, *digests):
            return None
        versions = numba.__version__, llvmlite.__version__, sys.version, sys.implementation.cache_tag
        switches = [getattr(config, name, None) for name in ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE")]
        face = self._dispatcher.targetoptions.get("no_cpython_wrapper", False)
        key = repr((made, face, kinds, codegen.magic_tuple(), versions, switches))
        folder = hashlib.sha256(repr(digests).encode()).hexdigest()[:16]
        name = self._dispatcher.py_func.__name__
        return cast(Path, root) / folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.kernel"


def _kinds(sig: Any) -> tuple[Any, ...]:
    """The types of the arguments of a signature, which may be those types alone."""
    return tuple(getattr(sig, "args", sig))


def _make_ready(target_context: Any, ours: bool) -> None:
    """Load what machine code calls at run time.

    Kernels of this package need only numba's memory manager. Loading everything that numba can compile, SciPy included,
    takes as long as the rest of a start; the compiler does so when it is needed. Third-party kernels may call more.
    """
    if ours:
        rtsys.initialize(target_context)
    else:
        target_context.refresh()


def _read(path: Path, target_context: Any) -> Any:
    """Read a compiled kernel, or return None if there is no valid file."""
    blob = read_owned(path)
    if blob is None:
        return None
    try:
        if hashlib.sha256(blob[SHA:]).digest() != blob[:SHA]:
            raise ValueError("damaged")
        touch_daily(path.parent)
        return CompileResult._rebuild(target_context, *pickle.loads(blob[SHA:]))
    except Exception:  # whatever is wrong with a file, the sources are there
        with contextlib.suppress(OSError):
            path.unlink()
        return None


def _built(dispatcher: Any, modules: set[str]) -> str | None:
    """Return a unique description of a kernel and what it closes over; None if a part cannot be described.

    The modules of the kernel and of these parts are added to `modules`.
    """
    function = dispatcher.py_func
    modules.add(function.__module__)
    parts = [_part(cell.cell_contents, modules) for cell in function.__closure__ or ()]
    flags = sorted(dispatcher.targetoptions.get("fastmath") or ())
    return None if None in parts else f"{function.__module__}.{function.__qualname__}{flags}{parts}"


def _part(value: Any, modules: set[str]) -> str | None:
    if hasattr(value, "py_func"):
        return _built(value, modules)
    return repr(value) if isinstance(value, bool | int | float | str | None) else None


def _described(kind: Any, modules: set[str]) -> str | None:
    """Return a unique description of a type, or None if it cannot be cached; adds its modules to `modules`."""
    if isinstance(kind, types.BaseTuple):
        parts = [_described(part, modules) for part in cast(Any, kind).types]
        named = getattr(kind, "instance_class", tuple)
        if named is not tuple:
            modules.add(named.__module__)
        return (
            None if None in parts else f"{named.__module__}.{named.__qualname__}{getattr(named, '_fields', ())}{parts}"
        )
    if isinstance(kind, types.Dispatcher):
        return _built(kind.dispatcher, modules)
    simple = isinstance(kind, PLAIN) or (isinstance(kind, types.Array) and isinstance(kind.dtype, PLAIN))
    return str(kind) if simple else None
