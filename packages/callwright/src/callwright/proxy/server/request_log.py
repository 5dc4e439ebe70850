"""One line a request for who runs the proxy: what was asked, what came of it, and what was
repaired.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from callwright.proxy.session.record import Record

_LONGEST_PATH = 200
_MOST_LINES = 1_000  # that wait to be written
_PATIENCE = 1.0  # seconds for the last lines at the end


def line_of(
    method: str, path: str, status: int, seconds: float, record: Record | None = None
) -> str:
    """``POST /v1/chat/completions 200 532 ms edited: case 2, date (1 question)``, and behind it
    ``; would keep back: unstated_write`` where the guard only reports. No query, header or body is
    in it, and nothing that steers a terminal. Status 0: the client left before there was one.
    """
    shown = "".join(c if c.isprintable() else "?" for c in path[:_LONGEST_PATH])
    line = f"{method} {shown} {status or '-'} {1000 * seconds:.0f} ms"
    if record is None:
        return line
    made = [f"calls read as {record.dialect}"] if record.dialect else []
    rules = _list_rules(edit.rule for edit in record.edits)
    edits = ", ".join([*made, *([rules] if rules else [])])
    plural = "" if record.questions == 1 else "s"
    questions = f" ({record.questions} question{plural})" if record.questions else ""
    guard = _tell_guarding(record)
    return f"{line} {record.outcome}{': ' if edits else ''}{edits}{questions}{guard}"


def _tell_guarding(record: Record) -> str:
    """The rules of the calls that the guard spoke against, unless they stand among the edits."""
    edited = {edit.rule for edit in record.edits}
    kept = _list_rules(one.rule for one in record.guarding.kept_back if one.rule not in edited)
    reported = _list_rules(one.rule for one in record.guarding.reported)
    kept = f"; kept back: {kept}" if kept else ""
    return f"{kept}; would keep back: {reported}" if reported else kept


def _list_rules(rules: Iterable[str]) -> str:
    """``case 2, date``: each rule, with its number where that is above one."""
    counted = Counter(rules).items()
    return ", ".join(f"{rule} {times}" if times > 1 else rule for rule, times in counted)


class RequestLog:
    """Writes lines to a file descriptor in a thread of its own: who does not read the other end of
    a pipe holds no request up. Lines for which there is no room are counted, not kept.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: queue.Queue[str | None] = queue.Queue(_MOST_LINES)
        self._left_out = 0
        self._thread = threading.Thread(target=self._write, name="request log", daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._left_out += 1

    def close(self) -> None:
        """Write what waits, as far as somebody takes it soon."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(_PATIENCE)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            left_out, self._left_out = self._left_out, 0
            more = f"({left_out} lines were left out: nobody read them)\n" if left_out else ""
            try:
                os.write(self._descriptor, f"{line}\n{more}".encode())
            except OSError:
                return
