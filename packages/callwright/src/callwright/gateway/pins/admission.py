"""Holds what a server lists against what was pinned of it. Pure.

A tool that is seen for the first time is admitted and pinned. One that changed is blocked, so that
no unread text reaches a model. All that a client is sent of a tool is compared: its name, texts,
schemas, annotations, icons and ``_meta``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callwright.gateway.session.pins import Reviewed
from callwright.nouns.types import JsonObject
from callwright.tools.trust import Change, find_changes, plain_json

_STAMP = "io.modelcontextprotocol/"  # the protocol's own keys of ``_meta`` say nothing of a tool


@dataclass(frozen=True, slots=True)
class Admission:
    """``approved``: the definitions that may be offered, in the server's order. ``new``: those to
    pin now. ``changed``: by name, what waits for approval.
    """

    approved: tuple[JsonObject, ...]
    new: Mapping[str, JsonObject] = field(default_factory=dict)
    changed: Mapping[str, Change] = field(default_factory=dict)


def admit_tools(pinned: Mapping[str, JsonObject], listed: Sequence[JsonObject]) -> Admission:
    """Decide of each listed tool. Of two with one name the first counts."""
    offered: dict[str, JsonObject] = {}
    for raw in listed:
        offered.setdefault(str(raw.get("name", "")), raw)
    seen = {name: definition_of(raw) for name, raw in offered.items()}
    changed = {change.tool: change for change in find_changes(pinned, seen)}
    approved = tuple(raw for name, raw in offered.items() if name not in changed)
    new = {name: raw for name, raw in seen.items() if name not in pinned}
    return Admission(approved, new, changed)


def definition_of(raw: JsonObject) -> JsonObject:
    """A listed tool as it is pinned: strict JSON, without the protocol's own stamps."""
    meta = raw.get("_meta")
    if not isinstance(meta, dict):
        made: JsonObject = plain_json(raw)
        return made
    kept = {key: value for key, value in meta.items() if not key.startswith(_STAMP)}
    made = plain_json({key: value for key, value in raw.items() if key != "_meta"})
    return {**made, "_meta": plain_json(kept)} if kept else made


def build_review(server: str, admission: Admission, *problems: str) -> Reviewed:
    """The review for the catalogue: what may be offered, and why the rest may not be called."""
    blocked = {tool: explain_blocked(server, tool) for tool in admission.changed}
    told = [f"{server}: {tool} is blocked: its definition changed" for tool in admission.changed]
    return Reviewed(admission.approved, blocked, (*told, *problems))


def explain_blocked(server: str, tool: str) -> str:
    """Why a changed tool is not called, and what allows it."""
    return (
        f"the server {server!r} has changed the definition of this tool since it was approved. Tell"
        f" the user: callwright gateway approve {server}/{tool} shows the change and approves it"
    )
