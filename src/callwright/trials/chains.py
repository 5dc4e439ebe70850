"""Chained trials: a tool whose missing input another candidate's reply holds is tried after it, with that reply.

Whose output may feed whose input is what :mod:`callwright.flow` says; what the reply then holds is looked up there.
"""

from __future__ import annotations

from collections.abc import Sequence

from callwright.flow import Link, links_between, profile
from callwright.gate import Sources
from callwright.jsontext import JsonError, mend
from callwright.trials.values import Value
from callwright.types import Json, Tool, ToolResult, canonical

FEEDS = (
    0.45  # score (flow.links_between) from which a tool is tried as the provider of an input: of a bare identifier
)
_MOST = 3  # values of one input that a reply offers


def feeds(producer: Tool, consumer: Tool, key: str) -> Link | None:
    """How the producer may provide this input of the consumer; None where it does not."""
    if producer.name == consumer.name:
        return None
    found = links_between(profile(producer), profile(consumer))
    return next((x for x in found if x.input.path[:1] == (key,) and x.score >= FEEDS), None)


def providers(tool: Tool, key: str, tools: Sequence[Tool]) -> list[Tool]:
    """The tools that may provide an input, best first; of equals the first given."""
    found = [(link.score, other) for other in tools if (link := feeds(other, tool, key)) is not None]
    return [other for _, other in sorted(found, key=lambda one: -one[0])]


def provided(link: Link, result: ToolResult) -> list[Value]:
    """What a reply holds for the link's input, in its order; sure where it is one value only."""
    content = _opened(result.content)
    held = list(_at(content, link.output.path)) if link.output.declared else []
    if not held:
        own = Sources(results=[ToolResult(result.id, result.tool, result.arguments, content)])
        held = own.under(link.input.path[-1]) or (own.under("id") if link.input.identifies else [])
    alike = list({canonical(v): v for v in held if _usable(v)}.values())
    return [Value(v, len(alike) == 1, result.tool) for v in alike[:_MOST]]


def _opened(content: Json) -> Json:
    if isinstance(content, str) and content.lstrip()[:1] in ("{", "["):
        try:
            return mend(content).value
        except JsonError:
            return content
    return content


def _at(value: Json, path: Sequence[str]) -> list[Json]:
    """What stands at a path, lists walked through."""
    if isinstance(value, list):
        return [found for one in value for found in _at(one, path)]
    if not path:
        return [value]
    return _at(value[path[0]], path[1:]) if isinstance(value, dict) and path[0] in value else []


def _usable(value: Json) -> bool:
    return value is not None and value != "" and not isinstance(value, dict | bool)
