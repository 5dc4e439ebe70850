"""Calls that come too early: an identifier of theirs is still to be looked up, and a tool that was
not called yet gives it.

Two signs are looked for. The value stands nowhere: it was made up, for an optional argument as for
a required one. Or it was said and is none of the identifiers that the tool takes, as far as the
request tells: "book the room Birch", where ``list_rooms`` gives the ``room_id``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from callwright.agent.step import StepContext
from callwright.dataflow.flow import ID_WORDS, get_profile
from callwright.dataflow.lookups import find_lookups
from callwright.dataflow.prerequisites import find_needs, is_looked_up
from callwright.language.tokens import split_identifier
from callwright.nouns.types import (
    Json,
    Tool,
    ToolCall,
    ToolResult,
    iter_scalars,
    to_canonical_json,
)
from callwright.repair.provenance.sources import Leaf, ProvenanceIndex
from callwright.schema.compiled import compiled_for


class IntendedCall(NamedTuple):
    """A call that was decided on before what it needs was known. ``lacking``: the arguments that
    the results of ``givers`` give.
    """

    call: ToolCall
    lacking: tuple[str, ...]
    givers: tuple[str, ...]

    def to_early(self, tools: Sequence[Tool]) -> EarlyCall:
        """The call as one that still comes too early."""
        givers = tuple(tool for tool in tools if tool.name in self.givers)
        return EarlyCall(self.call, self.lacking, givers)

    def is_made(self, results: Sequence[ToolResult]) -> bool:
        """Return True if the call was made since one of its givers has returned: with the arguments
        that it holds, whatever the others are.
        """
        came = [n for n, result in enumerate(results) if result.tool in self.givers]
        since = results[came[0] :] if came else ()
        given = self.call.arguments if isinstance(self.call.arguments, dict) else {}
        return any(
            result.tool == self.call.tool
            and all(result.arguments.get(key) == value for key, value in given.items())
            for result in since
        )

    def complete(self, tool: Tool, results: Sequence[ToolResult]) -> ToolCall:
        """The call with each value that the results of its givers give, where they give just
        one.
        """
        found = [result for result in results if result.ok and result.tool in self.givers]
        given = dict(self.call.arguments) if isinstance(self.call.arguments, dict) else {}
        for key in self.lacking:
            values = _list_values(key, tool, found)
            if len(values) == 1:
                given[key] = values[0]
        return ToolCall("", self.call.tool, given)


def _list_values(key: str, tool: Tool, results: Sequence[ToolResult]) -> list[Json]:
    """The different values of results that stand under the name of an argument, or, of a text with
    a format, that have this format.
    """
    part = tool.properties.get(key)
    accepts = compiled_for(tool).root.property(key)
    is_formatted = isinstance(part, dict) and isinstance(part.get("format"), str)
    leaves = ProvenanceIndex(results=results).leaves
    wanted = split_identifier(key)
    named = [
        leaf.value for leaf in leaves if leaf.path and split_identifier(leaf.path[-1]) == wanted
    ]
    if not named and is_formatted:
        named = [leaf.value for leaf in leaves if isinstance(leaf.value, str)]
    fitting = [value for value in named if accepts is None or accepts.accepts(value)]
    return [*{to_canonical_json(value): value for value in fitting}.values()]


@dataclass(frozen=True, slots=True)
class EarlyCall:
    """A call, the arguments whose values are still to be looked up, and the tools that give
    them.
    """

    call: ToolCall
    arguments: tuple[str, ...]
    givers: tuple[Tool, ...]

    def render(self) -> str:
        """Return in words what is to be looked up, and with what."""
        names = " or ".join(giver.name for giver in self.givers)
        return f"{' and '.join(self.arguments)} of {self.call.tool}, from {names}"

    def build_intended(self) -> IntendedCall:
        """The call without the values that are still to be looked up."""
        given = self.call.arguments if isinstance(self.call.arguments, dict) else {}
        kept = {key: value for key, value in given.items() if key not in self.arguments}
        givers = tuple(giver.name for giver in self.givers)
        return IntendedCall(ToolCall("", self.call.tool, kept), self.arguments, givers)

    def holds(self, lookup: ToolCall) -> bool:
        """Return True if a lookup only repeats what the call says already: it finds nothing new."""
        said = {_fold(value) for value in iter_scalars(self.call.arguments)}
        asked = [_fold(value) for value in iter_scalars(lookup.arguments)]
        return bool(asked) and said.issuperset(asked)


def _fold(value: Json) -> str:
    return value.casefold().strip() if isinstance(value, str) else to_canonical_json(value)


def is_plain_lookup(tool: Tool) -> bool:
    """Return True if a tool is declared to read and has no parameters: calling it does no harm and
    takes no choice.
    """
    effects = tool.effects
    return effects.declared and effects.read_only and not tool.properties


class Split(NamedTuple):
    """Calls by what they may do. ``made_up``: reads of what nobody knows of; they find nothing."""

    ready: list[ToolCall]
    early: list[EarlyCall]
    made_up: list[ToolCall]


def split_early(calls: Sequence[ToolCall], context: StepContext) -> Split:
    """The calls that may be made now, those that come too early, and reads of made-up things."""
    finder = _EarlyFinder(context)
    split = Split([], [], [])
    for call in calls:
        found = finder.find(call)
        if found is not None:
            split.early.append(found)
        elif finder.reads_made_up(call):
            split.made_up.append(call)
        else:
            split.ready.append(call)
    return split


class _EarlyFinder:
    """Finds what calls lack, by what was said and what came back."""

    def __init__(self, context: StepContext) -> None:
        self._tools = {tool.name: tool for tool in context.tools}
        self._lookups = find_lookups(context.tools)
        self._known = collect_known(context)
        self._sources = context.facts.sources
        self._called = {result.tool for result in context.facts.state.results}

    def find(self, call: ToolCall) -> EarlyCall | None:
        """Return what a call lacks that tools not called yet give; None where it lacks nothing."""
        tool, lookups = self._tools.get(call.tool), self._lookups.get(call.tool, {})
        if tool is None or not isinstance(call.arguments, dict) or not lookups:
            return None
        open_needs = {need.field.path[0] for need in find_needs(tool, self._known)}
        found = {
            key: givers
            for key, givers in lookups.items()
            if self._called.isdisjoint(givers)
            and self._is_open(call.arguments.get(key), is_needed=key in open_needs)
        }
        names = dict.fromkeys(name for givers in found.values() for name in givers)
        givers = tuple(self._tools[name] for name in names)
        return EarlyCall(call, (*found,), givers) if found else None

    def _is_open(self, value: Json, *, is_needed: bool) -> bool:
        """Return True if a value is missing that the tool needs, or stands nowhere; of one that a
        result has to give, if it stands in no result.
        """
        if value is None or value == "":
            return is_needed
        if isinstance(value, dict | list | bool):
            return False
        if is_needed:
            leaves = self._sources.leaves
            return not any(_fold(x.value) == _fold(value) and _may_identify(x) for x in leaves)
        return not self._sources.holds(value)

    def reads_made_up(self, call: ToolCall) -> bool:
        """Return True if a declared read names an identifier that stands nowhere."""
        tool = self._tools.get(call.tool)
        if tool is None or not (tool.effects.declared and tool.effects.read_only):
            return False
        given = call.arguments if isinstance(call.arguments, dict) else {}
        fields = (field for field in get_profile(tool).inputs if len(field.path) == 1)
        keys = (field.path[0] for field in fields if field.required and is_looked_up(field))
        values = [given[key] for key in keys if isinstance(given.get(key), str)]
        return any(not self._sources.holds(value) for value in values)


def _may_identify(leaf: Leaf) -> bool:
    """Return True for a value of a result that can be an identifier: it has a figure, or stands in a
    list or under a name that says so. The name of a customer is none.
    """
    named = split_identifier(leaf.path[-1])[-1:] if leaf.path else []
    return not named or named[0] in ID_WORDS or any(map(str.isdigit, str(leaf.value)))


def collect_known(context: StepContext) -> str:
    """All that was said and that earlier turns returned, as one text."""
    said = (message.content for message in context.conversation)
    told = (to_canonical_json(result.content) for result in context.facts.state.earlier)
    return "\n".join([*said, context.query, *told])
