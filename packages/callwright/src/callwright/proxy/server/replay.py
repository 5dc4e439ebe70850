"""The events of a session and what it sent, by which another one is brought to the same place.

A session has no clock, no chance and no input other than its events. Another one that gets the same
events at the same times sends the same bytes, which is checked by a digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

from callwright.proxy.session.events import (
    Command,
    Event,
    Request,
    SendBody,
    SendHead,
    SendUpstream,
    UpstreamData,
    UpstreamHead,
)

_EVENT = 200  # bytes that an event takes beside what was sent

TimedEvent: TypeAlias = tuple[Event, float]
"""An event, and the time at which it came."""


class SentDigest:
    """A digest of the commands of a session: their kinds, and the statuses and bytes in them."""

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=16)

    def add(self, commands: Iterable[Command]) -> None:
        """These commands follow from an event."""
        for command in commands:
            self._digest.update(b"\0%b\0" % type(command).__name__.encode())
            if isinstance(command, SendBody):
                self._digest.update(command.data)
            elif isinstance(command, SendHead):
                self._digest.update(b"%d" % command.status)
            elif isinstance(command, SendUpstream):
                self._digest.update(command.body)

    def read(self) -> bytes:
        """Return the digest of all that was added."""
        return self._digest.digest()


class Replay:
    """The events of a session as far as it has answered them. More than ``most`` bytes are not
    kept.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._events: list[TimedEvent] | None = []
        self._sent = SentDigest()

    def add(self, event: Event, now: float, commands: Iterable[Command]) -> None:
        """A session has answered an event with these commands."""
        if self._events is None:
            return
        self._left -= measure_event(event) + _EVENT
        if self._left < 0:
            self._events = None
            return
        self._events.append((event, now))
        self._sent.add(commands)

    @property
    def events(self) -> tuple[TimedEvent, ...] | None:
        """Return the events; None where there were too many."""
        if self._events is None:
            return None
        return tuple((make_portable(event), now) for event, now in self._events)

    @property
    def sent(self) -> bytes:
        """Return the digest of what the session sent."""
        return self._sent.read()

    def list_answer(self, head: UpstreamHead, last: Event) -> bytes:
        """Return what came of the answer that this head begins, up to the event ``last``, which the
        session has not answered.
        """
        parts: list[bytes] = []
        is_within = False
        for event in (*(event for event, _ in self._events or ()), last):
            if isinstance(event, UpstreamHead):
                is_within = event is head
            elif isinstance(event, UpstreamData) and is_within:
                parts.append(event.data)
        return b"".join(parts)


def measure_event(event: Event) -> int:
    """Return the bytes of what a client or the upstream sent."""
    if isinstance(event, Request):
        return len(event.body)
    return len(event.data) if isinstance(event, UpstreamData) else 0


def make_portable(event: Event) -> Event:
    """Return an event that another process can read."""
    if isinstance(event, UpstreamHead):  # its headers may be of a type of the HTTP library
        return replace(event, headers=dict(event.headers))
    return event
