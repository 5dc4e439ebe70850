"""Measures the work that a schema can cause, before anything is compiled.

Three ways for a stranger's schema to hang a checker: size, depth, and references that multiply (a
value visited 2^n times through n steps of ``allOf: [$ref, $ref]``). All three are counted here
without evaluating anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from callwright.jsontext.pointer import is_pointer, resolve_reference
from callwright.nouns.types import Json

MAX_NODES = 20_000
MAX_DEPTH = 100
MAX_TEXT = 2_000_000
MAX_CHAIN = 400  # references that lead to references, on one value
MAX_VISITS = 50_000  # visits of one value or of one path of values
MAX_PARTS = 10_000_000  # of a value
_DEEPEST = 200

_PATTERN_KEYWORDS = frozenset({"pattern", "patternProperties"})
_HERE_LISTS = ("allOf", "anyOf", "oneOf")  # applied to the same value
_HERE = ("not", "if", "then", "else")
_BELOW_MAPS = ("patternProperties",)  # each may apply to the same child
_BELOW = (
    "additionalProperties",
    "items",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
)


@dataclass(frozen=True, slots=True)
class Visits:
    """Number of times that a checker visits a value. ``counts[d]``: visits that any subschema
    causes on a value ``d`` levels deep; the last entry holds for all deeper ones. ``deepest``: the
    depth beyond which one path of values takes more than MAX_VISITS.
    """

    counts: tuple[int, ...]
    deepest: int

    def at(self, depth: int) -> int:
        """The most visits on one path of a value of this depth."""
        return self.counts[min(depth, len(self.counts) - 1)]


class SchemaCost(NamedTuple):
    """The cost of checking values against a schema. ``problem``: why it must not be compiled, ""
    if it may be; ``has_patterns``: a part of it may be a regular expression.
    """

    problem: str
    visits: Visits
    has_patterns: bool


def measure_schema(schema: Json) -> SchemaCost:
    """The cost of a schema, measured without evaluating it."""
    problem, has_patterns = _find_size_problem(schema)
    if problem:
        return SchemaCost(problem, Visits((MAX_VISITS,), 0), has_patterns)
    visits = visits_of(schema)
    if visits.deepest < 1:
        problem = (
            "checking one value against the schema takes too many steps: its references multiply"
        )
    return SchemaCost(problem, visits, has_patterns)


def _find_size_problem(schema: Json) -> tuple[str, bool]:
    """Return the problem with the size of a schema, "" if there is none, and True if a key in it
    introduces a regular expression.
    """
    nodes, text, has_patterns = 0, 0, False
    stack: list[tuple[Json, int]] = [(schema, 0)]
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH:
            return f"the schema is nested more than {MAX_DEPTH} levels deep", has_patterns
        if nodes + len(stack) > MAX_NODES:
            return f"the schema has more than {MAX_NODES} parts", has_patterns
        if isinstance(value, str):
            text += len(value)
        elif isinstance(value, dict | list | tuple) and len(value) > MAX_NODES:
            return f"the schema has more than {MAX_NODES} parts", has_patterns
        elif isinstance(value, dict):
            has_patterns = has_patterns or not _PATTERN_KEYWORDS.isdisjoint(value)
            text += sum(map(len, filter(lambda k: isinstance(k, str), value)))
            stack.extend((v, depth + 1) for v in value.values())
        elif isinstance(value, list | tuple):
            stack.extend((v, depth + 1) for v in value)
        if text > MAX_TEXT:
            return f"the schema has more than {MAX_TEXT} characters", has_patterns
    return "", has_patterns


def visits_of(schema: Json) -> Visits:
    """The visits that a schema makes, counted without evaluating it; ``deepest`` is 0 where one
    value is too much.
    """
    if not isinstance(schema, dict):
        return Visits((1,), _DEEPEST)
    counter = _Visits(schema)
    visits: dict[int, int] = {}
    totals: list[int] = []
    most: list[int] = []
    for depth in range(_DEEPEST + 1):
        before, visits = visits, {}
        try:
            totals.append(counter.count(schema, before, visits, []))
            for node in list(counter.reached.values()):
                counter.count(node, before, visits, [])
        except _Endless:
            return Visits((MAX_VISITS,), 0)
        most.append(max(visits.values()))
        if most[-1] > MAX_VISITS:
            return Visits(tuple(most), depth - 1)
        if visits == before:
            break
        if _grows_evenly(totals):
            return Visits((*most, 2 * most[-1] + (totals[-1] - totals[-2]) * _DEEPEST), _DEEPEST)
    return Visits(tuple(most), _DEEPEST)


def _grows_evenly(totals: list[int]) -> bool:
    """Plain recursion (a tree): each level adds as much as the one before, and 200 levels stay
    affordable.
    """
    if len(totals) < 12:
        return False
    steps = {b - a for a, b in zip(totals[-8:], totals[-7:], strict=False)}
    return len(steps) == 1 and totals[-1] + steps.pop() * _DEEPEST < MAX_VISITS


class Extent(NamedTuple):
    """Size of a value: the number of values in it, its levels, and the length of its longest
    text.
    """

    parts: int
    depth: int
    longest: int


def measure_extent(value: Json, stop: int) -> Extent:
    """The size of a value, measured without recursion and until ``stop`` levels or MAX_PARTS are
    passed.
    """
    parts, depth, longest = 1, 0, len(value) if isinstance(value, str) else 0
    level = [value] if isinstance(value, dict | list) else []
    while level and depth <= stop and parts < MAX_PARTS:
        depth += 1
        inner: list[Any] = []
        for item in level:
            members = item.values() if isinstance(item, dict) else item
            parts += len(item)
            for member in members:
                if isinstance(member, dict | list):
                    inner.append(member)
                elif isinstance(member, str) and len(member) > longest:
                    longest = len(member)
        level = inner
    return Extent(parts, depth, longest)


class _Endless(Exception):
    """A chain of references longer than MAX_CHAIN, or more visits than anybody should count."""


class _Visits:
    """Counts how often a value of a given depth is visited, by dynamic programming over (subschema,
    depth).
    """

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.anchors: dict[str, dict[str, Any]] = {}
        self.reached: dict[int, dict[str, Any]] = {}  # subschemas that apply one level down
        self._index(root)

    def count(
        self, node: Json, below: dict[int, int], here: dict[int, int], path: list[int]
    ) -> int:
        """Visits caused by ``node`` on one value. ``below`` holds the counts one level down, by id
        of the node.
        """
        if not isinstance(node, dict):
            return 1
        key = id(node)
        if key in here:
            return here[key]
        if key in path:
            return 1  # a reference back to itself on the same value adds nothing
        if len(path) > MAX_CHAIN:
            raise _Endless
        path.append(key)
        total = 1 + _count_compared_options(node.get("enum"))
        for part in self._same_value(node):
            total += self.count(part, below, here, path)
        path.pop()
        total += self._next_level(node, below)
        if total > 100 * MAX_VISITS:
            total = 100 * MAX_VISITS
        here[key] = total
        return total

    def _same_value(self, node: dict[str, Any]) -> Iterator[Json]:
        for keyword in _HERE_LISTS:
            listed = node.get(keyword)
            if isinstance(listed, list):
                yield from listed
        for keyword in _HERE:
            if keyword in node:
                yield node[keyword]
        dependent = node.get("dependentSchemas")
        if isinstance(dependent, dict):
            yield from dependent.values()
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(node.get(keyword), str):
                target = self._resolve(node[keyword])
                if target is not None:
                    yield target

    def _next_level(self, node: dict[str, Any], below: dict[int, int]) -> int:
        """The most visits that any one child can cause."""
        properties = node.get("properties")
        most = 0
        for child in properties.values() if isinstance(properties, dict) else ():
            most = max(most, self._child(child, below))
        total = most
        for keyword in _BELOW_MAPS:
            mapped = node.get(keyword)
            for child in mapped.values() if isinstance(mapped, dict) else ():
                total += self._child(child, below)
        for keyword in _BELOW:
            if isinstance(node.get(keyword), dict):
                total += self._child(node[keyword], below)
        listed = node.get("prefixItems") or node.get("items")
        if isinstance(listed, list):
            total += max((self._child(child, below) for child in listed), default=0)
        return total

    def _child(self, child: Json, below: dict[int, int]) -> int:
        if not isinstance(child, dict):
            return 1
        self.reached[id(child)] = child
        return below.get(id(child), 1)

    def _resolve(self, reference: str) -> Json:
        if is_pointer(reference):
            return resolve_reference(reference, self.root)
        return self.anchors.get(reference.lstrip("#")) or self.anchors.get(reference)

    def _index(self, root: dict[str, Any]) -> None:
        """Anchors and embedded ids, so that references by name are counted too."""
        stack: list[Json] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, dict):
                for keyword in ("$anchor", "$dynamicAnchor", "$id", "id"):
                    if isinstance(node.get(keyword), str):
                        self.anchors.setdefault(node[keyword].lstrip("#"), node)
                stack.extend(node.values())
            elif isinstance(node, list):
                stack.extend(node)


def _count_compared_options(options: Json) -> int:
    """The options that a value is compared with one by one; texts and numbers are looked up."""
    listed = isinstance(options, list) and any(
        isinstance(option, dict | list) for option in options
    )
    return len(options) if listed else 0
