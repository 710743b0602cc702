"""The sources that a module depends on: its own, and everything that it imports directly or indirectly.

All modules of this package count. For a third-party algorithm, modules count that are not installed, or belong to the
same package; Python's standard library, NumPy and other installed packages do not count, nor do their versions.

Only `import` statements are seen, anywhere in a file. What a module obtains in another way (by `importlib`, or as an
argument) must not become part of a cached kernel.
"""

import ast
import functools
import hashlib
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2]
INSTALLED = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def is_ours(module: str) -> bool:
    """Whether a module is part of this package."""
    return module == PACKAGE.name or module.startswith(PACKAGE.name + ".")


@functools.cache
def digest(module: str) -> str | None:
    """Return a digest of all sources that a module depends on; None if its own cannot be read.

    >>> digest("ucls.kernels.active") == digest("ucls.kernels.linear_algebra.traces")
    False
    """
    if not read(module):
        return None
    modules, content = [module], hashlib.sha256()
    for name in modules:
        modules += [other for other in _imports(name) if other not in modules and counts(other, module)]
    for name in sorted(modules):
        content.update(name.encode() + b"\0" + read(name) + b"\0")
    return content.hexdigest()[:16]


@functools.cache
def read(module: str) -> bytes:
    """Return the source of a module as of the first call, which is made when the module is imported."""
    file = _file(module)
    try:
        return file.read_bytes() if file else b""
    except OSError:
        return b""


def counts(module: str, of: str) -> bool:
    """Tell whether a module that another one imports is part of its sources."""
    if is_ours(module) or module.partition(".")[0] == of.partition(".")[0]:
        return True
    file = _file(module)
    return file is not None and not str(file).startswith(INSTALLED)


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """Return the modules that a module names in its import statements."""
    file = _file(module)
    try:
        tree = ast.parse(read(module))
    except (SyntaxError, ValueError):
        return ()
    return tuple(dict.fromkeys(_named(tree, module, bool(file and file.stem == "__init__"))))


def _named(tree: ast.Module, module: str, is_package: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: len(module.split(".")) - node.level + is_package]
            origin = ".".join([*(above if node.level else []), *([node.module] if node.module else [])])
            for alias in node.names:
                within = f"{origin}.{alias.name}"
                yield within if _file(within) else origin


def _file(module: str) -> Path | None:
    """Return the source file of a module; None if it has none, or if the name is of something within a module."""
    if is_ours(module):
        place = PACKAGE.joinpath(*module.split(".")[1:])
        files = (place.with_suffix(".py"), place / "__init__.py")
        return next((file for file in files if file.is_file()), None)
    name = getattr(sys.modules.get(module), "__file__", None)
    return Path(name).absolute() if module != "__main__" and name and name.endswith(".py") else None
