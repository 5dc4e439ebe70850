"""Changes of a JSON value, each at the place that the keys to it name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from callwright.nouns.types import Edit, Json, JsonObject
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


def get_member(value: Json, pointer: Sequence[str | int]) -> Json:
    """The value that keys and positions lead to; None where one of them is absent."""
    found: Any = value
    for step in pointer:
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    member: Json = found
    return member


def drop_members(value: JsonObject, pointers: Iterable[Pointer]) -> JsonObject:
    """The object without the members at these places; what lies beside them is shared with it."""
    made = dict(value)
    for first, *rest in pointers:
        inner = made.get(str(first))
        if not rest:
            made.pop(str(first), None)
        elif isinstance(inner, dict):
            made[str(first)] = drop_members(inner, [tuple(rest)])
    return made


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
