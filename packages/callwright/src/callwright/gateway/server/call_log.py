"""One line a call for who runs the gateway: which tool, what came of it, what was repaired. No
argument and no result is in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from callwright.gateway.session.names import CALL_TOOL
from callwright.gateway.session.record import CallRecord
from callwright.nouns.control_characters import one_line
from callwright.nouns.log_line import build_log_line, count_rules

_LONGEST = 200


class CallLines(Protocol):
    """The form of a log."""

    def render_call(self, record: CallRecord) -> str: ...

    def render_warning(self, message: str) -> str: ...

    def render_start(self, address: str, servers: int, page: str) -> str: ...


class TextLines:
    """Lines for a person: ``time__get_current_time 12 ms edited: rename_key``."""

    def render_call(self, record: CallRecord) -> str:
        rules = ", ".join(
            f"{rule} {times}" if times > 1 else rule
            for rule, times in count_rules(edit.rule for edit in record.edits).items()
        )
        said = ", ".join(part for part in (record.reason, rules) if part)
        name = one_line(record.name)[:_LONGEST]
        if record.name == CALL_TOOL and record.tool:
            name = f"{name} {one_line(f'{record.server}:{record.tool}')[:_LONGEST]}"
        ended = "passed, the tool failed" if _is_tool_failure(record) else record.outcome
        return f"{name} {1000 * record.seconds:.0f} ms {ended}{': ' if said else ''}{said}"

    def render_warning(self, message: str) -> str:
        return f"warning:  {one_line(message)}"

    def render_start(self, address: str, servers: int, page: str) -> str:
        return f"gateway:  {address}\nservers:  {servers}\npage:     {page}"


class JsonLines:
    """One JSON object a line."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now

    def render_call(self, record: CallRecord) -> str:
        fields = {
            "call": record.id,
            "name": record.name[:_LONGEST],
            "server": record.server,
            "tool": record.tool[:_LONGEST],
            "outcome": record.outcome,
            "reason": record.reason,
            "tool_failed": _is_tool_failure(record) or None,
            "asked": record.asked,
            "edits": count_rules(edit.rule for edit in record.edits),
            "seconds": round(record.seconds, 4),
        }
        is_bad = record.outcome in ("failed", "unknown")
        return build_log_line("call", self._now(), fields, "warning" if is_bad else "info")

    def render_warning(self, message: str) -> str:
        return build_log_line("warning", self._now(), {"message": message}, "warning")

    def render_start(self, address: str, servers: int, page: str) -> str:
        return build_log_line(
            "start", self._now(), {"address": address, "servers": servers, "page": page}
        )


def _is_tool_failure(record: CallRecord) -> bool:
    return record.is_error and record.outcome in ("passed", "edited")
