"""Required values that certainly stand nowhere: not in the conversation, not in a result, not
computed from either (:mod:`callwright.repair.provenance.value_judge`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from callwright.nouns.types import Json, JsonObject, Tool, required_keys
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.repair.provenance.value_judge import ValueJudge
from callwright.schema.coerce import pointer_join
from callwright.schema.compiled import Node, compiled_for

_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Invention:
    """A required value that stands nowhere. ``path`` is a JSON Pointer into the arguments, ``key``
    its name. ``meant``: what the user's words lead to instead, days with the later ones first.
    """

    path: str
    key: str
    value: Json
    meant: tuple[str, ...] = ()


def find_inventions(
    arguments: JsonObject,
    tool: Tool,
    sources: ProvenanceIndex,
    said: Sequence[str] = (),
    near: int = 31,
    looked_up: Container[str] = (),
) -> tuple[Invention, ...]:
    """The required values of a valid call that stand nowhere, in order.

    ``said``: the user's words, by which it is told whether number words can be read; by default the
    query. A date is known if it lies within ``near`` days of one that was named. ``looked_up``:
    arguments that another tool's results give; a plain text there is no paraphrase, so it is judged
    too.
    """
    root = compiled_for(tool).root
    known = ValueJudge(sources, said or (sources.query,), near, looked_up, tool, arguments)
    leaves = _iter_required(arguments, root, "", "", 0)
    return tuple(
        Invention(path, key, value, known.list_meant(value, node, arguments))
        for path, key, value, node in leaves
        if not known.holds(key, value, node)
    )


def _iter_required(
    value: Json, node: Node, path: str, key: str, depth: int
) -> Iterator[tuple[str, str, Json, Node]]:
    """(pointer, name, scalar, its schema) for every value that a schema requires."""
    node = node.resolved()
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        for name in required_keys(node.schema) if isinstance(node.schema, dict) else ():
            part = node.property(name)
            if name in value and part is not None:
                yield from _iter_required(
                    value[name], part, pointer_join(path, name), name, depth + 1
                )
    elif isinstance(value, list):
        for place, item in enumerate(value):
            part = node.item(place)
            if part is not None:
                yield from _iter_required(item, part, pointer_join(path, place), key, depth + 1)
    elif path:
        yield path, key, value, node
