"""How every command ends that cannot go on: a sentence to stderr and an exit code. Loads no library."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from callwright.cli.streams import guard_streams
from callwright.errors import CallwrightError

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Our own errors become one message and exit code 1, output that does not fit too, an interrupt 130, a reader
    that has gone 0. Whatever the command prints, no text of a stranger steers the terminal."""
    guard_streams()
    try:
        try:
            yield
        finally:
            if sys.stdout is not None and not sys.stdout.closed:
                sys.stdout.flush()  # what does not fit must show while somebody can still say it
    except CallwrightError as error:
        print(f"error: {_indented(str(error))}", *getattr(error, "__notes__", ()), sep="\n  ", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        raise SystemExit(0) from None
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        print(
            f"error: the output cannot be written: {error.strerror}\n"
            "  make room, or write it elsewhere; what was run is kept: callwright runs, callwright resume RUN",
            file=sys.stderr,
        )
        _let_go()
        raise SystemExit(1) from None


def _indented(text: str) -> str:
    """All lines but the first indented: none that a message of others brings along passes for one of ours."""
    first, *rest = text.splitlines() or [""]
    return "\n".join([first, *(line if line.startswith("  ") else f"  {line}" for line in rest)])


def _let_go() -> None:
    """Nothing more is written to stdout, also not what it still holds."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
