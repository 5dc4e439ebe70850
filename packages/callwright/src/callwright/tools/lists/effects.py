"""Derives the effects of a call from what its source declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callwright.nouns.types import READ, UNKNOWN, Effects

_HINTS = {
    "read_only": ("readOnlyHint", "read_only"),
    "destructive": ("destructiveHint", "destructive"),
    "idempotent": ("idempotentHint", "idempotent"),
    "open_world": ("openWorldHint", "open_world"),
}


def effects_from_annotations(annotations: Any, *, trusted: bool) -> Effects:
    """MCP tool annotations (or our own field names) -> Effects, absent hints at MCP's defaults.

    Hints of a source that is not trusted are not believed: the worst case stands.
    """
    if not trusted or not isinstance(annotations, Mapping):
        return UNKNOWN
    said = {
        field: next((annotations[k] for k in keys if isinstance(annotations.get(k), bool)), None)
        for field, keys in _HINTS.items()
    }
    read_only = bool(said["read_only"])
    return Effects(
        read_only=read_only,
        destructive=(
            not read_only
            if said["destructive"] is None
            else bool(said["destructive"]) and not read_only
        ),
        idempotent=read_only if said["idempotent"] is None else bool(said["idempotent"]),
        open_world=said["open_world"] is not False,
    )


def effects_from_method(method: Any) -> Effects:
    """HTTP method -> Effects after RFC 9110, 9.2: GET, HEAD and OPTIONS are safe, PUT and DELETE
    idempotent. QUERY is safe too (draft-ietf-httpbis-safe-method-w-body).
    """
    name = str(method or "").upper()
    if name in ("GET", "HEAD", "OPTIONS", "QUERY"):
        return READ
    return Effects(destructive=name != "POST", idempotent=name in ("PUT", "DELETE"))
