"""Calls that name a thing by another identifier than a lookup of this turn returned.

A small model that has listed the lamps calls for ``lamp_id: "bedroom lamp"``, as the user said it,
where the list has ``{"lamp_id": "L-2", "room": "bedroom"}``. The record is taken where its words
and those of the tool are all that the value says; else the model is asked, with what was returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callwright.agent.step import StepContext
from callwright.dataflow.flow import STOP
from callwright.dataflow.lookups import find_lookups
from callwright.language.tokens import fold_text, split_identifier, split_tokens
from callwright.nouns.types import (
    JsonObject,
    Tool,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.repair.provenance.records import iter_records
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST_IDS = 40  # that are shown to the model


class Unlisted(NamedTuple):
    """The argument ``key`` of a call, of which the results of ``giver`` hold other values.
    ``records``: the records that hold them, each under ``member``; ``known``: words that say
    nothing of a record, of the tools and their arguments.
    """

    call: ToolCall
    key: str
    giver: str
    member: str
    records: tuple[JsonObject, ...]
    known: frozenset[str]

    @property
    def value(self) -> str:
        """The value that the call has."""
        return str(_get_arguments(self.call)[self.key])

    @property
    def ids(self) -> tuple[str, ...]:
        """The values that were returned."""
        return tuple(str(record[self.member]) for record in self.records)

    def render(self) -> str:
        """Return in words what is wrong."""
        value = to_canonical_json(self.value)
        return (
            f"'{self.key}' of {self.call.tool} is {value}, which {self.giver} did not return."
            f" It returned {', '.join(self.ids)}."
        )

    def resolve(self) -> ToolCall | None:
        """The call with the identifier of the one record that its value names; None where none or
        several may be meant.
        """
        given = _get_arguments(self.call)
        named = [one for one in self.records if self._names(self.value, one)]
        if len(named) != 1:
            return None
        arguments = {**given, self.key: named[0][self.member]}
        return ToolCall(self.call.id, self.call.tool, arguments, self.call.slot)

    def _names(self, value: str, record: JsonObject) -> bool:
        """Return True if a text of the record stands in the value and leaves no word that may tell
        of another one, or if the value stands in it, in whole words.
        """
        words = split_tokens(fold_text(value))
        labels = (text for key, text in record.items() if key != self.member)
        told = [split_tokens(fold_text(text)) for text in labels if isinstance(text, str)]
        telling = [label for label in told if not self.known.issuperset(label)]
        for label in telling:
            left = self.known.union(label)
            if _holds(label, words) or (_holds(words, label) and left.issuperset(words)):
                return True
        return False


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return True if a part stands in words, in their order."""
    size = len(part)
    return size > 0 and any(
        list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1)
    )


def find_unlisted(call: ToolCall, context: StepContext) -> Unlisted | None:
    """The identifier of a call that stands in no result, where a lookup of this turn returned
    others. Codes with figures in them are not doubted, nor is a value that the tool documents.
    """
    if not context.facts.results:
        return None
    given, tools = _get_arguments(call), {tool.name: tool for tool in context.tools}
    lookups = find_lookups(context.tools).get(call.tool, {})
    results = (*context.facts.state.earlier, *context.facts.results)
    for key, givers in lookups.items():
        value = given.get(key)
        if not isinstance(value, str) or not value or any(sign.isdigit() for sign in value):
            continue
        if _is_documented(value, key, tools[call.tool]):
            continue
        came = [one for one in context.facts.results if one.ok and one.tool in givers]
        found = _list_named(key, came)
        others = [one for one in results if one not in came]
        if found is None or ProvenanceIndex(results=others).holds_whole(value):
            continue
        giver, member, records = found
        known = _list_words(tools[call.tool], tools[giver], key)
        unlisted = Unlisted(call, key, giver, member, records, known)
        if fold_text(value) not in map(fold_text, unlisted.ids):
            return unlisted
    return None


def _list_words(tool: Tool, giver: Tool, key: str) -> frozenset[str]:
    """The words of two tools and of an argument, with those that say nothing."""
    names = f"{tool.name} {giver.name} {key}"
    told = split_tokens(f"{' '.join(split_identifier(names))} {tool.description}")
    return frozenset(told) | STOP


def _is_documented(value: str, key: str, tool: Tool) -> bool:
    """Return True if a tool speaks of a value of an argument itself, such as ``primary``."""
    return fold_text(value) in fold_text(
        to_canonical_json([tool.properties.get(key), tool.description])
    )


def _list_named(
    key: str, results: Sequence[ToolResult]
) -> tuple[str, str, tuple[JsonObject, ...]] | None:
    """The tool that returned values under the name of an argument, that name, and their records;
    None where there are none, or too many to be told.
    """
    wanted = split_identifier(key)
    records: dict[str, JsonObject] = {}
    giver = member = ""
    for result in results:
        for record in iter_records(result.content):
            name = next((name for name in record if split_identifier(name) == wanted), "")
            if name and isinstance(record[name], str):
                giver, member = result.tool, member or name
                records.setdefault(str(record[name]), record)
    is_one = all(member in record for record in records.values())
    if not records or not is_one or len(records) > _MOST_IDS:
        return None
    return giver, member, (*records.values(),)


def _get_arguments(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}
