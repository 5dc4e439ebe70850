"""JSON Schema for the gate: compiled once, checked in microseconds, no socket, no schema that never
ends.

jsonschema-rs decides (Draft 2020-12 unless ``$schema`` says otherwise). Schemas come from
strangers, so each is measured before it is compiled: size, depth, and how often one value could be
visited (:mod:`callwright.schema.cost`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from threading import Lock
from typing import Any

import jsonschema_rs

from callwright.jsontext.pointer import is_pointer, split_reference
from callwright.nouns.types import Json, Tool, to_canonical_json
from callwright.schema.cost import Visits, measure_extent, measure_schema
from callwright.schema.relaxed import relax_schema

_PATTERNS = jsonschema_rs.FancyRegexOptions(
    backtrack_limit=10_000, size_limit=500_000, dfa_size_limit=500_000
)
_LINEAR = jsonschema_rs.RegexOptions(size_limit=500_000, dfa_size_limit=500_000)
_MAX_INSTANCE_DEPTH = 200
_MAX_STEPS = 5_000_000  # visits of all values: up to 40 ns each
_MAX_LISTED = 50_000  # … where all errors are listed: up to 10 µs each
_MAX_LISTED_BRANCHES = 600  # … and 300 µs where errors hold those of branches
_MAX_SLOW_TEXT = 5_000  # characters that a pattern may look around in: 17 µs each
_CACHED = 1024
_OWN = frozenset(
    {"type", "required", "minItems", "maxItems", "minProperties", "maxProperties", "description"}
)


class BadSchema(ValueError):
    """A schema that cannot be used: not a schema, refers outside itself, or too large or costly to
    decide.
    """


def compile_schema(
    schema: Json,
    *,
    formats: bool = True,
    registry: Mapping[str, Json] | None = None,
) -> Compiled:
    """A schema ready to check values. ``registry`` holds further schemas by URI; nothing is ever
    fetched.

    ``formats``: assert ``format`` (the gate does; by default the specification only annotates).
    Raises BadSchema.
    """
    try:
        found = _build_registry(schema, registry) if registry else None
        options = ValidatorOptions(formats, found)
        return _compile_checked(schema, options)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as exc:
        raise BadSchema(_first_line(exc)) from None


def compile_relaxed(schema: Json) -> Compiled:
    """A schema ready to check values, whatever it is: what the validator refuses of it asserts
    nothing and is named in ``unasserted`` (:mod:`callwright.schema.relaxed`). Never raises.
    """
    options = ValidatorOptions()
    try:
        return _compile_checked(schema, options)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        made, unasserted = relax_schema(schema, lambda part: _explain_refusal(part, options))
        return _compile_checked(made, options, unasserted)


@dataclass(frozen=True, slots=True)
class ValidatorOptions:
    """Options of compiling a schema. ``registry`` holds further schemas."""

    formats: bool = True
    registry: Any = None

    def to_keywords(self, patterns: Any = _PATTERNS) -> dict[str, Any]:
        """Return the keyword arguments of jsonschema-rs."""
        more = {} if self.registry is None else {"registry": self.registry}
        fixed = {"offline": True, "validate_formats": self.formats, "pattern_options": patterns}
        return {**fixed, **more}


def _compile_checked(
    schema: Json, options: ValidatorOptions, unasserted: tuple[str, ...] = ()
) -> Compiled:
    """Raises what :func:`_explain_refusal` tells of."""
    if not isinstance(schema, dict | bool):
        raise BadSchema(f"a schema is an object or a boolean, not {type(schema).__name__}")
    cost = measure_schema(schema)
    if cost.problem:
        raise BadSchema(cost.problem)
    validator = jsonschema_rs.validator_for(schema, **options.to_keywords())
    may_be_slow = cost.has_patterns or options.registry is not None
    slow = may_be_slow and _has_slow_patterns(schema, options)
    return Compiled(schema, validator, options, cost.visits, unasserted, slow)


def _explain_refusal(schema: Json, options: ValidatorOptions) -> str:
    """Return the reason why a schema cannot be compiled; "" if it can."""
    try:
        _compile_checked(schema, options)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as exc:
        return _first_line(exc) or type(exc).__name__
    return ""


def _has_slow_patterns(schema: Json, options: ValidatorOptions) -> bool:
    """Return True if a pattern looks around or back. On a long text, each position is then tried
    many times.
    """
    try:
        jsonschema_rs.validator_for(schema, **options.to_keywords(_LINEAR))
    except ValueError:
        return True
    return False


def is_valid_instance(
    schema: Json,
    instance: Json,
    *,
    formats: bool = False,
    registry: Mapping[str, Json] | None = None,
) -> bool:
    """Return True if the instance is valid. The official JSON-Schema-Test-Suite runs through this
    function. Raises BadSchema.
    """
    return compile_schema(schema, formats=formats, registry=registry).accepts(instance)


@dataclass(eq=False)
class Compiled:
    """One compiled schema. ``visits`` tells what checking a value costs; ``unasserted``, as
    ``pointer: why``, which parts of the schema as it was given refuse nothing.
    """

    schema: Json
    validator: Any
    options: ValidatorOptions
    visits: Visits
    unasserted: tuple[str, ...] = ()
    slow_patterns: bool = False

    @property
    def max_depth(self) -> int:
        """Return the nesting depth beyond which not all of the schema is asserted of a value."""
        return self.visits.deepest

    def accepts(self, value: Json) -> bool:
        """Return True if the value is valid. A value that cannot be checked at all is not.

        If checking against the whole schema has no bounded cost, only the parts without references
        are asserted.
        """
        asked = self if self._cheap else self.asked_of(value)
        try:
            return asked is None or bool(asked.validator.is_valid(value))
        except (ValueError, TypeError):
            return False

    def asked_of(self, value: Json) -> Compiled | None:
        """The schema that is asserted of this value: this one, or it without references where those
        cost too much; None where that does too.
        """
        if self._cheap or self._affords(value):
            return self
        lighter = self._without_references
        return lighter if lighter is not self and lighter._affords(value) else None

    def unasserted_of(self, value: Json) -> tuple[str, ...]:
        """Return the parts of the original schema that are not asserted of this value, as
        ``pointer: why``.
        """
        asked = self.asked_of(value)
        if asked is self:
            return self.unasserted
        why = (
            f"asserting it of arguments of this size or more than {self.max_depth} levels takes too"
            " many steps"
        )
        return (*self.unasserted, *(() if asked is None else asked.unasserted), f"#: {why}")

    def errors(self, value: Json) -> list[Any]:
        """The jsonschema-rs errors of a value, at most a hundred; empty also where it cannot be
        checked at all, or listing them takes too many steps: see :meth:`Node.lists`.
        """
        return self.root.errors(value) if self.root.lists(value) else []

    @cached_property
    def _cheap(self) -> bool:
        """Return True if the cost of checking any value is bounded by the value's own size."""
        return (
            self.visits.deepest >= _MAX_INSTANCE_DEPTH
            and self.visits.counts[-1] <= 64
            and not self.slow_patterns
        )

    def _affords(self, value: Json, most: int = _MAX_STEPS) -> bool:
        size = measure_extent(value, _MAX_INSTANCE_DEPTH)
        if size.depth > self.visits.deepest and self.visits.deepest < _MAX_INSTANCE_DEPTH:
            return False
        if self.slow_patterns and size.longest > _MAX_SLOW_TEXT:
            return False
        return size.parts * self.visits.at(size.depth) <= most

    @cached_property
    def _without_references(self) -> Compiled:
        made, unasserted = relax_schema(
            self.schema, lambda part: _explain_refusal(part, self.options), references=False
        )
        return _compile_checked(made, self.options, unasserted) if unasserted else self

    @cached_property
    def _parts(self) -> Any:
        return jsonschema_rs.validator_map_for(self.schema, **self.options.to_keywords())

    @cached_property
    def _known_parts(self) -> dict[str, Any]:
        """The validators of subschemas that were asked for: as many as the schema has parts."""
        return {}

    @cached_property
    def root(self) -> Node:
        """The schema as a tree to walk along with a value."""
        return Node(self, "#", self.schema)

    def part(self, pointer: str) -> Any:
        """The validator of the subschema at a URI-fragment pointer; None where there is no such
        part.
        """
        found = self._known_parts.get(pointer, self)
        if found is self:
            found = self._known_parts[pointer] = self._parts.get(pointer)
        return found

    def part_accepts(self, pointer: str, value: Json) -> bool | None:
        """Return True if the subschema at a URI-fragment pointer accepts the value; None if there
        is no such part.
        """
        asked = self if self._cheap else self.asked_of(value)
        part = None if asked is None else asked.part(pointer)
        if asked is None or (part is None and asked is not self):
            return True
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
    _below: dict[tuple[str | int, ...], Node] = field(
        default_factory=dict, repr=False, compare=False
    )  # seen so far

    def accepts(self, value: Json) -> bool:
        """Return True if this subschema, with references resolved against the whole, accepts the
        value.
        """
        verdict = self.within.part_accepts(self.pointer, value)
        return (
            bool(self.schema)
            if verdict is None and isinstance(self.schema, bool)
            else bool(verdict)
        )

    def lists(self, value: Json) -> bool:
        """Return True if all errors of a value at this subschema can be listed at a bounded cost.
        Each failing branch of ``anyOf`` holds all errors of its own.
        """
        visits, size = self.within.visits, measure_extent(value, _MAX_INSTANCE_DEPTH)
        if self.within.asked_of(value) is not self.within:
            return False
        steps = size.parts * visits.at(size.depth)
        return steps <= (_MAX_LISTED if visits.at(size.depth) <= 64 else _MAX_LISTED_BRANCHES)

    def errors(self, value: Json) -> list[Any]:
        """The jsonschema-rs errors of a value, at most a hundred; empty also where it cannot be
        checked at all.
        """
        part = self.within.validator if self.pointer == "#" else self.within.part(self.pointer)
        try:
            return [] if part is None else list(islice(part.iter_errors(value), 100))
        except (ValueError, TypeError):
            return []

    def alone(self) -> Node:
        """Return this subschema without the parts about members and items. It serves values that
        are too large for a full check.
        """
        said = (
            {k: v for k, v in self.schema.items() if k in _OWN}
            if isinstance(self.schema, dict)
            else {}
        )
        if isinstance(self.get("properties"), dict):
            said["properties"] = dict.fromkeys(self.get("properties"), True)
        return compile_relaxed(said).root

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
        if not isinstance(self.schema, dict) or "$ref" not in self.schema:
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
        """Return the target of a local ``$ref``; None for any other reference."""
        reference = self.get("$ref")
        if not is_pointer(reference):
            return None
        node = self.within.root
        try:
            for key in split_reference(reference):
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
        found = self._below.get(("properties", name))
        if found is not None:
            return found
        properties = self.get("properties")
        is_declared = isinstance(properties, dict) and name in properties
        return self.child("properties", name) if is_declared else None

    def member(self, key: str) -> Node | None:
        """The subschema of one member of an object: declared or additional."""
        child = self.property(key)
        if child is not None:
            return child
        if isinstance(self.get("patternProperties"), dict):
            return None  # several may apply at once; the whole check decides
        return (
            self.child("additionalProperties")
            if isinstance(self.get("additionalProperties"), dict)
            else None
        )

    def item(self, i: int) -> Node | None:
        """The subschema of one item of an array."""
        for keyword in ("prefixItems", "items"):
            listed = self.get(keyword)
            if isinstance(listed, list) and i < len(listed):
                return self.child(keyword, i)
        if isinstance(self.get("items"), dict):
            return self.child("items")
        return (
            self.child("additionalItems") if isinstance(self.get("additionalItems"), dict) else None
        )


