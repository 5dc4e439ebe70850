"""Chained trials: a tool whose missing input another candidate's reply holds is tried after it,
with that reply.

Whose output may feed whose input is what :mod:`callwright.dataflow.flow` says; what the reply then
holds is looked up there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from callwright.agent.probing.values import Value
from callwright.dataflow.flow import (
    GENERIC,
    Field,
    Link,
    get_profile,
    is_type_compatible,
    links_between,
)
from callwright.jsontext import parse_tool_text
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import (
    Json,
    JsonObject,
    Tool,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.provenance.sources import ProvenanceIndex

# score (flow.links_between) from which a tool is tried as the provider of an input
FEEDS = threshold("callwright.agent.probing", "feeds")
# score from which a tool is not ruled out as one: both name the thing alike
PERHAPS = threshold("callwright.agent.probing", "perhaps")
# score of an output whose name the input's description says: "IATA code of an airport" <- iata
DESCRIBED = threshold("callwright.agent.probing", "described")
_MOST = 3  # values of one input that a reply offers
_TELLS = 3  # characters of a text that can tell which record was meant


class Feeding:
    """Possible links from outputs to inputs among the candidates of one request, computed on
    demand.
    """

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = list(tools)
        self._links: dict[str, dict[str, list[tuple[Link, Tool]]]] = {}

    def add(self, tool: Tool) -> None:
        """One more tool whose output may feed others."""
        self._tools.append(tool)
        self._links.clear()

    def providers(self, tool: Tool, key: str, least: float = FEEDS) -> list[tuple[Link, Tool]]:
        """The tools that may provide an input, best first; of equals the first given."""
        if tool.name not in self._links:
            self._links[tool.name] = self._of(tool)
        return [
            (link, other)
            for link, other in self._links[tool.name].get(key, ())
            if link.score >= least
        ]

    def _of(self, tool: Tool) -> dict[str, list[tuple[Link, Tool]]]:
        made: dict[str, list[tuple[Link, Tool]]] = {}
        for other in self._tools:
            best: dict[str, Link] = {}
            for link in _iter_links(other, tool) if other.name != tool.name else ():
                key = link.input.path[0]
                if key not in best or link.score > best[key].score:
                    best[key] = link
            for key, link in best.items():
                made.setdefault(key, []).append((link, other))
        return {key: sorted(found, key=lambda one: -one[0].score) for key, found in made.items()}

    def same_form(self, tool: Tool, key: str) -> list[Tool]:
        """The tools whose documented replies hold something of the very format that this input
        declares.
        """
        part = tool.properties.get(key)
        wanted = part.get("format") if isinstance(part, dict) else None
        told = f'"format":{to_canonical_json(wanted)}'
        others = [other for other in self._tools if other.name != tool.name and other.output_schema]
        return (
            [other for other in others if told in to_canonical_json(other.output_schema)]
            if wanted
            else []
        )


def _iter_links(producer: Tool, consumer: Tool) -> Iterator[Link]:
    """All that may flow from the one to the other: by name, and by what the input's description
    says.
    """
    a, b = get_profile(producer), get_profile(consumer)
    yield from links_between(a, b, required=True)
    for wanted in b.inputs:
        for given in a.outputs if wanted.required else ():
            if given.declared and given.name not in a.echoed and _is_described(given, wanted):
                yield Link(a.name, b.name, given, wanted, DESCRIBED)


def _is_described(given: Field, wanted: Field) -> bool:
    """Return True if an input's description names an output, or if both are the id of the same
    thing. "order_id" is such an id, whatever else the word order may mean.
    """
    if given.name == wanted.name and len(wanted.name) > 1 and wanted.identifies:
        return True
    telling = frozenset(given.name) - GENERIC
    return bool(telling) and telling <= wanted.about and is_type_compatible(given.type, wanted.type)


def extract_link_values(link: Link, result: ToolResult, said: str = "") -> list[Value]:
    """Return the values in a reply for the link's input, in its order. A single value is sure.

    Of several records, those count that hold a text which was ``said``.
    """
    content = _keep_matching_records(
        parse_tool_text(result.content), said.lower(), result.arguments
    )
    held = list(_get_at_path(content, link.output.path)) if link.output.declared else []
    if not held:
        own = ProvenanceIndex(
            results=[ToolResult(result.id, result.tool, result.arguments, content)]
        )
        held = own.under(link.input.path[-1]) or (own.under("id") if link.input.identifies else [])
    alike = list(
        {
            to_canonical_json(v): v
            for v in held
            if v not in (None, "") and not isinstance(v, dict | bool)
        }.values()
    )
    return [Value(v, len(alike) == 1, result.tool) for v in alike[:_MOST]]


def _keep_matching_records(content: Json, said: str, arguments: JsonObject) -> Json:
    """A reply with, of every list of records, only those that name what was said, where some do."""
    if isinstance(content, dict):
        return {
            key: _keep_matching_records(value, said, arguments) for key, value in content.items()
        }
    if (
        not isinstance(content, list)
        or not said
        or not all(isinstance(one, dict) for one in content)
    ):
        return content
    asked = {v.lower() for v in iter_scalars(arguments) if isinstance(v, str)}
    named = [
        one for one in content if any(_is_mentioned(value, said, asked) for value in one.values())
    ]
    return named or content


def _is_mentioned(value: Json, said: str, asked: set[str]) -> bool:
    """Return True if a record's text stands in the request. The call's own arguments prove
    nothing.
    """
    if not isinstance(value, str) or len(value) < _TELLS or value.lower() in asked:
        return False
    return re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", said) is not None


def _get_at_path(value: Json, path: Sequence[str]) -> list[Json]:
    """Return the values at a path, descending into lists."""
    if isinstance(value, list):
        return [found for one in value for found in _get_at_path(one, path)]
    if not path:
        return [value]
    return (
        _get_at_path(value[path[0]], path[1:])
        if isinstance(value, dict) and path[0] in value
        else []
    )
