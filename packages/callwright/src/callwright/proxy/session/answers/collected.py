"""An answer that is read when it is whole, while it comes. Pure."""

from __future__ import annotations

_EVENT = (
    b"data:",
    b"event:",
    b": ",
    b"id:",
    b"retry:",
)  # how a stream of server-sent events begins


class Collected:
    """Pieces of one answer. With more than ``limit`` bytes it is ``too_long``, and what follows is
    not kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def too_long(self) -> bool:
        return self._size > self._limit

    @property
    def events(self) -> bool:
        """Return True if the body begins like server-sent events, whatever its content type
        says.
        """
        return len(self._parts) < 9 and b"".join(self._parts).lstrip().startswith(_EVENT)

    def add(self, data: bytes) -> None:
        if not self.too_long:
            self._parts.append(data)
            self._size += len(data)

    def take(self) -> bytes:
        """All of it; what follows is another answer."""
        made, self._parts, self._size = b"".join(self._parts), [], 0
        return made
