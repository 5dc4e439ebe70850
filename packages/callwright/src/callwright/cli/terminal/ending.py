"""Ends a command that cannot continue: a sentence to stderr and an exit code. Loads no library."""

from __future__ import annotations

import errno
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from shutil import get_terminal_size

from callwright.cli.terminal.streams import guard_streams
from callwright.nouns.errors import CallwrightError
from callwright.nouns.installation import ShellCommand, render_library_hint

_COLUMNS = re.compile(r"\s*\S(?:\S| (?! ))*\s{2,}(?=\S)")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def report_errors() -> Iterator[None]:
    """Our own errors become one message and exit code 1, output that does not fit and a library
    that is not installed too, an interrupt 130, a reader that has gone 0. Whatever the command
    prints, no text of a stranger steers the terminal.
    """
    guard_streams()
    try:
        try:
            yield
        finally:
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()  # what does not fit must show while somebody can still say it
    except CallwrightError as error:
        print_error(error)
        raise SystemExit(1) from None
    except ModuleNotFoundError as error:
        missing = (error.name or "callwright").partition(".")[0]
        if missing.startswith("callwright"):
            raise
        print(
            f"error: the library {missing} is not installed\n  {render_library_hint(missing)}",
            file=sys.stderr,
        )
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader of our output has gone
        _discard_stdout()  # or the interpreter's own flush at the end answers 120
        sys.stderr.close()
        raise SystemExit(0) from None
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        print(
            f"error: the output cannot be written: {error.strerror}\n  make room, or write it"
            " elsewhere; what was run is kept: callwright runs, callwright resume RUN",
            file=sys.stderr,
        )
        _discard_stdout()
        raise SystemExit(1) from None


def print_error(error: CallwrightError) -> None:
    """Print an error of ours on stderr: what happened, and what to do next."""
    print(
        f"error: {_indent_lines(str(error), _list_commands(error))}",
        *getattr(error, "__notes__", ()),
        sep="\n  ",
        file=sys.stderr,
    )


def _list_commands(error: CallwrightError) -> tuple[str, ...]:
    """Lines of the error that somebody will copy into a shell."""
    return (error.hint,) if isinstance(error.hint, ShellCommand) else ()


def _indent_lines(text: str, unbroken: Sequence[str] = ()) -> str:
    """All lines but the first indented: none that a message of others brings along passes for one
    of ours. In a terminal, lines end where words do, except those in ``unbroken``.
    """
    first, *rest = text.splitlines() or [""]
    lines = [first, *(line if line.startswith("  ") else f"  {line}" for line in rest)]
    if sys.stderr.isatty():
        width = get_terminal_size().columns
        befores = ["error: ", *[""] * len(rest)]
        lines = [
            line if line.strip() in unbroken else _wrap_line(line, before, width)
            for line, before in zip(lines, befores, strict=True)
        ]
    return "\n".join(lines)


def _wrap_line(line: str, before: str, width: int) -> str:
    """The line in as many as it needs, the later ones under its second column if it has two."""
    columns = _COLUMNS.match(line)
    margin = len(line) - len(line.lstrip())
    inner = len(columns[0]) if columns and len(columns[0]) < width // 2 else margin + 2
    parts = textwrap.wrap(
        before + line.lstrip(), width, initial_indent=" " * margin, subsequent_indent=" " * inner,
        break_long_words=False, break_on_hyphens=False, replace_whitespace=False,
    )  # fmt: skip
    return "\n".join(parts).removeprefix(before)


def _discard_stdout() -> None:
    """Nothing more is written to stdout, also not what it still holds."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