_cache: OrderedDict[str, Compiled] = OrderedDict()
_lock = Lock()


def compiled_for(tool: Tool) -> Compiled:
    """The compiled input schema of a tool, shared by every gate of the process. Never raises: what
    cannot be asserted of it is named in ``unasserted``.
    """
    try:
        key = tool.schema_digest
    except (
        RecursionError,
        ValueError,
        TypeError,
    ):  # too deep, or no JSON: nothing to remember it by
        return compile_relaxed(tool.input_schema)
    with _lock:
        found = _cache.get(key)
        if found is not None:
            _cache.move_to_end(key)
            return found
    found = compile_relaxed(tool.input_schema)
    with _lock:
        _cache[key] = found
        while len(_cache) > _CACHED:
            _cache.popitem(last=False)
    return found


def _build_registry(schema: Json, others: Mapping[str, Json]) -> Any:
    """The other schemas. One without ``$schema`` that names places the old way (``"$id": "#name"``,
    up to draft 7) is read by the draft of the schema that refers to it.
    """
    named = schema.get("$schema") if isinstance(schema, dict) else None

    def dialected(other: Json) -> Json:
        old = (
            isinstance(named, str)
            and isinstance(other, dict)
            and '"$id":"#' in to_canonical_json(other)
        )
        return {"$schema": named, **other} if old else other

    return jsonschema_rs.Registry([(uri, dialected(other)) for uri, other in others.items()])


def _first_line(exc: Exception) -> str:
    return str(getattr(exc, "message", "") or exc).split("\n", 1)[0][:300]
