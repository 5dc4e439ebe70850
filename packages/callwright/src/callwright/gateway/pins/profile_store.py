"""Keeps what servers offer beside tools, so that a gateway that starts can list it before any
server does.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from callwright.gateway.session.profile import Profile
from callwright.nouns.errors import TrustError
from callwright.tools.trust import TrustStore


class ProfileStore:
    """The profiles of the servers that one file configures. They are read once, and what cannot be
    kept is known until the process ends.
    """

    def __init__(self, place: str = "", trust: TrustStore | None = None) -> None:
        self._place = place
        self._trust = trust or TrustStore()
        self._known: dict[str, Profile | None] = {}

    def get(self, server: str) -> Profile | None:
        if server not in self._known:
            self._known[server] = self._read(server)
        return self._known[server]

    def put(self, server: str, profile: Profile) -> None:
        self._known[server] = profile
        told: dict[str, Any] = {
            "capabilities": sorted(profile.capabilities),
            "lists": {kind: list(found) for kind, found in profile.lists.items()},
        }
        with suppress(TrustError):
            self._trust.keep_offered(self._source(server), told)

    def _read(self, server: str) -> Profile | None:
        try:
            told = self._trust.offered(self._source(server))
        except TrustError:
            return None
        names, lists = told.get("capabilities"), told.get("lists")
        if not isinstance(names, list) or not isinstance(lists, dict):
            return None
        return Profile(frozenset(names), lists)

    def _source(self, server: str) -> str:
        return f"gateway profile {server} of {self._place}"
