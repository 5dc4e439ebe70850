"""Examples for learning and measuring plans: a query, its tools, and which tool needs which other
one first.

Each source is read in place from its publisher's own files; nothing is redistributed. This module
holds what all loaders need; :mod:`callwright_lab.datasets.sources` knows them by name. If a file is
not there, ConfigError says where to get it.

Sources list tools in execution order, which gives the answer away: every loader goes through
:func:`example_from_calls` or :func:`example_from_graph`, which shuffle the tools by a hash of the
example's id first.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from callwright.jsontext import parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, JsonObject, Tool

Kind = Literal["dependency", "sequence"]


@dataclass(frozen=True, slots=True)
class PlanExample:
    """One query with the tools offered and how the gold answer orders them.

    ``edges``: (from, to) pairs of gold tools where a call of ``to`` uses what a call of ``from``
    returned (kind ``dependency``), or where ``to`` was merely called in a later step (kind
    ``sequence``). Always acyclic. ``layers``: longest-path depth of every gold tool; a tool called
    at several depths takes its first. ``several``: those tools, to be counted apart. Tools that are
    offered but not in ``gold`` are distractors: they have no layer and are left out of loss and
    scores. ``calls``: tool names in the order in which gold calls them, () where the source gives a
    graph and no order.
    """

    id: str
    source: str
    query: str
    tools: tuple[Tool, ...]
    gold: tuple[str, ...]
    edges: frozenset[tuple[str, str]]
    layers: dict[str, int]
    kind: Kind = "dependency"
    several: frozenset[str] = frozenset()
    calls: tuple[str, ...] = ()

    @property
    def combination(self) -> str:
        """One text per set of gold tools: what the splits are grouped by."""
        return "\n".join(sorted(self.gold))


@dataclass(frozen=True, slots=True)
class Source:
    """One data set and its origin. ``train``: shipped weights may be trained on it."""

    name: str
    read: Callable[[Path], Iterator[PlanExample]]
    licence: str
    train: bool
    where: str  # how to get it, for the error


def compute_depths(count: int, needs: Mapping[int, Iterable[int]]) -> list[int]:
    """Longest-path depth of calls 0..count-1, where call ``i`` needs earlier calls ``needs[i]``
    (all < i).
    """
    found: list[int] = []
    for i in range(count):
        found.append(1 + max((found[j] for j in needs.get(i, ()) if j < i), default=-1))
    return found


def example_from_calls(
    id: str,
    source: str,
    query: str,
    tools: Sequence[Tool],
    calls: Sequence[str],
    needs: Mapping[int, Iterable[int]],
    kind: Kind = "dependency",
) -> PlanExample:
    """An example from a call sequence: ``calls`` are tool names in order, call ``i`` uses results
    ``needs[i]``.
    """
    depth = compute_depths(len(calls), needs)
    layers: dict[str, int] = {}
    at: dict[str, set[int]] = {}
    for name, d in zip(calls, depth, strict=True):
        layers[name] = min(d, layers.get(name, d))
        at.setdefault(name, set()).add(d)
    edges = {(calls[j], calls[i]) for i, before in needs.items() for j in before if j < i}
    return PlanExample(
        id=id,
        source=source,
        query=query,
        tools=shuffle_tools(id, tools),
        gold=tuple(sorted(layers)),
        edges=frozenset((a, b) for a, b in edges if layers[a] < layers[b]),
        layers=dict(sorted(layers.items())),
        kind=kind,
        several=frozenset(name for name, where in at.items() if len(where) > 1),
        calls=tuple(calls),
    )


def example_from_graph(
    id: str,
    source: str,
    query: str,
    tools: Sequence[Tool],
    gold: Sequence[str],
    edges: Iterable[tuple[str, str]],
    kind: Kind,
) -> PlanExample | None:
    """An example from a tool graph; None where the graph has a cycle or names a tool that is not
    offered.
    """
    names = {t.name for t in tools}
    pairs = {(a, b) for a, b in edges if a != b}
    order = sort_topologically(gold, pairs)
    if order is None or not set(gold) <= names:
        return None
    place = {name: i for i, name in enumerate(order)}
    needs: dict[int, list[int]] = {}
    for a, b in pairs:
        needs.setdefault(place[b], []).append(place[a])
    return replace(example_from_calls(id, source, query, tools, order, needs, kind), calls=())


def to_sequence(example: PlanExample) -> PlanExample | None:
    """The example labelled by plain execution order: one layer per tool, in the order of their
    first calls.

    One of kind ``sequence`` is returned as it is; None where nothing says in which order gold
    called its tools.
    """
    if example.kind == "sequence":
        return example
    if not example.calls:
        return None
    order = list(dict.fromkeys(example.calls))
    again = frozenset(
        n
        for i, n in enumerate(example.calls)
        if n in example.calls[:i] and example.calls[i - 1] != n
    )
    return replace(
        example,
        edges=frozenset(pairwise(order)),
        layers={name: order.index(name) for name in example.gold},
        kind="sequence",
        several=again,
    )


def sort_topologically(names: Iterable[str], edges: Iterable[tuple[str, str]]) -> list[str] | None:
    """``names``, once each, in an order that respects ``edges``; None for a cycle or an edge to an
    unknown name.
    """
    left = sorted(set(names))
    pairs = set(edges)
    if not {n for pair in pairs for n in pair} <= set(left):
        return None
    order: list[str] = []
    while left:
        free = [n for n in left if not any(b == n and a in left for a, b in pairs)]
        if not free:
            return None
        order += free
        left = [n for n in left if n not in free]
    return order


def shuffle_tools(id: str, tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Tools, each name once, in an order that depends on the example's id and the names only."""
    unique = {t.name: t for t in tools}
    return tuple(
        unique[n]
        for n in sorted(unique, key=lambda n: hashlib.sha256(f"{id}\0{n}".encode()).digest())
    )


