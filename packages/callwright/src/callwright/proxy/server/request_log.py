"""One line a request for who runs the proxy: what was asked, what came of it, and what was
repaired.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from callwright.nouns.log_line import build_log_line, count_rules
from callwright.proxy.session.record import Record

_LONGEST_PATH = 200
_LONGEST_TEXT = 20_000  # characters of one text, where contents are wanted
_TOKENS = re.compile(rb'"(prompt|completion)_tokens"\s*:\s*(\d{1,12})')


def line_of(
    method: str, path: str, status: int, seconds: float, record: Record | None = None
) -> str:
    """``POST /v1/chat/completions 200 532 ms edited: case 2, date (1 question)``, and behind it
    ``; would keep back: unstated_value`` where the guard only reports. No query, header or body is
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


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One request and its answer, as a log tells it. ``request``: its id; ``tokens``: those of
    prompts and replies upstream, as far as it told them; ``secrets``: what no line may hold.
    """

    method: str
    path: str
    status: int
    seconds: float
    record: Record | None = None
    request: str = ""
    model: str = ""
    upstream: str = ""
    tokens: tuple[int, int] = (0, 0)
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Lines(Protocol):
    """The form of a log. ``counts_tokens``: its lines hold the upstream's token counts."""

    counts_tokens: bool

    def render_exchange(self, one: Exchanged) -> str: ...

    def render_refusal(self, status: int, message: str) -> str: ...

    def render_warning(self, message: str) -> str: ...

    def render_start(self, address: str, upstreams: Sequence[str], page: str) -> str: ...


class TextLines:
    """Lines for a person."""

    counts_tokens = False

    def render_exchange(self, one: Exchanged) -> str:
        return line_of(one.method, one.path, one.status, one.seconds, one.record)

    def render_refusal(self, status: int, message: str) -> str:
        return f"- - {status} {message}"

    def render_warning(self, message: str) -> str:
        return f"warning:  {message}"

    def render_start(self, address: str, upstreams: Sequence[str], page: str) -> str:
        return (
            f"proxy:    {address}/v1  (OpenAI; Anthropic and Ollama clients: {address})\n"
            f"upstream: {', '.join(upstreams)}\npage:     {page}"
        )


class JsonLines:
    """One JSON object a line. ``with_contents``: also texts and calls, cut and without secrets."""

    counts_tokens = True

    def __init__(
        self, *, with_contents: bool = False, now: Callable[[], float] = time.time
    ) -> None:
        self._with_contents, self._now = with_contents, now

    def render_exchange(self, one: Exchanged) -> str:
        record = one.record
        fields = {
            "request": one.request,
            "method": one.method,
            "path": one.path[:_LONGEST_PATH],
            "status": one.status,
            "seconds": round(one.seconds, 4),
            "model": one.model[:_LONGEST_PATH],
            "upstream": one.upstream,
            "prompt_tokens": one.tokens[0],
            "completion_tokens": one.tokens[1],
            **(_list_fields(record) if record is not None else {}),
        }
        if self._with_contents and record is not None:
            fields["contents"] = record.shortened(_LONGEST_TEXT, one.secrets).to_dict()
        is_bad = one.status >= 500 or (record is not None and record.fault != "")
        return build_log_line("request", self._now(), fields, "warning" if is_bad else "info")

    def render_refusal(self, status: int, message: str) -> str:
        told = {"status": status, "message": message}
        return build_log_line("refused", self._now(), told, "warning")

    def render_warning(self, message: str) -> str:
        return build_log_line("warning", self._now(), {"message": message}, "warning")

    def render_start(self, address: str, upstreams: Sequence[str], page: str) -> str:
        told = {"address": address, "upstreams": [*upstreams], "page": page}
        return build_log_line("start", self._now(), told)


def _list_fields(record: Record) -> dict[str, Any]:
    guarding, led = record.guarding, record.led
    return {
        "outcome": record.outcome,
        "dialect": record.dialect,
        "edits": count_rules(edit.rule for edit in record.edits),
        "violations": count_rules(one.kind for one in record.violations),
        "questions": record.questions,
        "guard": guarding.mode,
        "kept_back": count_rules(one.rule for one in guarding.kept_back),
        "reported": count_rules(one.rule for one in guarding.reported),
        "guided": [*led.parts] if led is not None else None,
        "fault": record.fault,
    }


def read_tokens(tail: bytes) -> tuple[int, int]:
    """The tokens of prompt and reply that the end of an answer tells; 0 where it tells none."""
    found = {match[1]: int(match[2]) for match in _TOKENS.finditer(tail)}
    return found.get(b"prompt", 0), found.get(b"completion", 0)
