"""The `ucls benchmark` commands: run an entry, check its file, show files on a page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucls.cli.input import complete
from ucls.cli.input.options import Jobs, Json, Ray, Settings, Slurm
from ucls.cli.output.streams import print_json
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.benchmark.result import Entered

app = typer.Typer(
    help="Run agents with one setting in all environments of the benchmark, and compare them.", no_args_is_help=True
)

Files = Annotated[list[Path], typer.Argument(help="Files that `ucls benchmark run` wrote.")]
EntryName = Annotated[
    str,
    typer.Argument(
        metavar="ENTRY",
        help="An algorithm, the module of one, or module:factory: a function of (env, seed) that returns an agent.",
        autocompletion=complete.algorithms,
    ),
]
TaskIds = Annotated[list[str] | None, typer.Option("--task", help="Only this task; repeat for several.")]
DEFAULT_STORE = Path("out/benchmark.sqlite")


@app.command("tasks")
def list_tasks(as_json: Json = False) -> None:
    """List the public tasks with their steps and scales."""
    from ucls.benchmark.tasks import PUBLIC, scale_of
    from ucls.cli.output.tables import print_table

    rows = [(task, scale_of(task)) for task in PUBLIC]
    if as_json:
        print_json([{**task._asdict(), "settings": dict(task.settings), **scale._asdict()} for task, scale in rows])
        return
    cells = [[t.id, t.kind, f"{t.steps:,}", f"{s.random:.4g}", f"{s.best:.4g}", "yes" * t.quick] for t, s in rows]
    print_table(["task", "kind", "steps", "random", "best known", "quick"], cells)


@app.command()
def run(
    entry: EntryName,
    settings: Settings = None,
    label: Annotated[str | None, typer.Option(help="The name on the page; by default that of the entry.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer tasks and 3 seeds: minutes instead of hours.")] = False,
    generate: Annotated[
        bool, typer.Option("--generated", help="Tasks that are drawn from the entry's own code, not the public ones.")
    ] = False,
    task: TaskIds = None,
    seeds: Annotated[int | None, typer.Option(min=1, max=1000, help="Number of seeds; by default 10.")] = None,
    store: Annotated[Path, typer.Option(help="The SQLite file with the runs.")] = DEFAULT_STORE,
    out: Annotated[Path | None, typer.Option(help="The file to write; by default out/benchmark/LABEL.json.")] = None,
    jobs: Jobs = None,
    ray: Ray = None,
    slurm: Slurm = None,
    as_json: Json = False,
) -> None:
    """Run an entry with one setting in all tasks and write its file; repeat the command to resume."""
    from ucls._util.html import refuse_file
    from ucls.benchmark import result
    from ucls.benchmark import run as runs
    from ucls.benchmark.entry import OBJECT, entry_of
    from ucls.benchmark.tasks import QUICK_SEEDS, SEEDS
    from ucls.settings import parse
    from ucls.study.runners import runner_of

    given = entry_of(entry, parse(settings or []), label)
    if given.kind == OBJECT and (ray is not None or slurm is not None):
        raise UserError("--ray and --slurm are for algorithms: objects run on this machine")
    order, missing = runs.order(given, generate, quick, task or [], seeds or (QUICK_SEEDS if quick else SEEDS))
    out = out or Path("out/benchmark") / f"{given.label.replace('/', '-')}{'-generated' * generate}.json"
    refuse_file(out, "result", result.FORMAT.encode(), Path("result.json"))
    found = runs.execute(order, store, runner_of(jobs, ray, slurm), jobs, quiet=as_json)
    if found is None:
        raise typer.Exit(130)
    result.write(found, out)
    failed = [run for run in found.runs if not run.sound]
    told = {"file": str(out), "runs": len(found.runs), "failed": len(failed), "left_out": missing}
    if as_json:
        print_json({**told, "refused": dict(found.refused), "scores": found.scores})
        return
    _show(found)
    for each in failed[:5]:
        print(f"{each.task}, seed {each.seed}: {each.error or 'its values diverged'}")
    for id, why in found.refused.items():
        print(f"{id}: {why}")
    if missing:
        print(f"left out, because MiniGrid is not installed (pip install minigrid): {', '.join(missing)}")
    print(f"wrote {out}")


def _show(found: "Entered") -> None:
    from ucls.cli.output.tables import print_table

    by_task, total = found.scores["tasks"], found.scores["overall"]
    rows = [[id, f"{one['online']:.3f}", f"{one['greedy']:.3f}"] for id, one in by_task.items()]
    rows += [[f"all: {name}", *(f"{total[measure][name]:.3f}" for measure in total)] for name in total["online"]]
    print_table(["score of", "online", "greedy"], rows, found.entry.label)


@app.command()
def check(files: Files, as_json: Json = False) -> None:
    """Verify files: their tasks, the completeness of their runs, and their scores. Nothing in them is executed."""
    from ucls.benchmark.check import check as verify
    from ucls.benchmark.check import code_now

    told: list[dict[str, Any]] = []
    for file in files:
        found, part = verify(file)
        here = code_now(found.entry)
        code = "not compared" if here is None else "as here" if here == found.entry.code else "not as here"
        told.append({"file": str(file), "label": found.entry.label, "set": found.set, "part": part, "code": code})
    if as_json:
        print_json(told)
        return
    for one in told:
        print(f"{one['file']}: {one['label']}, {one['set']} set, {one['part']}; code {one['code']}")


@app.command()
def page(
    files: Files,
    out: Annotated[Path, typer.Option(help="The page to write: .html, or .md for its tables alone.")] = Path(
        "out/benchmark/page.html"
    ),
) -> None:
    """Write a self-contained page that compares entries. Files are checked first."""
    from ucls._util.files import write_atomic
    from ucls._util.html import refuse_page
    from ucls.benchmark import page as pages
    from ucls.benchmark.check import check as verify

    entries = [verify(file)[0] for file in files]
    if out.suffix == ".md":
        text = pages.markdown(entries)
        write_atomic(out, lambda path: path.write_text(text, encoding="utf-8"))
    else:
        refuse_page(out)
        pages.write_page(out, entries)
    print(f"wrote {out}")


@app.command("bsuite")
def run_bsuite(
    algorithm: Annotated[
        str, typer.Argument(metavar="ALGORITHM", help="An algorithm.", autocompletion=complete.algorithms)
    ],
    settings: Settings = None,
    experiment: Annotated[
        list[str] | None, typer.Option(help="Only this experiment of bsuite; repeat for several.")
    ] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="Fewer episodes: the score of an unfinished run.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**31)] = 0,
    as_json: Json = False,
) -> None:
    """Score an algorithm by the rules of bsuite, in its experiments without memory."""
    from ucls.benchmark import bsuite
    from ucls.cli.output.tables import print_table
    from ucls.settings import parse

    names = experiment or list(bsuite.EXPERIMENTS)
    found: dict[str, float] = {}
    for name in names:
        bsuite.experiment_of(name)
    for name in names:
        found[name] = bsuite.run(algorithm, name, parse(settings or []), episodes, seed)[0]
    if as_json:
        print_json({"algorithm": algorithm, "episodes": episodes, "seed": seed, "scores": found})
        return
    print_table(["experiment", "score"], [[name, f"{value:.3f}"] for name, value in found.items()], algorithm)
