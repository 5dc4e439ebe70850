"""Records that the request names only where it forbids something, and all but these.

"Pay the water bill, but not the electricity bill": a small model pays both. "Switch off all lamps
except the one in the kitchen": it switches one off. The clauses of a request are read in the
languages that can be read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from callwright.agent.leading.option_support import list_values as list_options
from callwright.agent.leading.unasked import is_telling, list_values
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.step import StepContext
from callwright.language.forbidding import Clauses, split_clauses
from callwright.language.tokens import split_tokens
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, ToolResult, to_canonical_json
from callwright.repair.provenance.records import (
    find_place,
    identifies,
    iter_record_lists,
    iter_records,
)
from callwright.repair.provenance.sources import ProvenanceIndex


def find_forbidden(call: ToolCall, context: StepContext) -> str:
    """The clause of the request that forbids something and names what a call holds, or the record
    of its identifier, where no other clause does; "" where there is none.
    """
    clauses = split_clauses(context.query)
    if not clauses.forbidden:
        return ""
    names = {*_list_names(call, context)}
    if any(_names_any(ProvenanceIndex(clause), names) for clause in clauses.others):
        return ""
    said = (one for one in clauses.forbidden if _names_any(ProvenanceIndex(one), names))
    return next((one.strip() for one in said), "")


class LeftRecords(NamedTuple):
    """The records of a list for which a tool that was called for one of them was not called:
    ``key`` is its argument, ``field`` theirs.
    """

    tool: str
    key: str
    field: str
    records: tuple[JsonObject, ...]

    def build_held(self) -> HeldCall:
        """A call that may only be for one of them."""
        ids = tuple(str(record[self.field]) for record in self.records)
        return HeldCall(ToolCall("", self.tool, {}), "", "", meant=ids, missing=(self.key,))

    def holds(self, call: ToolCall) -> bool:
        """Return True if a call is for one of them."""
        given = call.arguments if isinstance(call.arguments, dict) else {}
        ids = [to_canonical_json(record[self.field]) for record in self.records]
        return call.tool == self.tool and to_canonical_json(given.get(self.key)) in ids


def find_left(context: StepContext) -> LeftRecords | None:
    """The records that a request for all but some of a list still means, where a declared write was
    made to one that it does not name: those of its kind that it does not leave out, and that are
    not yet as the write makes them. None where it names no record that it leaves out.
    """
    clauses = split_clauses(context.query)
    tools = {tool.name: tool for tool in context.tools if tool.effects.declares_write}
    results = context.facts.results
    made = [one for one in results if one.ok and one.tool in tools]
    if not clauses.forbidden or not made:
        return None
    last, looked_up = made[-1], [one for one in results if one not in made]
    for key, value in last.arguments.items():
        for records in iter_record_lists(looked_up):
            place = find_place(value, records)
            if place is None or not identifies(place[1], records):
                continue
            own, field = records[place[0]], place[1]
            meant = _list_meant(records, own, clauses)
            if meant is None:
                continue
            done = _list_reached(last, tools[last.tool], own)
            kinds = {name: own[name] for name in _list_kinds(records) if name not in done}
            called = [one.arguments.get(key) for one in made if one.tool == last.tool]
            left = [
                record
                for record in meant
                if record[field] not in called
                and kinds == {name: record.get(name) for name in kinds}
                and not any(record.get(name) == reached for name, reached in done.items())
            ]
            return LeftRecords(last.tool, key, field, tuple(left)) if left else None
    return None


def _list_meant(
    records: Sequence[JsonObject], own: JsonObject, clauses: Clauses
) -> list[JsonObject] | None:
    """The records of a list that a request does not leave out; None where it leaves out none, or
    names ``own`` among the others.
    """
    forbidden, others = (
        [*map(ProvenanceIndex, part)] for part in (clauses.forbidden, clauses.others)
    )
    counted = Counter(word for one in records for word in {*_iter_words(one)})
    meant = [
        one
        for one in records
        if not any(_names_any(said, _list_own_words(one, counted)) for said in forbidden)
    ]
    is_named = any(_names_any(said, _list_own_words(own, counted)) for said in others)
    return None if is_named or len(meant) == len(records) else meant


def _list_own_words(record: JsonObject, counted: Mapping[str, int]) -> set[str]:
    """The texts of a record without the words that several records of its list have."""
    texts = [value for value in record.values() if isinstance(value, str)]
    own = {" ".join(w for w in split_tokens(text) if counted[w] == 1) for text in texts}
    return own - {""}


def _iter_words(record: JsonObject) -> Iterator[str]:
    for value in record.values():
        if isinstance(value, str):
            yield from split_tokens(value)


def _list_kinds(records: Sequence[JsonObject]) -> Iterator[str]:
    """The fields by which the records of a list fall into kinds: a day, a status, a floor."""
    for name in records[0]:
        values = [one.get(name) for one in records]
        if all(isinstance(value, str | bool) for value in values) and len({*values}) < len(values):
            yield name


def _list_reached(write: ToolResult, tool: Tool, before: JsonObject) -> dict[str, Json]:
    """The fields of a record that a write changed, with their new values, and those that it sets to
    one of a few values.
    """
    told = write.content if isinstance(write.content, dict) else {}
    changed = {
        name: told[name] for name in told.keys() & before.keys() if told[name] != before[name]
    }
    given = {name: value for name, value in write.arguments.items() if name in before}
    return {**changed, **{name: given[name] for name in given if list_options(tool, name)}}


def _list_names(call: ToolCall, context: StepContext) -> Iterator[str]:
    values = list_values(call.arguments)
    yield from (value for value in values if isinstance(value, str))
    held = {to_canonical_json(value) for value in values}
    results = (*context.facts.state.earlier, *context.facts.results)
    for record in (one for result in results for one in iter_records(result.content)):
        told = [one for one in record.values() if isinstance(one, str | int)]
        if any(to_canonical_json(value) in held for value in told if not isinstance(value, bool)):
            yield from (value for value in told if isinstance(value, str))


def _names_any(said: ProvenanceIndex, names: set[str]) -> bool:
    words = (word for name in names for word in split_tokens(name) if word.isalpha())
    return any(said.mentions(word) for word in words if is_telling(word))
