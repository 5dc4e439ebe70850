"""Records -> one HTML page: raw, parsed, edits, sent, per request. Pure; every text escaped, no script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from callwright.proxy.record import MAX_CHARS, Record
from callwright.types import Json, ToolCall, to_json

_STYLE = """
:root{color-scheme:light dark;font:15px/1.45 system-ui,sans-serif}
body{max-width:72rem;margin:2rem auto;padding:0 1rem}
details{border:1px solid #8884;border-radius:6px;margin:.5rem 0;padding:.4rem .8rem}
summary{cursor:pointer;display:flex;gap:.2rem 1rem;flex-wrap:wrap}
summary span{overflow-wrap:anywhere;min-width:0}
.edited{color:#b45309}.untouched,.passed{color:#15803d}.failed,.gone{color:#b91c1c}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.6rem;border-radius:4px;
max-height:24rem;overflow:auto;margin:0}
.four{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.8rem}
h2{font-size:1rem;margin:.4rem 0}
"""


def page(records: Sequence[Record], upstream: str) -> str:
    """The last requests, newest first."""
    rows = "\n".join(_row(r) for r in records) or "<p>No request with tools yet.</p>"
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>Callwright proxy</title>"
        f"<style>{_STYLE}</style><h1>Callwright proxy</h1><p>Upstream: {escape(upstream)}. "
        "Requests that offered tools, newest first. Reload for more.</p>"
        f"{rows}</html>"
    )


def _row(record: Record) -> str:
    facts = (
        record.id,
        record.path,
        record.model,
        record.dialect,
        _count(len(record.edits), "edit"),
        _count(record.questions, "question"),
        "guided" if record.guided else "",
        f"{record.seconds:.2f} s",
    )
    head = "".join(f"<span>{escape(f)}</span>" for f in facts if f)
    edits = [f"{e.rule} {e.path}\n{_short(e.before)}\n→ {_short(e.after)}" for e in record.edits]
    notes = [*record.notes, *(v.message for v in record.violations)]
    columns = (
        _column("Raw", record.raw),
        _column("Parsed", _calls(record.parsed)),
        _column("Edits", "\n\n".join(edits) or "none"),
        _column("Sent", _calls(record.sent) if record.outcome == "edited" else "as it came"),
    )
    more = _column("Notes", "\n".join(notes)) if notes else ""
    return (
        f"<details id='{escape(record.id)}'><summary><b class='{escape(record.outcome)}'>{escape(record.outcome)}</b>"
        f"{head}</summary><div class=four>{''.join(columns)}</div>{more}</details>"
    )


def _column(title: str, text: str) -> str:
    return f"<section><h2>{title}</h2><pre>{escape(text[:MAX_CHARS])}</pre></section>"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def _short(value: Json) -> str:
    return "nothing" if value is None else json.dumps(to_json(value), ensure_ascii=False, default=str)


def _calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{c.tool} {_json(c.arguments)}" for c in calls) or "no call"


def _json(value: Json) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, indent=1, default=str)
