"""How much work a schema can make, measured before anything is compiled.

Three ways for a stranger's schema to hang a checker: size, depth, and references that multiply (a value visited
2^n times through n steps of ``allOf: [$ref, $ref]``). All three are counted here without evaluating anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from callwright.types import Json

MAX_NODES = 20_000
MAX_DEPTH = 100
MAX_TEXT = 2_000_000
MAX_CHAIN = 400  # references that lead to references, on one value
MAX_VISITS = 50_000  # visits of one value or of one path of values
_DEEPEST = 200

_HERE_LISTS = ("allOf", "anyOf", "oneOf")  # applied to the same value
_HERE = ("not", "if", "then", "else")
_BELOW_MAPS = ("patternProperties",)  # each may apply to the same child
_BELOW = ("additionalProperties", "items", "contains", "unevaluatedProperties", "unevaluatedItems", "additionalItems")


def measure(schema: Json) -> str:
    """What is wrong with the size or shape of a schema; "" where nothing is."""
    nodes, text = 0, 0
    stack: list[tuple[Json, int]] = [(schema, 0)]
    while stack:
        value, depth = stack.pop()
        nodes += 1
        if depth > MAX_DEPTH:
            return f"the schema is nested more than {MAX_DEPTH} levels deep"
        if nodes + len(stack) > MAX_NODES:
            return f"the schema has more than {MAX_NODES} parts"
        if isinstance(value, str):
            text += len(value)
        elif isinstance(value, dict | list | tuple) and len(value) > MAX_NODES:
            return f"the schema has more than {MAX_NODES} parts"
        elif isinstance(value, dict):
            text += sum(map(len, filter(lambda k: isinstance(k, str), value)))
            stack.extend((v, depth + 1) for v in value.values())
        elif isinstance(value, list | tuple):
            stack.extend((v, depth + 1) for v in value)
        if text > MAX_TEXT:
            return f"the schema has more than {MAX_TEXT} characters"
    if deepest_instance(schema) < 1:
        return "checking one value against the schema takes too many steps: its references multiply"
    return ""


def deepest_instance(schema: Json) -> int:
    """How deeply nested a value may be so that checking it stays within MAX_VISITS; at most 200, 0 for never."""
    if not isinstance(schema, dict):
        return _DEEPEST
    counter = _Visits(schema)
    visits: dict[int, int] = {}
    totals: list[int] = []
    for depth in range(_DEEPEST + 1):
        before, visits = visits, {}
        try:
            totals.append(counter.count(schema, before, visits, []))
            for node in list(counter.reached.values()):
                counter.count(node, before, visits, [])
        except _Endless:
            return 0
        if max(visits.values()) > MAX_VISITS:
            return depth - 1
        if visits == before or _grows_evenly(totals):
            return _DEEPEST
    return _DEEPEST


def _grows_evenly(totals: list[int]) -> bool:
    """Plain recursion (a tree): each level adds as much as the one before, and 200 levels stay affordable."""
    if len(totals) < 12:
        return False
    steps = {b - a for a, b in zip(totals[-8:], totals[-7:], strict=False)}
    return len(steps) == 1 and totals[-1] + steps.pop() * _DEEPEST < MAX_VISITS


def instance_depth(value: Json, stop: int) -> int:
    """Levels of arrays and objects, 1 for one that holds no other, counted only until ``stop`` is passed."""
    level, depth = [value], 0
    while level and depth <= stop:
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        depth += bool(any(isinstance(i, dict | list) for i in level))
        level = [i for i in inner if isinstance(i, dict | list)]
    return depth


class _Endless(Exception):
    """A chain of references longer than MAX_CHAIN, or more visits than anybody should count."""


class _Visits:
    """Counts how often a value of a given depth is visited, by dynamic programming over (subschema, depth)."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        self.anchors: dict[str, dict[str, Any]] = {}
        self.reached: dict[int, dict[str, Any]] = {}  # subschemas that apply one level down
        self._index(root)

    def count(self, node: Json, below: dict[int, int], here: dict[int, int], path: list[int]) -> int:
        """Visits caused by ``node`` on one value. ``below`` holds the counts one level down, by id of the node."""
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
        total = 1
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
        if reference in ("#", ""):
            return self.root
        if not reference.startswith("#/"):
            return self.anchors.get(reference.lstrip("#")) or self.anchors.get(reference)
        node: Json = self.root
        for part in reference[2:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            try:
                node = node[int(key)] if isinstance(node, list) else node[key]
            except (KeyError, IndexError, ValueError, TypeError):
                return None
        return node

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
