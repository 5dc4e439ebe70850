"""Adapts definitions and results of one protocol version to another. Pure.

Before 2026-07-28 a structured result is an object, and so is what its schema describes. Since then
every result says of which type it is.
"""

from __future__ import annotations

from callwright.nouns.types import JsonObject, to_canonical_json

_NOT_KEPT: JsonObject = {"ttlMs": 0, "cacheScope": "private"}
_NEWER = ("resultType", "ttlMs", "cacheScope", "inputRequests", "requestState")


def adapt_tool(definition: JsonObject, is_modern: bool) -> JsonObject:
    """The definition as a client of this era reads it."""
    schema = definition.get("outputSchema")
    if is_modern or schema is None or schema.get("type") == "object":
        return definition
    return {key: value for key, value in definition.items() if key != "outputSchema"}


def adapt_result(result: JsonObject, is_modern: bool) -> JsonObject:
    """The result as a client of this era reads it. A resource of an older server may not be kept:
    nobody has said for how long.
    """
    if is_modern:
        kept = _NOT_KEPT if "contents" in result else {}
        return {"resultType": "complete", **kept, **result}
    if not any(key in result for key in (*_NEWER, "structuredContent")):
        return result
    made = {key: value for key, value in result.items() if key not in _NEWER}
    structured = made.get("structuredContent")
    if structured is None or isinstance(structured, dict):
        return made
    del made["structuredContent"]
    if not made.get("content"):
        made["content"] = [{"type": "text", "text": to_canonical_json(structured)}]
    return made
