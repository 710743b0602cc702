"""A self-contained page: one HTML file with its style, script and data."""

import base64
import hashlib
import json
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from ucls._util.files import write_atomic
from ucls.errors import UserError

MARK = '<meta name="generator" content="ucls">'


def write_document(path: Path, title: str, body: str, style: str, script: str, data: Any) -> None:
    """Write a page; only its own script may run and only its own style applies."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":  # so that no text can end the element that holds it
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:"
    html = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{MARK}
<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
<script type="application/json" id="data">{text}</script>
<script>{script}</script>
</body>
</html>
"""
    write_atomic(path, lambda target: target.write_text(html, encoding="utf-8"))


def refuse_page(path: Path) -> None:
    """Refuse, before the work, a page that cannot be written or that would replace another kind of file."""
    refuse_file(path, "page", MARK.encode(), path / "maps.html")


def refuse_file(path: Path, kind: str, mark: bytes, example: Path) -> None:
    """Refuse, before the work, a file that cannot be written or that would replace one without the mark of ucls."""
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder: give a file for the {kind}, for example {example}")
        if path.exists() and not _is_marked(path, mark):
            raise UserError(f"{path} is not a {kind} written by ucls: give another path")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path.with_name(f".{path.name}.try"), lambda target: target.write_text(""))
        path.with_name(f".{path.name}.try").unlink()
    except UserError:
        raise
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write a {kind} to {path}: {getattr(error, 'strerror', None) or error}") from None


def _is_marked(path: Path, mark: bytes) -> bool:
    """Whether a file has a mark near its beginning."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return mark in file.read(2**16)


def asset(package: str, name: str) -> str:
    """A style or a script that comes with a package."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
