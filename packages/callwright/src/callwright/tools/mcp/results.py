"""Converts an MCP server's answer to ``tools/call`` into a ToolOutput. Knows the SDK's shapes, does
no I/O.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from callwright.http import failure_for_status
from callwright.jsontext import JsonError, is_deeper, parse
from callwright.nouns.errors import Failure
from callwright.nouns.types import Json, JsonObject, ToolOutput

if TYPE_CHECKING:
    from mcp_types import CallToolResult

CONNECTION_CLOSED = -32000  # the SDK's code for a connection that ended
REQUEST_TIMEOUT = -32001
UNREADABLE = (
    -32700
)  # JSON-RPC's parse error: of the transports, for an answer that they cannot read
_INVALID_REQUEST, _INTERNAL_ERROR = -32600, -32603
_SESSION_OVER = (_INVALID_REQUEST, -32001)  # of the SDKs for Python, and for TypeScript and C#
_UNREAD = ("Unexpected content type: ", "server answered a request with 202 Accepted")
_REFUSED = frozenset({-32600, -32601, -32602})  # JSON-RPC 2.0, 5.1: what was sent could not be run
_ERROR_CHARS = 2_000
_MOST_LEVELS = 200


def output_of(result: CallToolResult) -> ToolOutput:
    """``structuredContent`` where the server sends it, else its content blocks; ``isError`` is a
    Failure.
    """
    content = content_of(result)
    if is_deeper(content, _MOST_LEVELS):
        return ToolOutput(
            failure=Failure(
                "tool_error", f"its result is nested more than {_MOST_LEVELS} levels deep"
            )
        )
    if result.is_error:
        return ToolOutput(
            failure=Failure(
                "tool_error", _as_text(content)[:_ERROR_CHARS] or "the tool reported an error"
            )
        )
    return ToolOutput(_drop_infinite(content))


def content_of(result: CallToolResult) -> Json:
    """A JSON value: text alone stays text, or becomes the object or array that it spells; several
    blocks a list.
    """
    if result.structured_content is not None:
        return result.structured_content
    blocks = [
        block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content
    ]
    if blocks and all(block.get("type") == "text" for block in blocks):
        return _parse_text("\n".join(str(block.get("text", "")) for block in blocks))
    parts = [_summarize_block(block) for block in blocks]
    return parts[0] if len(parts) == 1 else parts or None


def _drop_infinite(value: Json) -> Json:
    """The value with null for every number that JSON lacks (RFC 8259, section 6)."""
    if isinstance(value, dict):
        return {key: _drop_infinite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_drop_infinite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_code(code: int, message: str) -> int:
    """The code of an error. The SDK has one for requests that were refused also for an answer over
    HTTP that it cannot read: such a request may have been carried out, and the code is UNREADABLE.
    """
    return UNREADABLE if code == _INVALID_REQUEST and message.startswith(_UNREAD) else code


def is_session_over(client: Any, code: int, status: int | None) -> bool:
    """Return True if an error says that the server knows the session no more (MCP 2025-11-25,
    transports): HTTP 404 with a code that servers give it, so that the request was not run. Since
    2026-07-28 there are no sessions.
    """
    return status == 404 and code in _SESSION_OVER and client.session.discover_result is None


def failure_of(
    code: int, message: str, *, status: int | None = None, lost: bool = False
) -> Failure:
    """A JSON-RPC error -> Failure. ``lost``: the answer will not come; ``status``: of the HTTP
    response that came instead. A server may use any code, those of the SDK too, for errors of its
    own.
    """
    if lost:
        kind: Literal["timeout", "unavailable"] = (
            "timeout" if code == REQUEST_TIMEOUT else "unavailable"
        )
        said = f"the MCP server did not answer: {message}"[:_ERROR_CHARS]
        return Failure(kind, said, retryable=True, outcome_unknown=True)
    if code == UNREADABLE:
        told = message.partition("validation error")  # pydantic's, with the answer in it
        message = "it is no JSON-RPC message" if told[1] else message
        said = f"the MCP server's answer cannot be used: {message}"[:_ERROR_CHARS]
        return Failure("unavailable", said, outcome_unknown=True)
    if code == _INTERNAL_ERROR and status is not None:
        said = f"the MCP server answered HTTP {status}: {message}"[:_ERROR_CHARS]
        return failure_for_status(status, said)
    said = message[:_ERROR_CHARS] or f"MCP error {code}"
    return Failure("tool_error", said, detail={"code": code}, not_done=code in _REFUSED)


def explain_malformed(error: Any) -> str:
    """Return the first place where an answer has another shape than the protocol's, and why.
    ``error`` is pydantic's.
    """
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"it is malformed: {place[:80]}: {first['msg'][:200]}"


def _parse_text(text: str) -> Json:
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return parse(text)
    except JsonError:
        return text


def _summarize_block(block: JsonObject) -> Json:
    """One content block without its bulk: a model can read neither an image's bytes nor a
    sound's.
    """
    kind = block.get("type")
    if kind == "text":
        return _parse_text(str(block.get("text", "")))
    if kind == "resource":
        inner = block.get("resource", {})
        kept = {k: inner[k] for k in ("uri", "mimeType", "text") if k in inner}
        return {"type": "resource", **kept, **_measure_bytes(inner.get("blob"))}
    kept = {k: v for k, v in block.items() if k not in ("data", "annotations", "_meta", "icons")}
    return {**kept, **_measure_bytes(block.get("data"))}


def _measure_bytes(data: Any) -> JsonObject:
    """The size of base64 data, in bytes."""
    return {"bytes": len(data) * 3 // 4 - data[-2:].count("=")} if isinstance(data, str) else {}


def _as_text(content: Json) -> str:
    from callwright.nouns.types import to_canonical_json

    if isinstance(content, str):
        return content
    if content is None:
        return ""
    return to_canonical_json(content)
