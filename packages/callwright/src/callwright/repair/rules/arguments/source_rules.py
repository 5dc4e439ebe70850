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


def may_lack_source(made: DraftArguments, key: str, value: Json) -> bool:
    """Return True if a value is written as its description does not want it, or if nobody may have
    said it.
    """
    part = made.tool.properties.get(key)
    if isinstance(value, dict | list):
        return False
    if isinstance(value, str) and formats.convert_to_documented(value, part) is not NONE:
        return True
    if not made.situation.informed:
        return False
    if is_identifier(key, value, part) and not made.is_held(value):
        return True
    return made.situation.settings.leave_out and key not in made.tool.required


def fill_missing(made: DraftArguments) -> None:
    """Required values that the call lacks and somebody said."""
    for key in made.tool.required:
        if key not in made.arguments:
            found = made.find_stated(key)
            if found is not None:
                made.take(key, found)
            else:
                made.change.note_missing(made.draft.id, key)


def trace_values(made: DraftArguments) -> None:
    """Identifiers that nothing said holds, days in another format than documented, values
    nothing supports.
    """
    for key, value in list(made.arguments.items()):
        if key in made.referring or not _respell_as_documented(made, key, value):
            continue
        is_whole = not isinstance(value, dict | list)
        if made.situation.informed and is_whole and key not in made.unknown:
            _trace_value(made, key, value)


def _respell_as_documented(made: DraftArguments, key: str, value: Json) -> bool:
    """Write a value as its description wants it, where its schema refuses it as it is. Return False
    if it is accepted, and only noted.
    """
    rule = formats.FORMAT
    spelled = formats.convert_to_documented(value, made.tool.properties.get(key))
    if spelled is NONE or not made.accepts(key, spelled):
        return True
    if not made.accepts(key, value):
        made.edit(key, spelled, rule, formats.CONFIDENCE[rule])
        return True
    said = (
        f"'{key}' is {to_canonical_json(value)[:80]}, which its description wants written"
        " in another way"
    )
    made.abstain(key, formats.CONFIDENCE[rule], spelled, said)
    return False


def _trace_value(made: DraftArguments, key: str, value: Json) -> None:
    part = made.tool.properties.get(key)
    verdict = classify_value(key, value, part, made.situation.sources)
    if verdict == "held" and is_identifier(key, value, part) and not made.is_held(value):
        verdict = "identifier"
    is_unsourced = verdict in ("identifier", "invented", "derived")
    if made.situation.settings.leave_out and is_unsourced and _may_go(made, key, value):
        made.drop(key, EditRules.DROP_UNSOURCED, UNSOURCED)
    elif verdict == "identifier":
        _replace_identifier(made, key, value)


def _replace_identifier(made: DraftArguments, key: str, value: Json) -> None:
    found = made.find_stated(key)
    said = f"'{key}' is {to_canonical_json(value)[:80]}, an identifier that nothing said so far contains."
    if found is not None and found.kind == "labelled" and type(found.value) is type(value):
        if not made.accepts(key, value):
            made.take(key, found)
            return
        said += f" {to_canonical_json(found.value)[:80]} was said."
    made.report("ungrounded", key, said, "identifier", value)
    if made.needs(key):
        made.change.note_missing(made.draft.id, key)


def _may_go(made: DraftArguments, key: str, value: Json) -> bool:
    """Return True if an optional value can be left out. Nothing in the conversation concerns
    it, and the schema permits its absence.
    """
    if made.needs(key) or key not in made.arguments or _is_alluded(made, key, value):
        return False
    kept = {k: v for k, v in made.arguments.items() if k != key}
    return made.compiled.accepts(kept) or not made.compiled.accepts(made.arguments)


def _is_alluded(made: DraftArguments, key: str, value: Json) -> bool:
    """Return True if the conversation mentions the parameter or has a word of the value. Days
    and times also count, since they are derived. So does a value that differs from the one in
    another call.
    """
    if isinstance(value, str) and _DAY_OR_TIME.search(value):
        return True
    if any(key in other and other[key] != value for other in made.others):
        return True
    about = [*split_words(key)]
    if isinstance(value, str):
        about += [*split_words(value), *filter(str.isalpha, formats.list_synonyms(value))]
    return any(
        len(w) > 3 and w not in GENERIC and made.situation.sources.mentions(w) for w in about
    )
