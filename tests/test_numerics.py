"""A change of what decides a run's numbers is noticed: it must raise NUMERICS, or be shown to change no run.

`python tests/test_numerics.py` writes the digest down again.
"""

import ast
import hashlib
import json
from pathlib import Path

import ucls
from ucls.study.cell import NUMERICS

HERE = Path(ucls.__file__).parent
RECORD = Path(__file__).with_name("numerics.json")
PARTS = ("algorithms", "features", "envs", "kernels", "randomness.py", "runs/learner.py", "runs/loop.py")


def plain(node):
    """A piece of syntax as data that every version of Python reads the same from the same lines, without docstrings."""
    if isinstance(node, list):
        return [plain(each) for each in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value not in (None, [])}
    body = fields.get("body")
    if isinstance(body, list) and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        fields["body"] = body[1:]
    return [type(node).__name__, {name: plain(value) for name, value in fields.items()}]


def digest():
    """The digest of the code behind every run, without comments, docstrings and layout."""
    files = [
        file for part in PARTS for file in sorted((HERE / part).glob("*.py") if "." not in part else [HERE / part])
    ]
    code = {file.relative_to(HERE).as_posix(): plain(ast.parse(file.read_text())) for file in files}
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


def test_numerics_change_only_with_their_version():
    recorded = json.loads(RECORD.read_text())
    assert recorded["numerics"] == NUMERICS, "NUMERICS was raised: run `python tests/test_numerics.py`"
    assert recorded["digest"] == digest(), (
        "the code behind runs has changed: if any run differs, raise NUMERICS in study/cell.py, so that stores do not "
        "mix old results with new; then run `python tests/test_numerics.py`"
    )


if __name__ == "__main__":
    RECORD.write_text(json.dumps({"numerics": NUMERICS, "digest": digest()}, indent=1) + "\n")
