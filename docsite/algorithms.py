"""A page for each algorithm, made from its docstring and its settings, so that it cannot disagree with them."""

import importlib
import inspect

from bench.report import first_tables
from docsite.docstrings import shown
from tools import benchmarks
from tools.tables import ROOT, markdown
from ucls.algorithms import ALGORITHMS, DEFAULT, needs_discrete
from ucls.settings import Setting, describe

LABELS = {  # their names in docs/data/benchmarks
    "ucls": ["UCLS"],
    "ucls-l": ["UCLS-L"],
    "gv-ucb": ["GV-UCB"],
    "ucbootstrap": ["UCBootstrap"],
    "dgpq": ["DGPQ"],
    "lspi-rmax": ["LSPI-Rmax"],
    "rlsvi": ["RLSVI"],
    "sarsa": ["Sarsa, optimistic", "Sarsa, epsilon-greedy"],
}


def pages() -> dict[str, str]:
    """The pages of all algorithms, and one that lists them, by name."""
    return {"algorithms/index.md": index(), **{f"algorithms/{name}.md": page(name) for name in ALGORITHMS}}


def index() -> str:
    """The list of algorithms: the first line of each docstring."""
    rows = [[f"[`{name}`]({name}.md)", _docstring(name).splitlines()[0]] for name in ALGORITHMS]
    return f"""# Algorithms

Each is one file that reads like its box in the paper. These pages are made from the docstrings of those files.
`{DEFAULT}` is the default; [Choosing an algorithm](../choose.md) compares them. `ucls algorithms` lists them with all
settings.

{markdown(["name", "what"], rows)}
"""


def page(name: str) -> str:
    """Return the page of an algorithm: its description, its settings, its deviations, and its results."""
    title, _, rest = _docstring(name).partition("\n")
    about, mark, deviations = rest.partition("\nDeviations")
    path = ALGORITHMS[name].replace(".", "/")
    env = "DeepSea" if needs_discrete(_module(name)) else "RiverSwim"
    parts = [
        f"# {name}\n\n{title}\n",
        shown(about),
        f"The source is [`{path}.py`](../source/src/{path}.py.md).",
        f"## Use\n\n```sh\nucls train ucls/{env}-v0 --algo {name} --steps 20000\n```\n\n"
        f'In Python: `ucls.Agent(env, "{name}")`, with any setting below by its name.',
        f"## Settings\n\n{settings_table(name)}",
        f"## Deviations\n\n{shown(f'Deviations{deviations}')}" if mark else "",
        f"## Results\n\n{results(name)}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def sources() -> list[str]:
    """Return the files that these pages show."""
    return [f"src/{path.replace('.', '/')}.py" for path in ALGORITHMS.values()]


def settings_table(name: str) -> str:
    """The settings that an algorithm declares."""
    rows = [[f"`{s.name}`", _default(s), str(s.check), s.doc] for s in describe(_module(name).Settings)]
    return markdown(["setting", "default", "may be", "is"], rows) if rows else "It has none."


def results(name: str) -> str:
    """The rows of the measured tables that name an algorithm."""
    cost = first_tables(ROOT / "docs" / "data" / "performance.json")["algorithms"]
    costs = [row[1:6] for row in cost.rows if row[0].split(" ")[0] == name]
    parts = []
    if costs:
        said = "Microseconds per step by number of features d, from [Performance](../performance.md)"
        parts.append(f"{said}:\n\n{markdown([*cost.head[1:6]], costs)}")
    found = benchmarks.rows("comparison")
    rows = [[*row[:5], row[6]] for row in found if row[2] in LABELS.get(name, [])]
    if rows:
        columns = ["domain", "metric", "variant", "ucls-exact", name, "runs"]
        said = "Means with 95% intervals beside those of `ucls-exact`, from the [benchmarks](../beyond.md)"
        parts.append(f"{said}:\n\n{markdown(columns, rows)}")
    if name == DEFAULT:
        parts.append("The [benchmarks](../beyond.md) compare it with UCLS and the tuned baselines.")
    parts.append("The paper's own comparison is in [Reproduction](../reproduction.md).")
    return "\n\n".join(parts)


def _module(name: str):
    return importlib.import_module(ALGORITHMS[name])


def _docstring(name: str) -> str:
    return inspect.getdoc(_module(name)) or ""


def _default(setting: Setting) -> str:
    if setting.follows is None:
        return f"`{setting.default}`"
    otherwise = f", else `{setting.otherwise}`" if setting.otherwise is not None else ""
    of = "the environment's" if setting.follows == setting.name else "that of"
    return f"{of} `{setting.follows}`{otherwise}"
