"""Changes of a JSON value, each at the place that the keys to it name."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from callwright.nouns.types import Edit, Json
from callwright.nouns.wire_names import EditRule

Pointer: TypeAlias = tuple[str | int, ...]
"""The keys that lead to a place in a JSON value; ``()`` is the whole."""


def render_pointer(pointer: Pointer) -> str:
    """The pointer as RFC 6901 writes it: for results and messages, never to be read back."""
    keys = [str(key) for key in pointer]
    if any("~" in key or "/" in key for key in keys):
        keys = [key.replace("~", "~0").replace("/", "~1") for key in keys]
    return "/" + "/".join(keys) if keys else ""


class ValueEdit(NamedTuple):
    """One change that the schema asked for. ``before`` and ``after`` are as in
    :class:`~callwright.nouns.types.Edit`.
    """

    pointer: Pointer
    before: Json
    after: Json
    rule: EditRule

    @property
    def path(self) -> str:
        """The pointer as text."""
        return render_pointer(self.pointer)

    def to_edit(self) -> Edit:
        """The same change as results show it."""
        return Edit(self.path, self.before, self.after, self.rule)
