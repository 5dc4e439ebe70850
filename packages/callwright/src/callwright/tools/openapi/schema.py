"""Schemas of OpenAPI 3.0 and 3.1 -> self-contained JSON Schema 2020-12, valid against its
meta-schema.

References are written out where they stand; what refers to itself stays a ``$ref`` into ``$defs``.
If writing out would make a schema too large, every reference goes into ``$defs`` instead, and what
is still too large is refused. Malformed keywords are dropped: a schema never becomes stricter than
the document says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callwright.nouns.types import JsonObject, is_number
from callwright.schema.keywords import allow_null
from callwright.tools.openapi.document import Document, Unusable

MAX_LEVELS = 96
INLINE_NODES = 4_000
MAX_NODES = 30_000

_TYPES = frozenset({"null", "boolean", "object", "array", "number", "string", "integer"})
_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = (
    "items",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
)
_SINGLE_NEW = ("unevaluatedProperties", "unevaluatedItems", "contentSchema")
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_filled_list(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_small_value(value: Any) -> bool:
    """Return True if a value in a schema is small: at most 32 levels and 5,000 values."""
    level, values = [value], 0
    for _ in range(32):
        values += len(level)
        level = [inner for outer in level for inner in _members(outer)]
        if not level or values > 5_000:
            break
    return not level and values <= 5_000


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


_PLAIN: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ("title", "description", "format", "pattern", "contentEncoding", "contentMediaType"),
        _is_text,
    ),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), is_number),
    "multipleOf": lambda v: is_number(v) and v > 0,
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
        _is_count,
    ),
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_flag),
    "enum": lambda v: _is_filled_list(v) and _is_small_value(v),
    "examples": lambda v: isinstance(v, list) and _is_small_value(v),
    "default": _is_small_value,
    "const": _is_small_value,
}


@dataclass
class _Frame:
    """Size of one reference's schema: nodes, levels, and the definitions it needs."""

    own: int = 0  # schemas written in the document itself, references not followed
    nodes: int = 0
    levels: int = 0
    needs: set[str] = field(default_factory=set)


