"""Values that are none: a parameter's own schema, or what only stands for a value."""

from __future__ import annotations

from callwright.nouns.thresholds import threshold
from callwright.nouns.types import Json, to_canonical_json
from callwright.nouns.wire_names import EditRule, EditRules
from callwright.repair.rules import extracted, schema_echo
from callwright.repair.rules.arguments.draft_arguments import DraftArguments
from callwright.schema.value_spellings import NONE

ECHO, PLACEHOLDER = EditRules.SCHEMA_ECHO, EditRules.PLACEHOLDER
ECHO_VALUE = threshold("callwright.repair", "arguments.echo_value")
ECHO_DEFAULT = threshold("callwright.repair", "arguments.echo_default")
NO_VALUE = threshold("callwright.repair", "arguments.echo_or_placeholder_left_out")


def is_no_value(draft: DraftArguments, key: str, value: Json) -> bool:
    """Return True if a value looks like an echo of its schema, or like a placeholder."""
    part = draft.tool.properties.get(key)
    if isinstance(value, dict | list):
        is_echo = schema_echo.is_echo(value, part) or schema_echo.lists_every_option(value, part)
        return is_echo or _holds_placeholder(draft, key, value)
    is_text = isinstance(value, str)
    return is_text and (schema_echo.is_echo(value, part) or draft.is_placeholder(key, value, part))


def _holds_placeholder(draft: DraftArguments, key: str, value: Json) -> bool:
    return isinstance(value, list) and any(
        isinstance(v, str) and draft.is_placeholder(key, v, None) for v in value
    )


def replace_echoes(draft: DraftArguments) -> None:
    """Schemas, and lists of all options, in place of a value."""
    for key in list(draft.arguments):
        part, value = draft.tool.properties.get(key), draft.arguments[key]
        if schema_echo.lists_every_option(value, part) and not draft.accepts(key, value):
            _take_back(draft, key, ECHO)
        elif _is_echo(draft, key, value):
            inner = schema_echo.extract_echoed_value(value, part)
            if inner is not NONE:
                draft.edit(key, inner, ECHO, ECHO_VALUE)
            else:
                _take_back(draft, key, ECHO)


def replace_placeholders(draft: DraftArguments) -> None:
    """Texts that only stand for a value."""
    for key, value in list(draft.arguments.items()):
        part = draft.tool.properties.get(key)
        if (
            key in draft.referring
            or not isinstance(value, str)
            or not draft.is_placeholder(key, value, part)
        ):
            continue
        if not draft.accepts(key, value):
            _take_back(draft, key, PLACEHOLDER)
        elif _is_own_mark(draft, key, value) and (found := _find_extracted_for(draft, key)):
            draft.take(key, found)
        else:
            _doubt(draft, key)


def _is_own_mark(draft: DraftArguments, key: str, value: str) -> bool:
    """Return True if a value is a mark around its own parameter's name (``<city>``), and
    neither the tool's description nor another argument, such as a template, uses that mark.
    """
    if not schema_echo.is_own_mark(key, value, draft.tool.properties.get(key)):
        return False
    others = {k: v for k, v in draft.arguments.items() if k != key}
    used = f"{draft.tool.description} {to_canonical_json(others)}".lower()
    return value.strip().lower() not in used


def _doubt(draft: DraftArguments, key: str) -> None:
    """A value that looks like a placeholder but satisfies its schema stays, unless its mark
    holds the parameter's own name and the value is stated: somebody may mean just that.

    It is reported; a required one in marks (``<id>``) counts as unknown where nothing says what
    is meant.
    """
    value = draft.arguments[key]
    if draft.needs(key) and schema_echo.is_marked(value) and draft.find_extracted(key) is None:
        draft.report_unknown(key, PLACEHOLDER)
    else:
        said = f"'{key}' is {to_canonical_json(value)[:80]}, which may stand for a value"
        draft.abstain(key, 0.0, None, said)


def _is_echo(draft: DraftArguments, key: str, value: Json) -> bool:
    """Return True if a parameter's schema stands in place of its value. It must be word for
    word, or the schema must refuse it.
    """
    part = draft.tool.properties.get(key)
    if not schema_echo.is_echo(value, part):
        return False
    return schema_echo.repeats_schema(value, part) or not draft.accepts(key, value)


def _take_back(draft: DraftArguments, key: str, rule: EditRule) -> None:
    """Replace a value that is none with the one stated in the conversation. Otherwise a schema
    echo becomes the parameter's default, if it has one. Any other optional value is left out; a
    required one stays and is reported.
    """
    value, part = draft.arguments[key], draft.get_part(key)
    held = to_canonical_json(value)[:80]
    found = None if _is_said_null(draft, key) else draft.find_extracted(key)
    if found is not None:
        draft.take(key, found)
    elif rule == ECHO and "default" in part and draft.accepts(key, part["default"]):
        draft.edit(key, part["default"], rule, ECHO_DEFAULT)
        draft.abstain(key, 0.0, None, f"'{key}' held {held}; it has its default now")
    elif not draft.needs(key) and (not draft.writes or _is_said_null(draft, key)):
        draft.drop(key, rule, NO_VALUE)
        draft.abstain(key, 0.0, None, f"'{key}' held {held}; nothing said gives a value")
    else:
        draft.report_unknown(key, rule)


def _is_said_null(draft: DraftArguments, key: str) -> bool:
    """Return True if an optional argument is null as text: the model left it open on purpose."""
    return schema_echo.is_null_text(draft.arguments.get(key)) and not draft.needs(key)


def _find_extracted_for(draft: DraftArguments, key: str) -> extracted.Candidate | None:
    """Return the stated value that an accepted argument may give way to. An optional parameter
    takes only what was said for it, since its call can go without a value.
    """
    found = draft.find_extracted(key)
    return None if found is not None and found.is_leftover and not draft.needs(key) else found
