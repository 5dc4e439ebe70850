"""A pseudo-terminal: a real peer for what the command line asks of a user."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Sequence


def in_a_terminal(told: Sequence[str], typed: Callable[[bytes], bytes]) -> tuple[int, str]:
    """What a command in a terminal of its own exits with and shows. ``typed`` says what is typed
    next, if anything, given all that is shown so far; it is asked again and again.
    """
    return program_in_a_terminal([sys.executable, "-P", "-m", "callwright", *told], typed)


def program_in_a_terminal(
    command: Sequence[str], typed: Callable[[bytes], bytes]
) -> tuple[int, str]:
    """The same of any program, named by its path."""
    import pty  # POSIX only

    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells let it be ignored in the background
        os.execv(command[0], [*command])
    shown = b""
    while True:
        if keys := typed(shown):
            os.write(terminal, keys)
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the other side has gone
            break
        if not piece:
            break
        shown += piece
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace")
