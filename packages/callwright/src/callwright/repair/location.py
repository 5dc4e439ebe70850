"""Where something stands: in which call on its way, and under which keys."""

from __future__ import annotations

from typing import NamedTuple

from callwright.schema.value_edits import Pointer

REPLY = -1
"""The draft id of what concerns the reply as a whole."""

NAME: Pointer = ("name",)
ID: Pointer = ("id",)


class Location(NamedTuple):
    """A place in a draft: ``pointer`` is ``("name",)``, ``("id",)``, ``("arguments", key, …)``, or
    ``()`` for the call as a whole. It is rendered as text where results are made, and never read
    back from text.
    """

    draft: int
    pointer: Pointer = ()

    @property
    def argument(self) -> Pointer | None:
        """The pointer inside the arguments; None for what is no part of them."""
        return self.pointer[1:] if self.pointer[:1] == ("arguments",) else None


def in_arguments(draft: int, *keys: str | int) -> Location:
    """The place of an argument, or of something inside it; without keys that of them all."""
    return Location(draft, ("arguments", *keys))
