"""Holds what a server lists against what was pinned of it. Pure.

A tool that is seen for the first time is admitted and pinned. One that changed is shown as it was
approved, so that no unread text reaches a model, and its calls are refused until the change is
approved. All that a client is sent of a tool is compared: its name, texts, schemas, annotations,
icons and ``_meta``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from callwright.nouns.types import JsonObject
from callwright.tools.trust import Change, find_changes, plain_json


@dataclass(frozen=True, slots=True)
class Admission:
    """``shown``: the definitions to list, in the server's order. ``new``: those to pin now.
    ``changed``: by name, what waits for approval.
    """

    shown: tuple[JsonObject, ...]
    new: Mapping[str, JsonObject] = field(default_factory=dict)
    changed: Mapping[str, Change] = field(default_factory=dict)


def admit_tools(pinned: Mapping[str, JsonObject], listed: Sequence[JsonObject]) -> Admission:
    """Decide of each listed tool. Of two with one name the first counts."""
    offered: dict[str, JsonObject] = {}
    for raw in listed:
        offered.setdefault(str(raw.get("name", "")), plain_json(raw))
    changed = {change.tool: change for change in find_changes(pinned, offered)}
    shown = tuple(pinned[name] if name in changed else raw for name, raw in offered.items())
    new = {name: raw for name, raw in offered.items() if name not in pinned}
    return Admission(shown, new, changed)


def explain_blocked(server: str, tool: str) -> str:
    """The sentences that a model reads in place of a result."""
    return (
        f"{tool} was not called: the server {server!r} has changed the definition of this tool since"
        " it was approved. Nothing was sent. The user can read the change and approve it with:"
        f" callwright gateway approve {server}/{tool}"
    )
