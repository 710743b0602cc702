"""The `ucls` command. Heavy imports wait until a command needs them, so that `--help` answers at once."""

import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

import ucls
from ucls.cli import benchmark, check, compile, doctor, evaluate, explain, lists, look, paper, study, train, watch
from ucls.cli.logs import check as logs_check
from ucls.cli.logs import compare as logs_compare
from ucls.cli.logs import learn as logs_learn
from ucls.cli.output import streams
from ucls.core.progress import tell_of_compiling
from ucls.errors import Terminated, UclsWarning, UserError, printable

# The usage error of the command-line parser: the base class of BadParameter, which has no public name.
USAGE: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    help="Train, evaluate and inspect Upper-Confidence Least-Squares agents, which explore by optimism.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command()(lists.envs)
app.command()(lists.algorithms)
app.command()(lists.features)
app.command()(train.train)
app.command()(evaluate.evaluate)
app.command()(explain.explain)
app.command()(watch.record_video)
app.command("check-log")(logs_check.check_log)
app.command("compare-log")(logs_compare.compare_log)
app.command("learn-log")(logs_learn.learn_log)
app.command("evaluate-log")(look.evaluate_log)
app.command()(look.diagnose)
app.command()(check.check)
app.command("compile")(compile.compile_ahead)
app.command()(doctor.doctor)
app.add_typer(study.app, name="study")
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(paper.app, name="paper")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ucls {ucls.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Handle the options that precede a command."""


def main() -> None:
    """Run the command. Errors that the user can fix are one line on standard error, with exit code 2.

    Exit code 1 means that something failed later: the values diverged, the disk is full. Exit code 3 means that a
    cluster was lost in the middle of a study.
    """
    streams.prepare()
    with suppress(OSError):  # the working directory was removed
        sys.path.append(str(Path.cwd()))  # so that `--algo my_module` finds a module in the working directory
    warnings.formatwarning = _in_one_line
    tell_of_compiling()
    try:
        code = app(standalone_mode=False) or 0
        sys.stdout.flush()
        raise SystemExit(code)
    except UserError as error:
        _end(str(error), error.code)
    except USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            raise SystemExit(2) from None
        _end(error.format_message(), 2)
    except (BrokenPipeError, SystemExit) as end:
        if not streams.reader_left(end):
            raise
        streams.discard_output()
        raise SystemExit(streams.READER_LEFT) from None
    except OSError as error:
        _end(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", 1)
    except (KeyboardInterrupt, Terminated, typer.Abort) as error:
        _end("stopped", 143 if isinstance(error, Terminated) else 130)


def _in_one_line(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,  # noqa: ARG001
) -> str:
    """Format a warning; a notice addresses the user, so its source line is left out."""
    place = "" if issubclass(category, UclsWarning) else f"{filename}:{lineno}: {category.__name__}: "
    return f"ucls: {place}{printable(message)}\n"


def _end(message: str, code: int) -> NoReturn:
    print(f"ucls: {printable(' '.join(message.split()))}", file=sys.stderr)
    raise SystemExit(code) from None
