"""The offers of a server beside tools, as they were when it was asked last: so that a server need
not be started to be listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

from callwright.nouns.types import JsonObject

Kind = Literal["prompts", "resources", "templates"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CAPABILITY: Mapping[Kind, str] = {
    "prompts": "prompts",
    "resources": "resources",
    "templates": "resources",
}
"""The capability that a server has where it has lists of a kind."""


@dataclass(frozen=True, slots=True)
class Profile:
    """``capabilities`` are the names of those that the server declared; ``lists`` what it listed by
    kind: ``prompts``, ``resources``, ``templates``; ``instructions`` what it tells models.
    """

    capabilities: frozenset[str] = frozenset()
    lists: Mapping[Kind, Sequence[JsonObject]] = field(default_factory=dict)
    instructions: str = ""

    def get(self, kind: Kind) -> Sequence[JsonObject]:
        """The entries of a kind."""
        return self.lists.get(kind, ())


class Profiles(Protocol):
    """Protocol of the profiles of servers, by their names."""

    def get(self, server: str) -> Profile | None: ...

    def put(self, server: str, profile: Profile) -> None: ...


class ProcessProfiles:
    """Profiles that are known until the process ends."""

    def __init__(self) -> None:
        self._known: dict[str, Profile] = {}

    def get(self, server: str) -> Profile | None:
        return self._known.get(server)

    def put(self, server: str, profile: Profile) -> None:
        self._known[server] = profile