class SchemaConverter:
    """Converts the schemas of one document, each reference once. ``writing``: for requests, else
    for responses.
    """

    def __init__(
        self,
        document: Document,
        *,
        writing: bool,
        inline: bool = True,
        names: dict[str, str] | None = None,
    ) -> None:
        self._document = document
        self._dropped = "readOnly" if writing else "writeOnly"
        self._inline = inline
        self._writing = writing
        self._known: dict[str, tuple[JsonObject, _Frame]] = {}
        self._active: set[str] = set()
        self._recursive: set[str] = set()
        self._definitions: dict[str, tuple[JsonObject, _Frame]] = {}
        self._names: dict[str, str] = (
            {} if names is None else names
        )  # one name means one reference everywhere
        self._frames: list[_Frame] = []
        self._compact: SchemaConverter | None = None

    def convert(self, raw: Any) -> JsonObject:
        """A schema that needs nothing but itself. Raises Unusable."""
        schema, frame = self._framed(raw, 0)
        wanted = self._closure(frame.needs)
        nodes = frame.nodes + sum(self._definitions[p][1].nodes for p in wanted)
        if self._inline and nodes > INLINE_NODES:
            if self._compact is None:
                self._compact = SchemaConverter(
                    self._document, writing=self._writing, inline=False, names=self._names
                )
            return self._compact.convert(raw)
        if nodes > MAX_NODES:
            raise Unusable(f"a schema holds more than {MAX_NODES} values")
        if not wanted:
            return schema
        return {**schema, "$defs": {self._names[p]: self._definitions[p][0] for p in wanted}}

    def _closure(self, needs: set[str]) -> list[str]:
        found: dict[str, None] = {}
        waiting = sorted(needs)
        while waiting:
            pointer = waiting.pop()
            if pointer not in self._definitions:
                raise Unusable("a schema refers to one that cannot be used")
            if pointer not in found:
                found[pointer] = None
                waiting.extend(self._definitions[pointer][1].needs)
        return sorted(found, key=lambda p: self._names[p])

    def _framed(self, raw: Any, depth: int) -> tuple[JsonObject, _Frame]:
        frame = _Frame()
        self._frames.append(frame)
        try:
            return self._schema(raw, depth), frame
        finally:
            self._frames.pop()

    def _at(self, pointer: str, depth: int) -> JsonObject:
        """The schema a reference stands for."""
        if pointer not in self._known:
            if pointer in self._active:
                self._recursive.add(pointer)
                return self._reference(pointer)
            self._active.add(pointer)
            try:
                made = self._framed(self._document.lookup(pointer), depth)
            finally:
                self._active.discard(pointer)
            made[1].levels -= depth
            if pointer in self._recursive or not self._inline:
                self._definitions[pointer] = made
                made = ({"$ref": f"#/$defs/{self._name(pointer)}"}, _Frame(0, 1, 1, {pointer}))
            self._known[pointer] = made
        schema, inner = self._known[pointer]
        if depth + inner.levels > MAX_LEVELS:
            raise Unusable(f"a schema is nested more than {MAX_LEVELS} levels deep")
        frame = self._frames[-1]
        frame.nodes += inner.nodes
        frame.levels = max(frame.levels, depth + inner.levels)
        frame.needs |= inner.needs
        return schema

    def _reference(self, pointer: str) -> JsonObject:
        self._frames[-1].needs.add(pointer)
        self._frames[-1].nodes += 1
        return {"$ref": f"#/$defs/{self._name(pointer)}"}

    def _name(self, pointer: str) -> str:
        if pointer not in self._names:
            plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", pointer.rsplit("/", 1)[-1]) or "schema"
            taken = set(self._names.values())
            name, number = plain, 2
            while name in taken:
                name, number = f"{plain}_{number}", number + 1
            self._names[pointer] = name
        return self._names[pointer]

    def _schema(self, raw: Any, depth: int) -> JsonObject:
        frame = self._frames[-1]
        frame.own += 1
        frame.nodes += 1
        frame.levels = max(frame.levels, depth)
        if frame.own > MAX_NODES:
            raise Unusable(f"a schema holds more than {MAX_NODES} values")
        if depth > MAX_LEVELS:
            raise Unusable(f"a schema is nested more than {MAX_LEVELS} levels deep")
        if raw is False:
            return {"not": {}}
        if not isinstance(raw, Mapping):
            return {}
        if "$dynamicRef" in raw:
            raise Unusable("a schema uses $dynamicRef")
        rest = {k: v for k, v in raw.items() if k != "$ref"}
        if not isinstance(reference := raw.get("$ref"), str):
            return self._keywords(rest, depth)
        target = self._at(reference, depth + 1)
        if rest.get("nullable") is True:  # in 3.1 too, which has dropped it: many still write it
            target = {"anyOf": [target, {"type": "null"}]}
        beside = self._keywords(rest, depth)
        if self._document.legacy:  # siblings of $ref say nothing in 3.0; a description does no harm
            beside = {k: v for k, v in beside.items() if k == "description"}
        if not beside:
            return target
        if set(beside) <= _ANNOTATIONS:
            return {**target, **beside}
        return {**beside, "allOf": [target, *beside.get("allOf", [])]}

    def _keywords(self, raw: Mapping[str, Any], depth: int) -> JsonObject:
        schema: JsonObject = {}
        _put_type(schema, raw.get("type"))
        for key, fits in _PLAIN.items():
            if key in raw and fits(raw[key]):
                schema[key] = raw[key]
                self._frames[-1].nodes += len(raw[key]) if isinstance(raw[key], list) else 1
        if "example" in raw and _is_small_value(raw["example"]):
            schema.setdefault("examples", [raw["example"]])
        self._parts(schema, raw, depth)
        self._object(schema, raw)
        _legacy_bounds(schema, raw)
        self._discriminate(schema, raw)
        if raw.get("nullable") is True:
            allow_null(schema)
        return schema

    def _parts(self, schema: JsonObject, raw: Mapping[str, Any], depth: int) -> None:
        for key in _MAPS:
            if isinstance(raw.get(key), Mapping):
                kept = (
                    {n: s for n, s in raw[key].items() if not self._drops(s)}
                    if key == "properties"
                    else raw[key]
                )
                schema[key] = {str(n): self._schema(s, depth + 1) for n, s in kept.items()}
        for key in _LISTS:
            if _is_filled_list(raw.get(key)):
                schema[key] = [self._schema(s, depth + 1) for s in raw[key]]
        for key in (*_SINGLE, *(() if self._document.legacy else _SINGLE_NEW)):
            if isinstance(raw.get(key), bool):
                schema[key] = raw[key]
            elif isinstance(raw.get(key), Mapping):
                schema[key] = self._schema(raw[key], depth + 1)

    def _drops(self, schema: Any) -> bool:
        return isinstance(schema, Mapping) and schema.get(self._dropped) is True

    def _object(self, schema: JsonObject, raw: Mapping[str, Any]) -> None:
        if isinstance(raw.get("required"), list):
            properties = raw.get("properties")
            inner = properties if isinstance(properties, Mapping) else {}
            names = [
                n for n in raw["required"] if isinstance(n, str) and not self._drops(inner.get(n))
            ]
            if names:
                schema["required"] = list(dict.fromkeys(names))
        needs = raw.get("dependentRequired")
        if isinstance(needs, Mapping) and not self._document.legacy:
            schema["dependentRequired"] = {
                str(k): [n for n in dict.fromkeys(v) if isinstance(n, str)]
                for k, v in needs.items()
                if _is_filled_list(v)
            }

    def _discriminate(self, schema: JsonObject, raw: Mapping[str, Any]) -> None:
        """Bind each alternative to the values that an explicit mapping gives it."""
        rule = raw.get("discriminator")
        for key in ("oneOf", "anyOf"):
            if (
                not isinstance(rule, Mapping)
                or key not in schema
                or not isinstance(rule.get("mapping"), Mapping)
            ):
                continue
            name = rule.get("propertyName")
            if not isinstance(name, str):
                continue
            values = _values_by_reference(rule["mapping"])
            for index, part in enumerate(raw[key]):
                found = values.get(part.get("$ref", "")) if isinstance(part, Mapping) else None
                if found:
                    bound = {"properties": {name: {"enum": found}}, "required": [name]}
                    schema[key][index] = {"allOf": [schema[key][index], bound]}


def _values_by_reference(mapping: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value, target in mapping.items():
        if isinstance(target, str):
            reference = target if target.startswith("#") else f"#/components/schemas/{target}"
            found.setdefault(reference, []).append(value)
    return found


def _put_type(schema: JsonObject, kind: Any) -> None:
    if isinstance(kind, list):
        kinds = kind
    elif kind is not None:
        kinds = [kind]
    else:
        kinds = []
    known = list(
        dict.fromkeys("null" if k is None else k for k in kinds if k is None or str(k) in _TYPES)
    )
    if known and len(known) == len(set(map(str, kinds))):
        schema["type"] = known if isinstance(kind, list) else known[0]


def _legacy_bounds(schema: JsonObject, raw: Mapping[str, Any]) -> None:
    """``exclusiveMinimum: true`` beside ``minimum`` (OpenAPI 3.0) -> a number of its own."""
    for flag, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if raw.get(flag) is True and plain in schema:
            schema[flag] = schema.pop(plain)
