"""`ucls compile`: compile kernels before the first run."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ucls.cli.input import complete
from ucls.cli.input.options import FeaturesName, Jobs, Json, Settings
from ucls.cli.output.streams import print_json
from ucls.errors import UserError

if TYPE_CHECKING:
    from ucls.train.precompile import Done


def compile_ahead(
    env: Annotated[
        str | None,
        typer.Argument(help="An environment; by default, all built-in ones.", autocompletion=complete.envs),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--algo", help="An algorithm; may be repeated. Default: all.", autocompletion=complete.algorithms),
    ] = None,
    settings: Settings = None,
    features: FeaturesName = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32.")] = "float64",
    jobs: Jobs = None,
    as_json: Json = False,
) -> None:
    """Compile kernels in advance, in parallel: for container images, clusters and demonstrations.

    Kernels in the cache are not compiled again. `UCLS_CACHE_DIR` sets the cache folder.
    """
    from ucls.settings import parse
    from ucls.study.runners.base import one_thread_each
    from ucls.study.runners.cores import cores
    from ucls.train import precompile

    wanted = precompile.tasks(env, agent or [], parse(settings or []), features, dtype)
    done: list[Done] = []
    with one_thread_each():
        for one in precompile.compile_all(wanted, jobs or cores()):
            done.append(one)
            if not as_json and not one.error:
                print(f"{len(done):3} of {len(wanted)}  {in_words(one)}", flush=True)
    if all(one.error for one in done):
        raise UserError(done[0].error or "")
    kept = precompile.size()
    if as_json:
        print_json({"compiled": [one._asdict() for one in done], "cache": kept._asdict()})
    else:
        where = f"in {kept.folder}" if kept.folder else "not saved: no cache folder is writable"
        print(f"{kept.kernels:,} kernels, {kept.bytes / 2**20:,.1f} MiB, {where}")
    failed = [one for one in done if one.error]
    for one in failed:
        print(f"ucls: {in_words(one)}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def in_words(one: "Done") -> str:
    """Describe the outcome of a task in one line."""
    if one.error:
        return f"{one.agent} in {one.env}: {one.error}"
    what = f"{one.kernels} kernels in {one.seconds:.1f} s" if one.kernels else "already compiled"
    return f"{one.agent} in {one.env}: {what}"
