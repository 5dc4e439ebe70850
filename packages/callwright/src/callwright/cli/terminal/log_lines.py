"""A run as it happens, as JSON lines on stderr: what was done, and no text of anybody's unless it is
wanted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from callwright.cli.terminal.live import Live
from callwright.nouns.log_line import Level, build_log_line, count_rules
from callwright.nouns.trace import Event

_PLAIN = frozenset(
    {
        "attempt",
        "by",
        "finish_reason",
        "granted",
        "id",
        "index",
        "limit",
        "mode",
        "model",
        "model_profile",
        "offered",
        "planner",
        "purpose",
        "segment",
        "simulated",
        "status",
        "step",
        "strategy",
        "tier",
        "tool",
        "total",
    }
)
"""Members of an event's data that hold names and numbers of ours, and no text of anybody's."""


class LogLines(Live):
    """A trace sink that writes one line for each event. ``with_contents``: with all that the event
    holds; its secrets are taken out already.
    """

    def __init__(
        self,
        write: Callable[[str], None] | None = None,
        *,
        with_contents: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self._write = write or _write_line
        self._with_contents, self._now = with_contents, now

    def __enter__(self) -> LogLines:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        return None

    @contextmanager
    def paused(self) -> Iterator[None]:
        yield

    def on_text(self, piece: str) -> None:
        """Write nothing: a reply is one event, when it is complete."""

    def __call__(self, event: Event) -> None:
        if event.kind == "blob" and not self._with_contents:
            return
        data = event.data
        if event.kind == "run.start":
            self.run = str(data.get("run") or "")
        fields = {"run": self.run, "at": round(event.at, 4), **select_fields(data)}
        if self._with_contents:
            fields["contents"] = data
        self._write(build_log_line(event.kind, self._now(), fields, _choose_level(event)))


def select_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an event that a log holds: names, numbers, and the kinds of what went wrong."""
    fields = {name: value for name, value in data.items() if name in _PLAIN}
    failure = data.get("failure")
    fields["failure"] = failure.get("kind") if isinstance(failure, Mapping) else None
    fields["edits"] = count_rules(one["rule"] for one in data.get("edits") or ())
    fields["violations"] = count_rules(one["kind"] for one in data.get("violations") or ())
    cost = data.get("cost")
    cost = cost if isinstance(cost, Mapping) else {}
    usage = data.get("usage") or cost.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    fields |= {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
    fields |= {name: cost.get(name) for name in ("calls", "model_calls", "repairs")}
    fields["seconds"] = data.get("seconds", cost.get("seconds"))
    return fields


def _choose_level(event: Event) -> Level:
    is_bad = event.kind in ("call.refused", "limit") or bool(event.data.get("failure"))
    return "warning" if is_bad else "info"


def _write_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
