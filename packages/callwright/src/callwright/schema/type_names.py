"""Type names as people write them -> JSON Schema: ``str``, ``List[int]``, ``array of numbers``,
``int, optional``.

Data sets and hand-written tool lists use names of Python, Java, OpenAPI and plain English. What is
not understood is kept as the annotation ``x-type`` and restricts nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from callwright.language import ENGLISH
from callwright.nouns.types import JsonObject, to_canonical_json

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})

_SPELLINGS: Mapping[str, str] = ENGLISH.table("type_names.spellings")
_NAMES = {name: name for name in JSON_TYPES} | {
    n: kind for kind, names in _SPELLINGS.items() for n in names.split()
}
_FORMATS: Mapping[str, str] = ENGLISH.table("type_names.formats")
_ANY = ENGLISH.words("type_names.any")

_OPTIONAL = ENGLISH.pattern("type_names.optional")
_REQUIRED = ENGLISH.pattern("type_names.required")
_DEFAULT = ENGLISH.pattern("type_names.default")
_OF = ENGLISH.pattern("type_names.list_of")
_GENERIC = re.compile(r"^([A-Za-z_.]+)\s*[\[<(](.*)[\]>)]$", re.DOTALL)
_BRACKETED = re.compile(r"^([A-Za-z][A-Za-z _-]*?)\s*\([^()]*\)$")
_DEPTH = 16
_CHARS = 300  # longer texts are prose, and not worth reading as types


def schema_of_type_name(text: str, depth: int = 0) -> JsonObject:
    """The schema a type name means; ``{}`` for any, ``{"x-type": text}`` for what is not
    understood.
    """
    if len(text) > _CHARS:
        return {"x-type": text[:_CHARS]}
    name = text.strip().strip("`")
    lowered = name.lower().removeprefix("typing.")
    if lowered in _ANY:
        return {}
    if lowered in _NAMES:
        return {"type": _NAMES[lowered]}
    if lowered in _FORMATS:
        return {"type": "string", "format": _FORMATS[lowered]}
    if depth < _DEPTH:
        for reading in (
            _parse_suffixed,
            _parse_english,
            _parse_union,
            _parse_generic,
            _parse_explained,
        ):
            found = reading(name, depth + 1)
            if found is not None:
                return found
    return {"x-type": text}


def says_optional(text: str) -> bool:
    """``"str, optional"``: the marker belongs to the parameter, not to the type."""
    return len(text) <= _CHARS and bool(_OPTIONAL.search(_DEFAULT.sub("", text)))


def without_marker(text: str) -> str:
    """A type name without ``, optional``, ``, required`` and ``, default 3``."""
    if len(text) > _CHARS:
        return text
    return _REQUIRED.sub("", _OPTIONAL.sub("", _DEFAULT.sub("", text)))


def any_of(schemas: list[JsonObject]) -> JsonObject:
    """One schema for several alternatives: a list of types where that says the same, else
    ``anyOf``.
    """
    unique = list({to_canonical_json(s): s for s in reversed(schemas)}.values())[::-1]
    if not unique or {} in unique:
        return {}
    if len(unique) == 1:
        return unique[0]
    types = [s["type"] for s in unique if set(s) == {"type"} and isinstance(s["type"], str)]
    return {"type": types} if len(types) == len(unique) else {"anyOf": unique}


def _parse_suffixed(name: str, depth: int) -> JsonObject | None:
    if name.endswith("[]"):
        return {"type": "array", "items": schema_of_type_name(name[:-2], depth)}
    bare = without_marker(name)
    return schema_of_type_name(bare, depth) if bare != name else None


def _parse_english(name: str, depth: int) -> JsonObject | None:
    match = _OF.match(name)
    if match is None:
        return None
    schema: JsonObject = {"type": "array", "items": schema_of_type_name(match[2], depth)}
    return {**schema, "uniqueItems": True} if match[1].lower() == "set" else schema


def _parse_union(name: str, depth: int) -> JsonObject | None:
    for mark in ("|", " or ", "/"):
        parts = _split_outside_brackets(name, mark)
        if len(parts) > 1:
            made = [schema_of_type_name(part, depth) for part in parts]
            return None if any("x-type" in m for m in made) else any_of(made)
    return None


def _parse_generic(name: str, depth: int) -> JsonObject | None:
    match = _GENERIC.match(name)
    if match is None:
        return None
    head, inner = match[1].lower().removeprefix("typing."), match[2]
    if head == "literal":
        return _parse_literal(inner)
    parts = [schema_of_type_name(part, depth) for part in _split_outside_brackets(inner, ",")]
    if head == "optional":
        return any_of([*parts[:1], {"type": "null"}])
    if head == "union":
        return any_of(parts)
    return _build_container(_NAMES.get(head), head, parts)


def _parse_explained(name: str, depth: int) -> JsonObject | None:
    """``TIME (24-hour HH:MM)``: what stands in brackets explains."""
    match = _BRACKETED.match(name)
    found = schema_of_type_name(match[1], depth) if match else {"x-type": name}
    return None if "x-type" in found else found


def _build_container(kind: str | None, head: str, parts: list[JsonObject]) -> JsonObject | None:
    if kind == "object":
        return (
            {"type": "object", "additionalProperties": parts[-1]}
            if parts and parts[-1]
            else {"type": "object"}
        )
    if kind == "array" and head == "tuple" and len(parts) > 1 and "x-type" not in parts[-1]:
        return {
            "type": "array",
            "prefixItems": parts,
            "minItems": len(parts),
            "maxItems": len(parts),
        }
    if kind == "array":
        return {"type": "array", "items": parts[0]} if parts else {"type": "array"}
    return {"type": kind} if kind else None


def _parse_literal(inner: str) -> JsonObject | None:
    try:
        values: Any = ast.literal_eval(f"[{inner}]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return {"enum": list(values)} if values else None


def _split_outside_brackets(text: str, mark: str) -> list[str]:
    """Parts of ``text`` at ``mark``, except inside brackets."""
    parts, level, start = [], 0, 0
    for i, char in enumerate(text):
        level += (char in "[<({") - (char in "]>)}")
        if level == 0 and text.startswith(mark, i):
            parts.append(text[start:i].strip())
            start = i + len(mark)
    return [p for p in [*parts, text[start:].strip()] if p]
