"""Make and check the documentation's pages: `python -m tools COMMAND`."""

from pathlib import Path
from typing import Annotated

import typer

from tools import benchmarks, deviations, exploration, pages, reproduction, sections
from ucls._util.files import write_atomic
from ucls.benchmark import result
from ucls.errors import UserError
from ucls.paper.runs.groups import scale_of
from ucls.study import Store

PARTS = pages.DOCS / "data" / "paper"
app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


@app.command()
def fill() -> None:
    """Write what is made from data: whole pages, marked sections of pages, and CSV files."""
    for path in pages.fill():
        print(f"wrote {path}")


@app.command()
def check() -> None:
    """List everything that differs from its data, or has no source; exit with code 1 if there is anything."""
    found = list(pages.complaints())
    print("\n".join(found or ["every page agrees with its data"]))
    raise typer.Exit(bool(found))


@app.command()
def export(
    part: Annotated[list[str], typer.Argument(help="Names of parts, as in `ucls paper run --only`.")],
    store: Annotated[Path, typer.Option(help="The store with their runs.")],
    runs: Annotated[int | None, typer.Option(min=1, help="Runs per curve, as they were made.")] = None,
    full: Annotated[bool, typer.Option("--full", help="The paper's protocol.")] = False,
    slow_runs: Annotated[int | None, typer.Option(min=1, help="As they were made.")] = None,
) -> None:
    """Write parts of the reproduction as data to docs/data/paper."""
    if (runs is None) is not full:
        raise UserError("give either --runs or --full: a quick reproduction is not exported")
    with Store(store, write=True) as opened:
        sections.export(part, scale_of(runs, full, slow_runs), opened, PARTS)


@app.command("merge")
def merge_entry(
    old: Annotated[Path, typer.Argument(help="The file of an entry, which is replaced.")],
    new: Annotated[Path, typer.Argument(help="A file of the same entry with the tasks that were run again.")],
) -> None:
    """Take tasks that were run again into the file of a benchmark entry."""
    result.write(exploration.merged(result.read(old), result.read(new)), old)
    print(f"wrote {old}")


@app.command()
def assemble() -> None:
    """Combine the parts in docs/data/paper into the shipped reproduction, and write the pages."""
    reproduction.write(sections.assemble(PARTS), sections.code() / "paper" / "reference", pages.DOCS)
    fill()


@app.command("benchmarks")
def take_benchmarks(out: Annotated[Path, typer.Argument(help="The folder that `ucls paper run` wrote.")]) -> None:
    """Take the data and figures of docs/beyond.md from the output of `ucls paper run`, and write the page."""
    benchmarks.update(out, pages.DOCS)
    fill()


@app.command("deviations")
def date_deviations() -> None:
    """Write docs/deviations.md after new measurements, with today's date and commit."""
    for path, text in deviations.made(pages.DOCS, now=True).items():
        write_atomic(path, lambda file, text=text: file.write_text(text))


@app.command("scales")
def compute_scales(
    task: Annotated[list[str] | None, typer.Argument(help="Ids of tasks; all by default.")] = None,
) -> None:
    """Compute what a random and the best known policy achieve in the public tasks of the benchmark, and store it."""
    chosen = exploration.compute_scales(task or [])
    print(f"wrote the scales of {', '.join(chosen)}")


if __name__ == "__main__":
    try:
        raise SystemExit(app(standalone_mode=False))
    except UserError as error:
        raise SystemExit(f"tools: {error}") from None