def add_distractors(example: PlanExample, pool: Sequence[Tool], count: int) -> PlanExample:
    """The example with ``count`` more tools that gold never calls, drawn from ``pool`` by the
    example's id.
    """
    have = {t.name for t in example.tools}
    rest = sorted(
        (t for t in {t.name: t for t in pool}.values() if t.name not in have), key=lambda t: t.name
    )
    drawn = random.Random(f"distractors {example.id}").sample(rest, min(count, len(rest)))
    return replace(example, tools=shuffle_tools(example.id, (*example.tools, *drawn)))


def collect_tools(examples: Iterable[PlanExample]) -> tuple[Tool, ...]:
    """Every tool of the examples once, by name: what distractors are drawn from."""
    found = {t.name: t for e in examples for t in e.tools}
    return tuple(found[name] for name in sorted(found))


# ---------------------------------------------------------------- reading files

_TYPES = {
    "str": "string", "string": "string", "text": "string", "date": "string", "time": "string",
    "int": "integer", "integer": "integer", "long": "integer",
    "float": "number", "number": "number", "double": "number",
    "bool": "boolean", "boolean": "boolean",
    "list": "array", "array": "array", "tuple": "array",
    "dict": "object", "object": "object", "map": "object",
}  # fmt: skip


def json_type(name: Any) -> str | None:
    """The JSON Schema type for a type name as data sets write it; None where it says nothing."""
    return _TYPES.get(str(name).strip().lower().split("[")[0].split("(")[0])


def property_schema(spec: Any) -> JsonObject:
    """A JSON Schema for one parameter as NESTFUL, NesTools and Seal-Tools describe it, nested ones
    included.
    """
    if not isinstance(spec, dict):
        return {}
    made: JsonObject = {}
    if kind := json_type(spec.get("type")):
        made["type"] = kind
    if isinstance(text := spec.get("description"), str) and text:
        made["description"] = text
    values = spec.get("enum") or spec.get("allowed_values")
    if isinstance(values, list) and values:
        made["enum"] = values
    if isinstance(inner := spec.get("properties"), dict) and inner:
        made["properties"] = {k: property_schema(v) for k, v in inner.items()}
    if isinstance(items := spec.get("items"), dict):
        made["items"] = property_schema(items)
    return made


def object_schema(properties: Any, required: Iterable[str] = ()) -> JsonObject:
    """An object schema of described parameters; names in ``required`` that are not described are
    dropped.
    """
    found = properties if isinstance(properties, dict) else {}
    made: JsonObject = {
        "type": "object",
        "properties": {k: property_schema(v) for k, v in found.items()},
    }
    if keep := [name for name in required if name in found]:
        made["required"] = keep
    return made


def read_json(path: Path, where: str) -> Json:
    """The JSON document at ``path``; ConfigError with ``where`` (how to get it) if there is
    none.
    """
    return parse(_read_text(path, where))


def read_lines(path: Path, where: str) -> list[Json]:
    """The objects of a JSON Lines file; ConfigError with ``where`` if there is none."""
    return [parse(line) for line in _read_text(path, where).splitlines() if line.strip()]


def _read_text(path: Path, where: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise ConfigError(f"there is no data file {path}", hint=where) from None
