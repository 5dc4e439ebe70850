"""Where values come from: missing ones that were said, and those that nobody said."""

from __future__ import annotations

import re

from callwright.dataflow.flow import GENERIC, split_words
from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, to_canonical_json
from callwright.nouns.wire_names import EditRules
from callwright.repair.provenance.grounding import classify_value, is_identifier
from callwright.repair.rules import formats
from callwright.repair.rules.arguments.draft_arguments import DraftArguments
from callwright.schema.value_spellings import NONE

UNSOURCED = threshold("callwright.repair", "arguments_left_out.drop_unsourced")

_DAY_OR_TIME = re.compile(r"\d[-/:]\d")


def may_lack_source(draft: DraftArguments, key: str, value: Json) -> bool:
    """Return True if a value is written as its description does not want it, or if nobody may have
    said it.
    """
    part = draft.tool.properties.get(key)
    if isinstance(value, dict | list):
        return False
    if isinstance(value, str) and formats.convert_to_documented(value, part) is not NONE:
        return True
    if not draft.situation.informed:
        return False
    if is_identifier(key, value, part) and not draft.is_grounded(value):
        return True
    return draft.situation.settings.leave_out and key not in draft.tool.required


def fill_missing(draft: DraftArguments) -> None:
    """Required values that the call lacks and somebody said."""
    for key in draft.tool.required:
        if key not in draft.arguments:
            found = draft.find_extracted(key)
            if found is not None:
                draft.take(key, found)
            else:
                draft.change.note_missing(draft.id, key)


def trace_values(draft: DraftArguments) -> None:
    """Identifiers that nothing said holds, days in another format than documented, values
    nothing supports.
    """
    for key, value in list(draft.arguments.items()):
        if key in draft.referring or not _respell_as_documented(draft, key, value):
            continue
        is_whole = not isinstance(value, dict | list)
        if draft.situation.informed and is_whole and key not in draft.unknown:
            _trace_value(draft, key, value)


def _respell_as_documented(draft: DraftArguments, key: str, value: Json) -> bool:
    """Write a value as its description wants it, where its schema refuses it as it is. Return False
    if it is accepted, and only noted.
    """
    rule = formats.FORMAT
    spelled = formats.convert_to_documented(value, draft.tool.properties.get(key))
    if spelled is NONE or not draft.accepts(key, spelled):
        return True
    if not draft.accepts(key, value):
        draft.edit(key, spelled, rule, formats.CONFIDENCE[rule])
        return True
    said = (
        f"'{key}' is {to_canonical_json(value)[:80]}, which its description wants written"
        " in another way"
    )
    draft.abstain(key, formats.CONFIDENCE[rule], spelled, said)
    return False


def _trace_value(draft: DraftArguments, key: str, value: Json) -> None:
    part = draft.tool.properties.get(key)
    verdict = classify_value(key, value, part, draft.situation.sources)
    if verdict == "held" and is_identifier(key, value, part) and not draft.is_grounded(value):
        verdict = "identifier"
    is_unsourced = verdict in ("identifier", "invented", "derived")
    if draft.situation.settings.leave_out and is_unsourced and _may_go(draft, key, value):
        draft.drop(key, EditRules.DROP_UNSOURCED, UNSOURCED)
    elif verdict == "identifier":
        _replace_identifier(draft, key, value)


def _replace_identifier(draft: DraftArguments, key: str, value: Json) -> None:
    found = draft.find_extracted(key)
    said = f"'{key}' is {to_canonical_json(value)[:80]}, an identifier that nothing said so far contains."
    if found is not None and found.kind == "labelled" and type(found.value) is type(value):
        if not draft.accepts(key, value):
            draft.take(key, found)
            return
        said += f" {to_canonical_json(found.value)[:80]} was said."
    draft.report("ungrounded", key, said, "identifier", value)
    if draft.needs(key):
        draft.change.note_missing(draft.id, key)


def _may_go(draft: DraftArguments, key: str, value: Json) -> bool:
    """Return True if an optional value can be left out. Nothing in the conversation concerns
    it, and the schema permits its absence.
    """
    if draft.needs(key) or key not in draft.arguments or _is_alluded(draft, key, value):
        return False
    kept = {k: v for k, v in draft.arguments.items() if k != key}
    return draft.compiled.accepts(kept) or not draft.compiled.accepts(draft.arguments)


def _is_alluded(draft: DraftArguments, key: str, value: Json) -> bool:
    """Return True if the conversation mentions the parameter or has a word of the value. Days
    and times also count, since they are derived. So does a value that differs from the one in
    another call.
    """
    if isinstance(value, str) and _DAY_OR_TIME.search(value):
        return True
    if any(key in other and other[key] != value for other in draft.others):
        return True
    about = [*split_words(key)]
    if isinstance(value, str):
        about += [*split_words(value), *filter(str.isalpha, formats.list_synonyms(value))]
    return any(
        len(w) > 3 and w not in GENERIC and draft.situation.sources.mentions(w) for w in about
    )
