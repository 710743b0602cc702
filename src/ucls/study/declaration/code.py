"""A digest of the code behind a run outside this package: changed code makes a different run.

The digest covers the source of every module that is imported from outside the installed packages, however indirectly,
and the versions of the installed packages that those modules import. `RESULTS_VERSION` stands for this one.

Only `import` statements count, and `import_module` with the name itself, wherever they are in a file. Files that a
module reads and other kinds of import are not tracked. Nothing is imported to compute the digest.
"""

import ast
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from ucls.kernels.compilation.sources import is_ours

INSTALLED = {"site-packages", "dist-packages"}  # folders with one of these names hold installed packages
IMPORTERS = {"import_module", "__import__"}


def digest(modules: Iterable[str], *facts: str) -> str:
    """The digest of some modules, of all that they import, and of some facts about them."""
    content = hashlib.sha256()
    for line in (*facts, *_parts(modules)):
        content.update(f"{len(line)}:{line}".encode())
    return content.hexdigest()[:24]


def _parts(modules: Iterable[str]) -> list[str]:
    """The modules behind some modules, each with a digest of its source, and the packages, each with its version."""
    parts: set[str] = set()
    found = list(dict.fromkeys(modules))
    seen = set(found)
    for name in found:
        spec = None if _left_out(name) else _spec(name)
        if spec is None:
            continue
        if _is_installed(spec):
            parts.add(_version(name.partition(".")[0]))
            continue
        source = _read(spec)
        parts.add(f"{name} {hashlib.sha256(source).hexdigest()}")
        more = [
            _within(name, is_package=spec.submodule_search_locations is not None, named=n) for n in _imports(source)
        ]
        new = [each for each in dict.fromkeys(_with_parents([name, *more])) if each not in seen]
        found += new
        seen |= set(new)
    return sorted(parts)


def _left_out(name: str) -> bool:
    top = name.partition(".")[0]
    return is_ours(name) or top in sys.stdlib_module_names or top == "__main__"


def _spec(name: str) -> ModuleSpec | None:
    """Return the spec of a module; None if the name is of something within a module, or of nothing."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
        for i in range(len(rest)):
            if spec is None or spec.submodule_search_locations is None:
                return None
            spec = PathFinder.find_spec(".".join([top, *rest[: i + 1]]), spec.submodule_search_locations)
        return spec
    except (ImportError, ValueError, AttributeError):  # a module without a spec, or a finder that fails
        return None


def _is_installed(spec: ModuleSpec) -> bool:
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
    return any(INSTALLED.intersection(Path(place).parts) for place in places)


def _read(spec: ModuleSpec) -> bytes:
    """Return the source of a module as it is now, or the bytes of a library; nothing for a package without a file."""
    try:
        return Path(spec.origin).read_bytes() if spec.origin and spec.has_location else b""
    except OSError:
        return b""


@functools.cache
def _version(top: str) -> str:
    """The versions of the packages that an installed module came with."""
    try:
        return f"{top}=={metadata.version(top)}"
    except metadata.PackageNotFoundError:
        names = sorted(set(metadata.packages_distributions().get(top, ())))
        return " ".join(f"{name}=={metadata.version(name)}" for name in names) or top


@functools.lru_cache(1000)
def _imports(source: bytes) -> tuple[str, ...]:
    """The names in the import statements of a source; one that begins with dots is relative, as in the source."""
    try:
        return tuple(dict.fromkeys(_named(ast.parse(source))))
    except (SyntaxError, ValueError):  # a library
        return ()


def _named(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            yield origin
            yield from (origin + ("" if origin.endswith(".") else ".") + alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0]
            if name in IMPORTERS and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _within(module: str, is_package: bool, named: str) -> str:
    """The full name of what a module imports."""
    level = len(named) - len(named.lstrip("."))
    if not level:
        return named
    above = module.split(".")[: len(module.split(".")) - level + is_package]
    return ".".join([*above, *filter(None, [named[level:]])])


def _with_parents(names: Iterable[str]) -> Iterator[str]:
    """Names, each after those of the packages that it is in, which are imported first."""
    for name in names:
        parts = name.split(".")
        yield from (".".join(parts[:i]) for i in range(1, len(parts) + 1) if all(parts[:i]))
