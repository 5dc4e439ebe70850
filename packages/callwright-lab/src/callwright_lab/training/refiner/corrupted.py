"""Defines the input and the result of a corruption: right calls, the tools on offer and the
request.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from callwright.nouns.types import Json, JsonObject, Tool, ToolCall

Level = Literal["calls", "text", "stream"]
Write = Callable[[Sequence[ToolCall]], str]


@dataclass(frozen=True, slots=True)
class Corrupted:
    """Right calls after one error of a known kind.

    ``calls`` holds them at level ``calls``, ``text`` at level ``text``; level ``stream`` has
    ``pieces`` (a text as it arrives) or ``deltas`` (OpenAI chunk deltas). ``expected``: what a
    perfect repairer hands on. ``answerable``: whether that can be known from what is left, the
    tools and the query; if not, the error must be reported.
    """

    kind: str
    level: Level
    answerable: bool
    note: str
    expected: tuple[ToolCall, ...]
    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    pieces: tuple[str, ...] = ()
    deltas: tuple[JsonObject, ...] = ()


@dataclass(frozen=True, slots=True)
class Site:
    """One argument of one call, with the schema its tool gives it ({} where it gives none)."""

    call: int
    key: str
    value: Json
    schema: JsonObject

    @property
    def type(self) -> str:
        found = self.schema.get("type")
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Given:
    """Input of a corruption. ``write`` turns calls into the text that is to contain errors."""

    calls: tuple[ToolCall, ...]
    tools: tuple[Tool, ...]
    query: str
    write: Write

    def tool(self, name: str) -> Tool | None:
        return next((t for t in self.tools if t.name == name), None)

    def sites(self) -> Iterator[Site]:
        """Every argument of every call whose arguments are an object."""
        for i, call in enumerate(self.calls):
            tool = self.tool(call.tool)
            for key, value in call.arguments.items() if isinstance(call.arguments, dict) else ():
                schema = tool.properties.get(key) if tool is not None else None
                yield Site(i, key, value, schema if isinstance(schema, dict) else {})

    def stated(self, value: Json) -> bool:
        """Return True if the query contains the value verbatim as whole words of two characters or
        more, ignoring letter case.
        """
        text = value if isinstance(value, str) else write_reply(value)
        texts = {text, text.removesuffix(".0")} if isinstance(value, float) else {text}
        return any(
            len(t) > 1 and re.search(rf"(?<!\w){re.escape(t)}(?!\w)", self.query, re.IGNORECASE)
            for t in texts
        )

    def with_call(self, index: int, call: ToolCall) -> tuple[ToolCall, ...]:
        return (*self.calls[:index], call, *self.calls[index + 1 :])

    def with_value(self, site: Site, value: Json) -> tuple[ToolCall, ...]:
        """The calls with another value at the site; the order of arguments stays."""
        arguments = self._arguments(site)
        arguments[site.key] = value
        return self.with_call(site.call, replace(self.calls[site.call], arguments=arguments))

    def with_key(self, site: Site, key: str) -> tuple[ToolCall, ...]:
        """The calls with the argument under another name, in its old place."""
        arguments = {key if k == site.key else k: v for k, v in self._arguments(site).items()}
        return self.with_call(site.call, replace(self.calls[site.call], arguments=arguments))

    def without(self, site: Site) -> tuple[ToolCall, ...]:
        arguments = self._arguments(site)
        del arguments[site.key]
        return self.with_call(site.call, replace(self.calls[site.call], arguments=arguments))

    def with_name(self, index: int, name: str) -> tuple[ToolCall, ...]:
        return self.with_call(index, replace(self.calls[index], tool=name))

    def _arguments(self, site: Site) -> JsonObject:
        arguments = self.calls[site.call].arguments
        assert isinstance(arguments, dict)
        return dict(arguments)


Corruptor = Callable[[Given, random.Random], Corrupted | None]


def draw_one(rng: random.Random, found: Sequence[Any]) -> Any:
    """One of them by the generator, None of an empty sequence."""
    return rng.choice(found) if found else None


def write_reply(value: Json) -> str:
    """JSON as models write it: a space after comma and colon, no escapes for letters."""
    return json.dumps(value, ensure_ascii=False)


def write_hermes(calls: Sequence[ToolCall]) -> str:
    """The default text of calls: one JSON object between ``<tool_call>`` tags each."""
    return "\n".join(
        f"<tool_call>\n{write_reply({'name': c.tool, 'arguments': c.arguments})}\n</tool_call>"
        for c in calls
    )
