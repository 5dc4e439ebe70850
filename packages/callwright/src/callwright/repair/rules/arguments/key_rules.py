"""Arguments as a whole and their keys: unwrapped, converted, given to the parameters that they
stand for.
"""

from __future__ import annotations

import re

from callwright.nouns.thresholds import threshold
from callwright.nouns.types import to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.repair.draft import LocatedEdit
from callwright.repair.location import in_arguments
from callwright.repair.rules import parameters, schema_echo
from callwright.repair.rules.arguments.draft_arguments import DraftArguments
from callwright.repair.rules.sure_repairs import are_sure
from callwright.schema import keys
from callwright.schema.value_edits import ValueEdit, render_pointer

UNWRAPPED = threshold("callwright.repair", "arguments.unwrap_arguments")


def unwrap_arguments(draft: DraftArguments) -> None:
    """Arguments that stand in an object of their own."""
    inner = schema_echo.unwrap_arguments(draft.arguments, draft.tool)
    if inner is not None:
        place = in_arguments(draft.id)
        draft.change.list_edit(place, draft.arguments, inner, EditRules.UNWRAP_ARGUMENTS, UNWRAPPED)
        draft.arguments = inner


def convert_arguments(draft: DraftArguments) -> None:
    """The gate's lossless conversions and renames."""
    value, edits = draft.coerce(draft.arguments)
    if not are_sure(edits, draft.tool):
        value, edits = draft.arguments, ()
    renamed, renames = keys.rename_keys(value, draft.compiled.root)
    more: tuple[ValueEdit, ...] = ()
    if not are_sure(renames, draft.tool, value):
        renames = ()
    elif renames:
        value, more = draft.coerce(renamed)
    if edits or renames or more:
        draft.arguments = value
        draft.change.list_values(draft.id, (*edits, *renames, *more))


def assign_keys(draft: DraftArguments) -> None:
    """Unknown keys given to the parameters they stand for."""
    sure, unsure = parameters.pair_keys(draft.arguments, draft.compiled.root)
    least = draft.situation.settings.least
    for pair in sure:
        given = ValueEdit((), pair.given, pair.wanted, EditRules.RENAME_KEY)
        if pair.confidence < least or not are_sure([given], draft.tool, draft.arguments):
            said = f"'{pair.given}' may stand for '{pair.wanted}'"
            draft.abstain(pair.given, pair.confidence, pair.wanted, said)
            continue
        renamed = {pair.wanted if k == pair.given else k: v for k, v in draft.arguments.items()}
        place = in_arguments(draft.id, pair.given)
        draft.change.list_edit(place, pair.given, pair.wanted, parameters.RULE, pair.confidence)
        draft.arguments, more = draft.coerce(renamed)
        draft.change.list_values(draft.id, more)
    for pair in unsure:
        said = f"'{pair.given}' may stand for '{pair.wanted}'"
        draft.abstain(pair.given, pair.confidence, pair.wanted, said)


def apply_gate(draft: DraftArguments) -> None:
    """The gate has the last word: what it still converts or drops is done, what it refuses is
    reported.
    """
    verdict = draft.situation.gate.repair(draft.call, id=draft.id)
    if verdict.errors:
        known = {d.location for d in draft.errors}
        draft.change.diagnostics += [d for d in verdict.errors if d.location not in known]
        return
    if not verdict.edits:
        return
    kept = {
        e.location: e
        for e in verdict.edits
        if e.rule == EditRules.DROP_UNKNOWN and _is_worth_keeping(draft, e)
    }
    draft.change.edits += [e for e in verdict.edits if e.location not in kept]
    places = {place.pointer[-1] for place in kept}
    left = {k: v for k, v in draft.arguments.items() if k in places}
    draft.arguments = left | verdict.arguments
    for place, edit in kept.items():
        name = render_pointer(place.pointer[1:])[1:]
        said = (
            f"'{name}' is no parameter of '{draft.tool.name}', but its value was asked for:"
            " left as it is."
        )
        draft.change.report("schema", place, said, "additionalProperties", edit.before)


def _is_worth_keeping(draft: DraftArguments, edit: LocatedEdit) -> bool:
    """Return True if an unknown key holds a requested value that no other argument holds. The
    schema must not forbid other keys.
    """
    value, pointer = edit.before, edit.location.argument or ()
    if len(pointer) != 1 or draft.tool.input_schema.get("additionalProperties") is False:
        return False
    if not draft.situation.informed or not draft.situation.sources.holds(value):
        return False
    kept = to_canonical_json([v for k, v in draft.arguments.items() if k != pointer[0]])
    if re.search(rf"(?<![\w.]){re.escape(str(value))}(?![\w]|\.\d)", kept, re.I):
        return False  # it is there already
    if isinstance(value, str):
        return len(value.strip()) > 2
    numbers = {m[1] for m in draft.situation.talk.numbers}
    return type(value) in (int, float) and str(value) in numbers
