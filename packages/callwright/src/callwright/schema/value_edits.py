"""Changes of a JSON value, each at the place that the keys to it name."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from callwright.nouns.types import Edit, Json
from callwright.nouns.wire_names import EditRule

Pointer: TypeAlias = tuple[str | int, ...]
"""The keys that lead to a place in a JSON value; ``()`` is the whole."""


def render_pointer(pointer: Pointer) -> str:
    """The pointer as RFC 6901 writes it: for results and messages, never to be read back."""
    if not pointer:
        return ""
    text = "/" + "/".join(map(str, pointer))
    if "~" in text or text.count("/") > len(pointer):
        keys = (str(key).replace("~", "~0").replace("/", "~1") for key in pointer)
        return "/" + "/".join(keys)
    return text


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
