"""JSON pointers (RFC 6901), and references into the same document by them, as JSON Schema has them
(``{"$ref": "#/$defs/city"}``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard
from urllib.parse import unquote

from callwright.nouns.types import Json, JsonObject

_HOPS = 16  # references that lead from one to the next


def join_pointer(steps: Iterable[str]) -> str:
    """Reference tokens as one text (section 3), without the first slash."""
    return "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)


def split_pointer(pointer: str) -> list[str]:
    """The reference tokens of a pointer without its first slash (section 4)."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")]


def split_reference(reference: str) -> list[str]:
    """The tokens of a URI fragment that is a pointer (section 6): none of ``#``, the whole."""
    return split_pointer(unquote(reference[1:]))[1:]


def is_pointer(reference: Json) -> TypeGuard[str]:
    """Return True for a reference into the same document by a pointer, and not by an anchor."""
    return isinstance(reference, str) and (reference in ("", "#") or reference.startswith("#/"))


def resolve_reference(reference: Json, root: Json) -> Json:
    """The value that a pointer in a URI fragment names; None where it names nothing, and for any
    other reference: an anchor, another document.
    """
    if not is_pointer(reference):
        return None
    found = root
    try:
        for step in split_reference(reference):
            is_place = isinstance(found, list) and step.isdecimal()  # -1 is none
            found = found[int(step) if is_place else step]
    except (KeyError, IndexError, ValueError, TypeError):
        return None
    return found


def follow_references(part: Json, root: Json) -> JsonObject:
    """A schema, or what its ``$ref`` into the same document leads to, with what stands beside the
    reference. The schema as it is where that leads in a circle; an empty one for what is no object.
    """
    start: JsonObject = part if isinstance(part, dict) else {}
    found = start
    for _ in range(_HOPS):
        target = resolve_reference(found.get("$ref"), root)
        if not isinstance(target, dict):
            return found
        found = {**target, **{k: v for k, v in found.items() if k != "$ref"}}
    return start
