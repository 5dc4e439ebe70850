"""Records -> one HTML page: raw, parsed, edits, sent, per request. Pure; every text escaped, no script."""

from __future__ import annotations

import json
from collections.abc import Sequence

from callwright.proxy.record import MAX_CHARS, Record
from callwright.types import Json, ToolCall, to_json
from callwright.viewer.document import document
from callwright.viewer.markup import Html, html, join


def page(records: Sequence[Record], upstream: str) -> str:
    """The last requests, newest first."""
    rows = join(_row(record) for record in records)
    body = html(
        "<h1>Callwright proxy</h1><p>Upstream: {}. Requests that offered tools, newest first. Reload for more.</p>{}",
        upstream,
        rows or html("<p>No request with tools yet.</p>"),
    )
    return document("Proxy", [body], style="proxy.css")


def _row(record: Record) -> Html:
    facts = (
        record.id,
        record.path,
        record.model,
        record.dialect,
        _count(len(record.edits), "edit"),
        _count(record.questions, "question"),
        "guided" if record.guided else "",
        f"fault: {record.fault}" if record.fault else "",
        f"{record.seconds:.2f} s",
    )
    edits = [f"{e.rule} {e.path}\n{_short(e.before)}\n→ {_short(e.after)}" for e in record.edits]
    notes = [*record.notes, *(v.message for v in record.violations)]
    columns = (
        _column("Raw", record.raw),
        _column("Parsed", _calls(record.parsed)),
        _column("Edits", "\n\n".join(edits) or "none"),
        _column("Sent", _calls(record.sent) if record.outcome == "edited" else "as it came"),
    )
    return html(
        '<details id="{id}"><summary><b class="{outcome}">{outcome}</b>{facts}</summary>'
        "<div class=columns>{columns}</div>{notes}</details>",
        id=record.id,
        outcome=record.outcome,
        facts=join(html("<span>{}</span>", fact) for fact in facts if fact),
        columns=join(columns),
        notes=_column("Notes", "\n".join(notes)) if notes else "",
    )


def _column(title: str, text: str) -> Html:
    return html("<div class=column><h4>{}</h4><pre>{}</pre></div>", title, text[:MAX_CHARS])


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def _short(value: Json) -> str:
    return "nothing" if value is None else json.dumps(to_json(value), ensure_ascii=False, default=str)


def _calls(calls: Sequence[ToolCall]) -> str:
    return "\n".join(f"{c.tool} {_json(c.arguments)}" for c in calls) or "no call"


def _json(value: Json) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, indent=1, default=str)
