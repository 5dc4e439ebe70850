"""The seam to what is known of servers' definitions: those that hold, and which of those that a
server lists now may be offered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from callwright.nouns.types import JsonObject
from callwright.tools.trust import find_changes, render_changes


@dataclass(frozen=True, slots=True)
class Reviewed:
    """``approved``: the definitions that may be offered, in the server's order. ``blocked``: tools
    that may not be called, each with the reason, which says what allows them. ``problems``: what a
    user should know.
    """

    approved: Sequence[JsonObject] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)
    problems: Sequence[str] = ()


class Pins(Protocol):
    """Protocol of the pinned definitions. A definition is a tool as ``tools/list`` has it."""

    def get_known(self, server: str) -> Reviewed | None:
        """Return what the server listed last, so that it need not be started to be listed; None
        where that is not known.
        """
        ...

    def review(self, server: str, listed: Sequence[JsonObject]) -> Reviewed:
        """Compare what a server lists now with what is pinned, and pin what is new."""
        ...


class ProcessPins:
    """Definitions hold as they were first seen, until the process ends."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, JsonObject]] = {}
        self._known: dict[str, Reviewed] = {}

    def get_known(self, server: str) -> Reviewed | None:
        return self._known.get(server)

    def review(self, server: str, listed: Sequence[JsonObject]) -> Reviewed:
        seen = self._seen.setdefault(server, {})
        changed = {
            change.tool: "\n".join(
                [
                    "the server has changed its definition since the gateway was started; start the"
                    " gateway again to accept it",
                    *render_changes([change]),
                ]
            )
            for change in find_changes(seen, {raw["name"]: raw for raw in listed})
        }
        for raw in listed:
            seen.setdefault(raw["name"], raw)
        made = Reviewed([raw for raw in listed if raw["name"] not in changed], changed)
        self._known[server] = made
        return made
