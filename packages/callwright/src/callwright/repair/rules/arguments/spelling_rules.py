"""Values in other words than their schema has: numbers as users write them, options by meaning."""

from __future__ import annotations

from typing import Any

from callwright.dataflow.flow import split_words
from callwright.nouns.types import Json, JsonObject
from callwright.nouns.wire_names import EditRule
from callwright.repair.rules import formats
from callwright.repair.rules.arguments.draft_arguments import DraftArguments
from callwright.schema.coerce import get_types
from callwright.schema.value_spellings import NONE


def read_numbers(draft: DraftArguments) -> None:
    """Numbers that came as text, as the user writes them."""
    for key, value in list(draft.arguments.items()):
        part = draft.tool.properties.get(key)
        is_place = not formats.COORDINATES.isdisjoint(split_words(key))
        if not isinstance(part, dict) or is_place or draft.accepts(key, value):
            continue
        said, types = draft.situation.asked, get_types(part)
        found = formats.parse_written_number(value, types, said, sure=draft.writes)
        if found is not NONE and draft.accepts(key, found):
            draft.edit(key, found, formats.SAID, formats.CONFIDENCE[formats.SAID])


def respell_values(draft: DraftArguments) -> None:
    """Values that their own schema refuses, said as it wants them: options by meaning, numbers
    without unit.
    """
    for key, value in list(draft.arguments.items()):
        part = draft.tool.properties.get(key)
        if not isinstance(part, dict) or key in draft.unknown or draft.accepts(key, value):
            continue
        find = _match_option if isinstance(part.get("enum"), list) else _find_number
        found, rule = find(draft, key, value, part)
        if found is not NONE and draft.accepts(key, found):
            draft.edit(key, found, rule, formats.CONFIDENCE[rule])


def _match_option(
    draft: DraftArguments, key: str, value: Json, part: JsonObject
) -> tuple[Any, EditRule]:
    is_known = draft.situation.informed and isinstance(value, str)
    is_said = is_known and draft.situation.sources.holds(value)
    about = f"{key} {part.get('description') or ''}" if draft.writes else None
    slips = not is_said and not draft.writes
    return formats.match_option(value, part["enum"], slips=slips, about=about), formats.OPTION


def _find_number(
    draft: DraftArguments, key: str, value: Json, part: JsonObject
) -> tuple[Any, EditRule]:
    types, about = get_types(part), str(part.get("description") or "")
    found = formats.strip_unit(value, types, key, about, sure=draft.writes)
    if found is not NONE:
        return found, formats.UNIT
    found = formats.decimal_comma(value, types)
    if found is not NONE or not draft.situation.informed:
        return found, formats.COMMA
    stated = formats.parse_stated_number(value, types, draft.situation.sources.holds)
    return stated, formats.SAID
