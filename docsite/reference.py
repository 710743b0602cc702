"""The extension of mkdocstrings that lets the API reference show docstrings as the other pages do."""

from typing import Any

from griffe import Extension, Object

from docsite.docstrings import shown


class Shown(Extension):
    """Makes Markdown of every docstring before it is read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the docstring of whatever has one."""
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)
