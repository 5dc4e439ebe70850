"""Calls beside what this turn has looked up: those that name a thing by another identifier than the
lookup returned, and those that set a record to what it is.

A small model that has listed the lamps calls for ``lamp_id: "bedroom lamp"``, as the user said it,
where the list has ``{"lamp_id": "L-2", "room": "bedroom"}``. And asked which lamps are on, it switches
on those that are. Both are read off results, declared effects and the words of the call itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callwright.agent.step import StepContext
from callwright.dataflow.lookups import find_lookups
from callwright.language.tokens import fold_text, split_identifier, split_tokens
from callwright.nouns.types import (
    Effects,
    Json,
    JsonObject,
    ToolCall,
    ToolResult,
    to_canonical_json,
)
from callwright.repair.provenance.records import iter_records
from callwright.repair.provenance.sources import ProvenanceIndex

_MOST_IDS = 40  # that are shown to the model
_LEAST_SET = 2  # values of a record that a call repeats: one tells which, another what is set


class Unlisted(NamedTuple):
    """The argument ``key`` of a call, of which the results of ``giver`` hold other values.
    ``records``: the records that hold them, each under ``member``.
    """

    call: ToolCall
    key: str
    giver: str
    member: str
    records: tuple[JsonObject, ...]

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
        """Return True if a text of the record stands in the value, or the value in it, in whole
        words.
        """
        words = split_tokens(fold_text(value))
        labels = (text for key, text in record.items() if key != self.member)
        told = [split_tokens(fold_text(text)) for text in labels if isinstance(text, str)]
        return any(_holds(words, label) or _holds(label, words) for label in told)


def _holds(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return True if a part stands in words, in their order."""
    size = len(part)
    return size > 0 and any(
        list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1)
    )


def find_unlisted(call: ToolCall, context: StepContext) -> Unlisted | None:
    """The identifier of a call that stands in no result, where a lookup of this turn returned
    others. A code that the user wrote is not doubted.
    """
    given = _get_arguments(call)
    lookups = find_lookups(context.tools).get(call.tool, {})
    results = (*context.facts.state.earlier, *context.facts.results)
    for key, givers in lookups.items():
        value = given.get(key)
        if not isinstance(value, str) or not value or any(sign.isdigit() for sign in value):
            continue
        came = [one for one in context.facts.results if one.ok and one.tool in givers]
        found = _list_named(key, came)
        others = [one for one in results if one not in came]
        if found is None or ProvenanceIndex(results=others).holds_whole(value):
            continue
        giver, member, records = found
        unlisted = Unlisted(call, key, giver, member, records)
        if fold_text(value) not in map(fold_text, unlisted.ids):
            return unlisted
    return None


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


def changes_nothing(call: ToolCall, context: StepContext) -> bool:
    """Return True if a call that sets something, by the declared effects of its tool, says nothing
    but what one record of this turn says under the same names, and nothing that the user said; not
    of a record that was read before another write.
    """
    tools = {tool.name: tool for tool in context.tools}
    if call.tool not in tools or not _only_sets(tools[call.tool].effects):
        return False
    given = _get_arguments(call)
    said = ProvenanceIndex(context.query, context.conversation)
    told = [value for value in given.values() if not isinstance(value, bool)]
    if len(given) < _LEAST_SET or not told or any(said.holds(value) for value in told):
        return False
    for result in reversed(context.facts.results):
        tool = tools.get(result.tool)
        if tool is None or tool.effects.may_write:
            return False
        if not result.ok:
            continue
        for record in iter_records(result.content):
            if all(key in record and _is_same(record[key], given[key]) for key in given):
                return True
    return False


def _only_sets(effects: Effects) -> bool:
    """Return True if calling twice is declared to do no more than calling once, and no deletion."""
    return effects.declares_write and effects.idempotent and not effects.destructive


def _is_same(one: Json, other: Json) -> bool:
    return to_canonical_json(one) == to_canonical_json(other)


def _get_arguments(call: ToolCall) -> JsonObject:
    return call.arguments if isinstance(call.arguments, dict) else {}
