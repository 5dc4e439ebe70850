"""Keeps pinned definitions, and what each server listed last, where the user's confirmations are
kept (:class:`callwright.tools.trust.TrustStore`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from callwright.gateway.pins.admission import Admission, admit_tools
from callwright.nouns.errors import TrustError
from callwright.nouns.types import JsonObject, to_canonical_json
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
    """The pins of the servers that one file configures; "" is no file.

    Several gateways may share it: what one of them approves holds for the others at their next
    :meth:`is_approved`.
    """

    def __init__(self, place: str = "", trust: TrustStore | None = None) -> None:
        self.place = place
        self._trust = trust or TrustStore()

    def admit(self, server: str, listed: Sequence[JsonObject], **about: object) -> Admission:
        """Hold a list of tools against the pins; what is new is pinned, and the list is kept.

        ``about`` is kept beside it for :meth:`last_listed`. Raises TrustError where the pins cannot
        be read: then nobody knows what was approved.
        """
        source = self._source(server)
        admission = admit_tools(self._trust.pinned(source), listed)
        with suppress(TrustError):  # a folder that cannot be written: every start is a first use
            if admission.new:
                self._trust.pin(source, admission.new)
            self._trust.keep_offered(source, {_TOOLS: list(listed), **about})
        return admission

    def last_listed(self, server: str) -> JsonObject:
        """What :meth:`admit` was given last: ``tools``, and what stood beside them; {} if nothing
        ever was.
        """
        return self._trust.offered(self._source(server))

    def admit_last(self, server: str) -> Admission | None:
        """The admission of the last list, so that a server need not run to be listed; None where
        there is none.
        """
        listed = self.last_listed(server).get(_TOOLS)
        if not isinstance(listed, list):
            return None
        return admit_tools(self._trust.pinned(self._source(server)), listed)

    def is_approved(self, server: str, definition: JsonObject) -> bool:
        """Return True if this very definition is pinned now."""
        pinned = self._trust.pinned(self._source(server)).get(str(definition.get("name", "")))
        return pinned is not None and to_canonical_json(pinned) == to_canonical_json(definition)

    def _source(self, server: str) -> str:
        return f"{_PREFIX}{server} of {self.place}"


def iter_pending(trust: TrustStore) -> Iterator[Pending]:
    """Every server of every file with changes that wait for approval."""
    for source in trust.sources():
        server, _, place = source.removeprefix(_PREFIX).partition(" of ")
        listed = trust.offered(source).get(_TOOLS)
        if not source.startswith(_PREFIX) or not isinstance(listed, list):
            continue
        changed = admit_tools(trust.pinned(source), listed).changed
        if changed:
            yield Pending(server, place, tuple(changed.values()))


def approve_changes(trust: TrustStore, pending: Pending) -> None:
    """Make the changed definitions those that hold."""
    source = f"{_PREFIX}{pending.server} of {pending.place}"
    trust.pin(source, {change.tool: change.after for change in pending.changes})
