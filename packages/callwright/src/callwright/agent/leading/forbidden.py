"""A write to a record that the request names only where it forbids something.

"Pay the water bill, but not the electricity bill": a small model pays both. The clauses of a request
are read in the languages that can be read; only the user can tell that such a write is meant after
all.
"""

from __future__ import annotations

from collections.abc import Iterator

from callwright.agent.leading.unasked import is_telling, list_values
from callwright.agent.step import StepContext
from callwright.language.forbidding import split_clauses
from callwright.language.tokens import holds_unparted, split_tokens
from callwright.nouns.types import ToolCall, to_canonical_json
from callwright.repair.provenance.records import iter_records
from callwright.repair.provenance.sources import ProvenanceIndex


def find_forbidden(call: ToolCall, context: StepContext) -> str:
    """The clause of the request that forbids something and names what a call holds, or the record
    of its identifier, where no other clause does; "" where there is none.
    """
    clauses = split_clauses(context.query)
    names = {*_list_names(call, context)} if clauses.forbidden else set[str]()
    if any(_names_any(clause, names) for clause in clauses.others):
        return ""
    return next((one.strip() for one in clauses.forbidden if _names_any(one, names)), "")


def _list_names(call: ToolCall, context: StepContext) -> Iterator[str]:
    values = list_values(call.arguments)
    yield from (value for value in values if isinstance(value, str))
    held = {to_canonical_json(value) for value in values}
    results = (*context.facts.state.earlier, *context.facts.results)
    for record in (one for result in results for one in iter_records(result.content)):
        told = [one for one in record.values() if isinstance(one, str | int)]
        if any(to_canonical_json(value) in held for value in told if not isinstance(value, bool)):
            yield from (value for value in told if isinstance(value, str))


def _names_any(clause: str, names: set[str]) -> bool:
    said = ProvenanceIndex(clause)
    return any(_is_named(name, clause, said) for name in names)


def _is_named(name: str, clause: str, said: ProvenanceIndex) -> bool:
    if holds_unparted(name):
        return name in clause
    words = (word for word in split_tokens(name) if word.isalpha())
    return any(said.mentions(word) for word in words if is_telling(word))
