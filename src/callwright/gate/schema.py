"""JSON Schema for the gate: compiled once, checked in microseconds, no socket, no schema that never ends.

jsonschema-rs decides (Draft 2020-12 unless ``$schema`` says otherwise). Schemas come from strangers, so each is
measured before it is compiled: size, depth, and how often one value could be visited (:mod:`callwright.gate.cost`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

from callwright.gate.cost import deepest_instance, instance_depth, measure
from callwright.types import Json, Tool, canonical

_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000, size_limit=500_000, dfa_size_limit=500_000)
_MAX_INSTANCE_DEPTH = 200
_CACHED = 1024


class BadSchema(ValueError):
    """A schema that cannot be used: not a schema, refers outside itself, or too large or costly to decide."""


def compile_schema(
    schema: Json,
    *,
    formats: bool = True,
    registry: Mapping[str, Json] | None = None,
) -> Compiled:
    """A schema ready to check values. ``registry`` holds further schemas by URI; nothing is ever fetched.

    ``formats``: assert ``format`` (the gate does; by default the specification only annotates). Raises BadSchema.
    """
    if not isinstance(schema, dict | bool):
        raise BadSchema(f"a schema is an object or a boolean, not {type(schema).__name__}")
    problem = measure(schema)
    if problem:
        raise BadSchema(problem)
    options: dict[str, Any] = {
        "offline": True,
        "validate_formats": formats,
        "pattern_options": _PATTERNS,
    }
    try:
        if registry:
            options["registry"] = _registry(schema, registry)
        validator = jsonschema_rs.validator_for(schema, **options)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as exc:
        raise BadSchema(_first_line(exc)) from None
    return Compiled(schema, validator, options, deepest_instance(schema))


def validate(
    schema: Json,
    instance: Json,
    *,
    formats: bool = False,
    registry: Mapping[str, Json] | None = None,
) -> bool:
    """Whether the instance is valid. What the official JSON-Schema-Test-Suite is run through. Raises BadSchema."""
    return compile_schema(schema, formats=formats, registry=registry).accepts(instance)


@dataclass(eq=False)
class Compiled:
    """One compiled schema. ``max_depth`` is how deeply a value may be nested before checking it costs too much."""

    schema: Json
    validator: Any
    options: dict[str, Any]
    max_depth: int

    def accepts(self, value: Json) -> bool:
        """Whether the value is valid; a value that cannot be checked at all is not."""
        try:
            if self.max_depth < _MAX_INSTANCE_DEPTH and instance_depth(value, self.max_depth) > self.max_depth:
                return False
            return bool(self.validator.is_valid(value))
        except (ValueError, TypeError):
            return False

    def errors(self, value: Json) -> list[Any]:
        """The jsonschema-rs errors of a value, at most a hundred; empty also where it cannot be checked at all."""
        found: list[Any] = []
        try:
            if self.max_depth < _MAX_INSTANCE_DEPTH and instance_depth(value, self.max_depth) > self.max_depth:
                return []
            for error in self.validator.iter_errors(value):
                found.append(error)
                if len(found) >= 100:
                    break
        except (ValueError, TypeError):
            return []
        return found

    @cached_property
    def _parts(self) -> Any:
        return jsonschema_rs.validator_map_for(self.schema, **self.options)

    @cached_property
    def root(self) -> Node:
        """The schema as a tree to walk along with a value."""
        return Node(self, "#", self.schema)

    def part_accepts(self, pointer: str, value: Json) -> bool | None:
        """Whether the subschema at a URI-fragment pointer accepts the value; None where there is no such part."""
        part = self._parts.get(pointer)
        if part is None:
            return None
        try:
            return bool(part.is_valid(value))
        except (ValueError, TypeError):
            return False


@dataclass(frozen=True, slots=True)
class Node:
    """A subschema and where it stands. Walking goes through local references only."""

    within: Compiled
    pointer: str
    schema: Json
    _below: dict[tuple[str | int, ...], Node] = field(default_factory=dict, repr=False, compare=False)  # seen so far

    def accepts(self, value: Json) -> bool:
        """Whether this subschema, references resolved against the whole, accepts the value."""
        verdict = self.within.part_accepts(self.pointer, value)
        return bool(self.schema) if verdict is None and isinstance(self.schema, bool) else bool(verdict)

    def child(self, *keys: str | int) -> Node:
        """The subschema below, by keyword and key or index."""
        found = self._below.get(keys)
        if found is None:
            schema, pointer = self.schema, self.pointer
            for key in keys:
                schema = schema[key]
                pointer += "/" + str(key).replace("~", "~0").replace("/", "~1")
            found = self._below[keys] = Node(self.within, pointer, schema)
        return found

    def get(self, keyword: str) -> Json:
        return self.schema.get(keyword) if isinstance(self.schema, dict) else None

    def resolved(self) -> Node:
        """The node that a chain of ``$ref`` without other keywords beside it leads to."""
        if not isinstance(self.get("$ref"), str):
            return self
        node, seen = self, {self.pointer}
        while isinstance(node.schema, dict) and isinstance(node.schema.get("$ref"), str):
            target = node.target()
            if target is None or target.pointer in seen:
                return node
            seen.add(target.pointer)
            node = target
        return node

    def target(self) -> Node | None:
        """What a local ``$ref`` names; None for any other reference."""
        reference = self.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        if reference not in ("#", "") and not reference.startswith("#/"):
            return None
        node = self.within.root
        try:
            for part in reference[1:].split("/")[1:]:
                key = unquote(part).replace("~1", "/").replace("~0", "~")
                node = node.child(int(key) if isinstance(node.schema, list) else key)
        except (KeyError, IndexError, ValueError, TypeError):
            return None
        return node

    def branches(self, keyword: str) -> Iterator[Node]:
        """The subschemas of ``anyOf``, ``oneOf``, ``allOf`` or ``prefixItems``."""
        listed = self.get(keyword)
        for i in range(len(listed) if isinstance(listed, list) else 0):
            yield self.child(keyword, i)

    def property(self, name: str) -> Node | None:
        """The subschema of one declared property, references followed."""
        properties = self.get("properties")
        return self.child("properties", name) if isinstance(properties, dict) and name in properties else None


_cache: OrderedDict[str, Compiled | BadSchema] = OrderedDict()
_lock = Lock()


def compiled_for(tool: Tool) -> Compiled:
    """The compiled input schema of a tool, shared by every gate of the process. Raises BadSchema."""
    key = tool.schema_digest
    with _lock:
        found = _cache.get(key)
        if found is not None:
            _cache.move_to_end(key)
    if found is None:
        try:
            found = compile_schema(tool.input_schema)
        except BadSchema as exc:
            found = exc
        with _lock:
            _cache[key] = found
            while len(_cache) > _CACHED:
                _cache.popitem(last=False)
    if isinstance(found, BadSchema):
        raise BadSchema(*found.args)
    return found


def _registry(schema: Json, others: Mapping[str, Json]) -> Any:
    """The other schemas. One without ``$schema`` that names places the old way (``"$id": "#name"``, up to draft 7)
    is read by the draft of the schema that refers to it."""
    named = schema.get("$schema") if isinstance(schema, dict) else None

    def dialected(other: Json) -> Json:
        old = isinstance(named, str) and isinstance(other, dict) and '"$id":"#' in canonical(other)
        return {"$schema": named, **other} if old else other

    return jsonschema_rs.Registry([(uri, dialected(other)) for uri, other in others.items()])


def _first_line(exc: Exception) -> str:
    return str(getattr(exc, "message", "") or exc).split("\n", 1)[0][:300]
