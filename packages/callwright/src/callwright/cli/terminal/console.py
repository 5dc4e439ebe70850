"""Our colours, tables and moving lines, in which the texts of others stay texts.

In a terminal, tables are as wide as it is: cells are wrapped between words and nothing is cut;
where the columns do not fit side by side, every row is a paragraph. In a pipe there are no frames,
colours or widths: a line a row, a tab between cells.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from callwright.cli.terminal.streams import unwrap_stream
from callwright.nouns.control_characters import escape_controls, one_line

_BETWEEN = 3  # characters between two columns
_FOLDED = 40  # letters: longer words than that, as addresses are, are continued in the next line of their cell


class GuardedConsole(Console):
    """A console that colours and moves as it is told by us, and escapes the control characters of
    every text.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The segments of a renderable; those that are texts, escaped."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(escape_controls(segment.text), segment.style)


def build_console(*, stderr: bool = False) -> GuardedConsole:
    """A console on the standard output or the standard error of this moment."""
    return GuardedConsole(
        file=unwrap_stream(sys.stderr if stderr else sys.stdout), highlight=False, emoji=False
    )


def shorten_text(text: str, length: int = 90) -> str:
    """The first words of a description, in one line; "…" where there are more."""
    return textwrap.shorten(one_line(text), length, placeholder=" …")


def format_count(number: int, noun: str) -> str:
    """A number with its noun: ``1 tool``, ``2 tools``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def print_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    out: GuardedConsole | None = None,
) -> None:
    """Print rows of texts, on standard output as a rule; none of their letters is left out."""
    out, cells = out or build_console(), [[one_line(cell) for cell in row] for row in rows]
    if title:
        out.print(Text(title), soft_wrap=True)
    if not out.is_terminal:
        for row in (heads, *cells):
            out.file.write("\t".join(row) + "\n")
        return
    widths = _compute_widths(heads, cells, out.width)
    if widths is None:
        _print_paragraphs(out, heads, cells)
        return
    table = Table(show_edge=False)
    for head, width in zip(heads, widths, strict=True):
        table.add_column(Text(head), width=width, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    out.print(table)


def _compute_widths(
    heads: Sequence[str], rows: Sequence[Sequence[str]], width: int
) -> list[int] | None:
    """As many characters for each column as its longest word needs, and what is left for those that
    need more; None where that is too much for the terminal.
    """
    columns = [list(column) for column in zip(heads, *rows, strict=True)]
    needed = [
        max(cell_len(word) for cell in column for word in cell.split(" ")) for column in columns
    ]
    widths = [needed[0], *(min(one, _FOLDED) for one in needed[1:])]
    wanted = [max(map(cell_len, column)) for column in columns]
    left = width - sum(widths) - _BETWEEN * (len(columns) - 1) - 2
    if left < 0:
        return None
    while left and (short := [at for at, one in enumerate(widths) if one < wanted[at]]):
        for at in sorted(short, key=lambda at: wanted[at] - widths[at])[: max(left, 1)]:
            more = min(max(left // len(short), 1), wanted[at] - widths[at], left)
            widths[at] += more
            left -= more
    return widths


def _print_paragraphs(out: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Each row under its first cell, the others named by their heads."""
    for row in rows:
        out.print(Text(row[0], style="bold"), soft_wrap=True)
        for head, cell in zip(heads[1:], row[1:], strict=True):
            if cell:
                out.print(Padding(Text.assemble((f"{head}: ", "dim"), cell), (0, 0, 0, 2)))
