"""Keeps pinned definitions, and what each server listed last, where the user's confirmations are
kept (:class:`callwright.tools.trust.TrustStore`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callwright.gateway.pins.admission import admit_tools, build_review
from callwright.gateway.session.pins import Reviewed
from callwright.nouns.errors import TrustError
from callwright.nouns.types import JsonObject
from callwright.tools.trust import Change, TrustStore

_PREFIX = "gateway "
_TOOLS = "tools"


@dataclass(frozen=True, slots=True)
class Pending:
    """Changes of one server that wait for approval. ``place``: the file that configures it."""

    server: str
    place: str
    changes: tuple[Change, ...]


class PinStore:
    """The pins of the servers that one file configures; ``place`` is the file, "" for none.

    The implementation of :class:`callwright.gateway.session.pins.Pins` that outlives the process.
    Several gateways may share it.
    """

    def __init__(self, place: str = "", trust: TrustStore | None = None) -> None:
        self.place = place
        self._trust = trust or TrustStore()

    def get_known(self, server: str) -> Reviewed | None:
        """The last list of the server, held against the pins of this moment. Where these cannot be
        read nothing is known.
        """
        source = self._source(server)
        try:
            listed = self._trust.offered(source).get(_TOOLS)
            pinned = self._trust.pinned(source)
        except TrustError:
            return None
        if not isinstance(listed, list):
            return None
        return build_review(server, admit_tools(pinned, listed))

    def review(self, server: str, listed: Sequence[JsonObject]) -> Reviewed:
        """Hold a list of tools against the pins; what is new is pinned, and the list is kept.

        Where the pins cannot be read nobody knows what was approved, and nothing is. Where they
        cannot be written every start is a first use, and a problem says so.
        """
        source = self._source(server)
        try:
            admission = admit_tools(self._trust.pinned(source), listed)
        except TrustError as error:
            why = f"nobody can tell what was approved: {error}"
            return Reviewed((), {str(raw.get("name", "")): why for raw in listed}, (why,))
        try:
            if admission.new:
                self._trust.pin(source, admission.new)
            self._trust.keep_offered(source, {_TOOLS: list(listed)})
        except TrustError as error:
            said = f"{server}: its definitions are not remembered: {error.message}"
            return build_review(server, admission, said)
        return build_review(server, admission)

    def _source(self, server: str) -> str:
        return f"{_PREFIX}{server} of {self.place}"


def iter_pending(trust: TrustStore) -> Iterator[Pending]:
    """Every server of every file with changes that wait for approval. Raises TrustError."""
    for source in trust.sources():
        server, _, place = source.removeprefix(_PREFIX).partition(" of ")
        listed = trust.offered(source).get(_TOOLS)
        if not source.startswith(_PREFIX) or not isinstance(listed, list):
            continue
        changed = admit_tools(trust.pinned(source), listed).changed
        if changed:
            yield Pending(server, place, tuple(changed.values()))


def approve_changes(trust: TrustStore, pending: Pending) -> None:
    """Make the changed definitions those that hold. Raises TrustError."""
    source = f"{_PREFIX}{pending.server} of {pending.place}"
    trust.pin(source, {change.tool: change.after for change in pending.changes})
