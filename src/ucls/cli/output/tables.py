"""Tables that fit the terminal: words wrap, numbers stay whole, and rows become blocks if they do not fit."""

from collections.abc import Sequence
from typing import Any

from ucls.errors import printable

GAP = 2  # columns of the terminal between two of the table
NARROW = 12  # for the heads of a block
NUMBER = set("0123456789.,-+e% ")


def console() -> Any:
    """The console for tables; lines in a file are never wrapped."""
    from rich.console import Console

    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=10_000)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str = "", to: Any = None) -> None:
    """Print rows of cells, which may contain rich markup, under their headings."""
    to = to or console()
    cells, widths = _texts(rows), _fit(heads, rows, to.width)
    if title:
        to.print(f"[bold]{_escaped(title)}[/]", soft_wrap=True)
    if widths is None:
        _print_blocks(heads, cells, to)
    else:
        _print_grid(heads, cells, widths, to)
    to.print()


def fits(heads: Sequence[str], rows: Sequence[Sequence[str]], to: Any) -> bool:
    """Whether a table fits side by side."""
    return _fit(heads, rows, to.width) is not None


def _texts(rows: Sequence[Sequence[str]]) -> list[list[Any]]:
    from rich.text import Text

    return [[Text.from_markup(printable(cell)) for cell in row] for row in rows]


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(printable(text))


def _fit(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Choose column widths, wrapping the widest first; None if numbers or names would be split."""
    columns = list(zip(*([cell.plain for cell in row] for row in _texts(rows)), strict=True)) or [()] * len(heads)
    wanted = [max(map(_width, (head, *cells))) for head, cells in zip(heads, columns, strict=True)]
    least = [max(map(_longest_word, (head, *cells))) for head, cells in zip(heads, columns, strict=True)]
    room = width - GAP * (len(wanted) - 1)
    while (excess := sum(wanted) - room) > 0:
        i = max(range(len(wanted)), key=lambda i: wanted[i] if wanted[i] > least[i] else -1)
        if wanted[i] <= least[i]:
            return None
        wanted[i] = max(least[i], wanted[i] - excess)
    return wanted


def _longest_word(text: str) -> int:
    return max(map(_width, text.split()), default=0)


def _width(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _print_grid(heads: Sequence[str], cells: Sequence[Any], widths: Sequence[int], to: Any) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, GAP - 1, 0, 0), pad_edge=False, show_edge=False)
    for i, (head, width) in enumerate(zip(heads, widths, strict=True)):
        number = bool(cells) and all(set(row[i].plain) <= NUMBER for row in cells)
        table.add_column(_escaped(head), justify="right" if number else "left", width=width, overflow="fold")
    for row in cells:
        table.add_row(*row)
    to.print(table)


def _print_blocks(heads: Sequence[str], cells: Sequence[Any], to: Any) -> None:
    from rich.text import Text

    side = min(NARROW, max(map(len, heads[1:]), default=0))
    for first, *rest in cells:
        to.print(Text.assemble(first, style="bold"), soft_wrap=True)
        for head, cell in zip(heads[1:], rest, strict=True):
            if cell.plain:
                to.print(Text.assemble(f"  {head:{side}} ", cell), soft_wrap=True)
