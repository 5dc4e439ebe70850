"""``callwright refine``: replies of a model made into the calls that were meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callwright.cli.jsonl import BadLine, answer_stream
from callwright.cli.rung import ModelRung, prompt_named
from callwright.errors import CatalogError, ConfigError
from callwright.models import open_model
from callwright.refine import Settings, refine
from callwright.types import JsonObject, Message, ToolCall, to_json
from callwright.wire.tools import tools_from_wire

_SOURCES = ("text", "message", "tool_calls")


def refine_lines(
    *,
    leave_out: bool = False,
    rungs: Sequence[str] = ("rules", "sequence"),
    model: str = "",
    prompt: str = "paper",
) -> int:
    """``{"id", "text" | "message" | "tool_calls", "tools", "query"?}`` -> ``{"id", "tool_calls", "text", "edits",
    "dialect", "violations", "abstained", "confidence"}``, a line each.

    A call that bears a label (NESTFUL, NesTools) keeps it as "label". ``messages`` (OpenAI style, the conversation
    before the reply) may stand beside or instead of ``query``. ``model``: also the model rung, asked of it with the
    refiner's ``prompt`` of that name; a line it cannot be asked about is answered with an error. Returns the exit
    code.
    """
    settings = Settings(leave_out=leave_out)
    refine("", (), rungs=rungs)  # names a rung that there is not, once and not with every line
    if not model:
        return answer_stream(lambda row: refine_row(row, settings, rungs)).exit_code
    with ModelRung(open_model(model), prompt_named(prompt)) as rung:
        return answer_stream(lambda row: refine_row(row, settings, rungs, rung)).exit_code


def refine_row(
    row: JsonObject, settings: Settings, rungs: Sequence[str], rung: ModelRung | None = None
) -> JsonObject:
    """The answer for one reply. Raises BadLine for a row that is not of the form above."""
    given = [k for k in _SOURCES if row.get(k) is not None]
    if not given:
        raise BadLine('the line needs "text", "message" or "tool_calls"')
    source = _source(row, given[0])
    query = row.get("query") or ""
    if not isinstance(query, str):
        raise BadLine('"query" must be a text')
    if not isinstance(row.get("tools"), list | dict):
        raise BadLine('"tools" must be a list of tool definitions')
    try:
        tools = tools_from_wire(row["tools"]) if row["tools"] else ()
        found = refine(source, tools, query=query, messages=_messages(row), rungs=rungs, settings=settings)
    except (CatalogError, ConfigError) as error:
        raise BadLine(error.message) from None
    if rung is not None:
        said, thoughts = _said(source)
        system = "\n".join(m.content for m in _messages(row, system=True) if m.role == "system")
        found = rung.refined(found, said, tools, query or _asked(row), system=system, thoughts=thoughts)
    return {
        "tool_calls": [_written(call) for call in found.calls],
        "text": found.text,
        "edits": to_json(found.edits),
        "dialect": found.dialect,
        "violations": [v.to_dict() for v in found.violations],
        "abstained": to_json(found.abstained),
        "confidence": found.confidence,
    }


def _written(call: ToolCall) -> JsonObject:
    """A call; with its label where the reply gave calls labels, for other calls' arguments refer to it."""
    label = {"label": call.slot} if call.slot else {}
    return {"name": call.tool, "arguments": call.arguments, **label}


def _source(row: JsonObject, key: str) -> Any:
    source = row[key]
    if key == "text" and not isinstance(source, str):
        raise BadLine('"text" must be a text')
    if key == "message" and not isinstance(source, dict):
        raise BadLine('"message" must be an object')
    if key == "tool_calls" and not isinstance(source, list):
        raise BadLine('"tool_calls" must be a list')
    return source


def _said(source: Any) -> tuple[str, str]:
    """What the reply says as it was written, and what was thought before it."""
    if isinstance(source, dict):
        return str(source.get("content") or ""), str(source.get("reasoning_content") or source.get("reasoning") or "")
    return (source if isinstance(source, str) else ""), ""


def _asked(row: JsonObject) -> str:
    """The request of a row that gives it as a conversation: all that was said, each turn by its role."""
    return "\n".join(f"{m.role.upper()}: {m.content}" for m in _messages(row))


def _messages(row: JsonObject, system: bool = False) -> tuple[Message, ...]:
    """The conversation; what is no text in it says nothing that a value could come from."""
    listed = row.get("messages") or []
    if not isinstance(listed, list):
        raise BadLine('"messages" must be a list')
    found = [m for m in listed if isinstance(m, dict) and isinstance(m.get("content"), str)]
    roles = {"system", "user", "assistant", "tool"}
    return tuple(
        Message(m["role"], m["content"])
        for m in found
        if m.get("role") in roles and (system or m["role"] != "system")
    )
