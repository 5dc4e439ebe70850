"""A finished run as a small card, for notebooks. Every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callwright.nouns.types import Answer, ToolResult, to_canonical_json
from callwright.viewer.markup import Html, html, join_html

_SHOWN = 200  # characters of the arguments of a call, and of what it returned
_STYLE = "border:1px solid #8888;border-radius:6px;padding:.6em .9em;max-width:60em"


def render_card(
    status: str, answer: Answer, results: Sequence[ToolResult], repairs: Mapping[str, int]
) -> Html:
    """The outcome, the answer, the calls and the number of repairs of a run."""
    calls = join_html(_render_call(result) for result in results)
    edits, asked = repairs.get("tier1", 0), repairs.get("tier2", 0)
    return html(
        '<div style="{}"><b>{}</b><p style="white-space:pre-wrap">{}</p>'
        "<details><summary>{} calls, {} edits, {} repairs</summary><ul>{}</ul></details></div>",
        _STYLE,
        status,
        answer.text,
        len(results),
        edits,
        asked,
        calls,
    )


def _render_call(result: ToolResult) -> Html:
    came = result.failure.message if result.failure is not None else result.content
    return html(
        "<li>{} <code>{} {}</code> {} <code>{}</code></li>",
        result.id,
        result.tool,
        _shorten(to_canonical_json(result.arguments)),
        "→" if result.ok else "failed:",
        _shorten(came if isinstance(came, str) else to_canonical_json(came)),
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
