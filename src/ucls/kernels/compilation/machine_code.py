"""Machine code of kernels on disk, through hooks of numba that are not public; without them `jit` does without it.

Machine code is kept for the next process, a file for each kernel and the types it was compiled for. numba's own cache
watches only the file of the decorated function, so a changed helper in another file would leave stale machine code
behind; and one index, a pickle, lists all the types that a kernel was ever compiled for, so that one that cannot be
imported any more breaks it for all. Here a file is named by a digest of every module that has a part in it, with all
that those import (`sources`): the kernel's own, those of the kernels it was built around or is given, and those of its
NamedTuples. What has a part from outside this package, an algorithm of somebody else's, is kept apart from ours.

A file is written in one move and carries a checksum: a damaged one is thrown away, and where none can be written (no
space, a quota, read only) the code is compiled anew. It holds pickles, so only files that belong to this user, and that
nobody else can write to, are read; see `_files.cache_dir` for the folder. Whoever can write to them can run code as
this user, as with Python's own `__pycache__`. What was not used for 30 days goes when something new is kept.

Processes that want the same code do not make it twice: one holds a file beside it and compiles, the others wait. A
kernel is held while it waits for one that it calls; that cannot become a ring, because calls are none.

A kernel has two faces. What Python calls has a wrapper that takes Python's objects apart, which costs about as much to
compile as the kernel; what other kernels call has none (`keep`), and most are only called by kernels.

A function that is compiled into another's machine code as a copy stays that copy (`_keep_copies`): the linker would
put in its place one of the same name that is already loaded, which is there where it was compiled and not where its
caller came from the cache, and sums reordered otherwise differ in their last bit.
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
from ucls._util.files import cache_dir, hold, let_go, prune, read_owned, touch_daily, write_owned
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
    """The folder that holds machine code, of ours or of others, if there is one that nobody else can write to."""
    return cache_dir("kernels" if ours else "kernels of others")


def keep(dispatcher: Any, inner: Any) -> None:
    """Keep the machine code of a kernel, and let kernels that call it find its face without a wrapper, `inner`."""
    dispatcher._cache, inner._cache = KernelCache(dispatcher), KernelCache(inner)
    inner._compiling_counter = dispatcher._compiling_counter  # by which numba knows a kernel that calls itself
    dispatcher.get_call_template, dispatcher.get_overload = inner.get_call_template, inner.get_overload


class _Ear(Listener):
    """Hears from numba when a kernel begins and ends."""

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
    """Machine code of one kernel on disk, in the place where numba's dispatcher asks for it."""

    patience = PATIENCE  # of this process
    holding: ClassVar[set[Path]] = set()  # what this process holds

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher = dispatcher
        self._held: dict[Any, tuple[Path, int]] = {}
        sources.read(dispatcher.py_func.__module__)  # now: a file may be edited while this process runs

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for these types; None if nobody has compiled it, which then is for this process to do."""
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        _make_ready(target_context, ours=path.parents[1] == kernel_cache())
        found = _read(path, target_context)
        if found is None and self._hold(sig, path):
            found = _read(path, target_context)  # whoever held it before may have made it
            if found is not None:
                self.release(sig)
        return found

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep what was compiled for these types, if that is sensible and there is room."""
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
        """Hold the file that says who compiles; a process that has waited long for one does not wait again."""
        with contextlib.suppress(OSError):
            if not path.parent.exists():  # sources have changed: those of before may be nobody's any more
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
        """Let others compile what this process has compiled, or could not."""
        held = self._held.pop(_kinds(sig), None)
        if held is not None:
            self.holding.discard(held[0])
            let_go(*held)

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        """The file for these types on this processor with these versions, if there may be one."""
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

    For ours that is the manager of memory. All that numba knows how to compile, and SciPy with it, takes as long as
    the rest of a start, and numba's compiler loads it when it is needed. Code of others may call more of it.
    """
    if ours:
        rtsys.initialize(target_context)
    else:
        target_context.refresh()


def _read(path: Path, target_context: Any) -> Any:
    """The compiled kernel in a file, or None if a sound one is not there."""
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
    """A kernel in words that no other shares, with the parts that it was built around; None if one has no words.

    Adds the modules that the kernel and its parts stand in.
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
    """A type in words that no other shares, or None if it is none of those that can be kept; adds its modules."""
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
