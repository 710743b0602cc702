"""Which sources stand behind a module of the package: its own, and all that it imports, however indirectly.

Only `import` statements count, wherever they stand in the file. What a module gets in other ways (by
`importlib`, or as an argument) must not end in a kernel that is cached.
"""

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def is_ours(module: str) -> bool:
    """Whether a module is part of this package."""
    return module == PACKAGE.name or module.startswith(PACKAGE.name + ".")


@functools.cache
def digest(module: str) -> str:
    """A digest of every source that a module of ours is made of.

    >>> digest("ucls.kernels.active") == digest("ucls.kernels.traces")
    False
    """
    sources, found = [module], hashlib.sha256()
    for name in sources:
        sources += [other for other in _imports(name) if other not in sources]
    for name in sorted(sources):
        found.update(name.encode() + b"\0" + _source(name) + b"\0")
    return found.hexdigest()[:16]


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    """The modules of ours that a module names in its import statements."""
    file = _file(module)
    return tuple(dict.fromkeys(_named(ast.parse(_source(module)), module, bool(file and file.stem == "__init__"))))


@functools.cache
def _source(module: str) -> bytes:
    """The source of a module as it was when it was first asked for, which is when the module was imported."""
    file = _file(module)
    return file.read_bytes() if file else b""


def _named(tree: ast.Module, module: str, is_package: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if is_ours(alias.name))
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: len(module.split(".")) - node.level + is_package]
            origin = ".".join([*(above if node.level else []), *([node.module] if node.module else [])])
            for alias in node.names if is_ours(origin) else []:
                within = f"{origin}.{alias.name}"
                yield within if _file(within) else origin


def _file(module: str) -> Path | None:
    """The file of a module of ours, or None: then the name is of something within a module."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    return None
