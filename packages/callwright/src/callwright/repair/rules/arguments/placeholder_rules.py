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


def is_no_value(made: DraftArguments, key: str, value: Json) -> bool:
    """Return True if a value looks like an echo of its schema, or like a placeholder."""
    part = made.tool.properties.get(key)
    if isinstance(value, dict | list):
        is_echo = schema_echo.is_echo(value, part) or schema_echo.lists_every_option(value, part)
        return is_echo or _holds_placeholder(made, key, value)
    is_text = isinstance(value, str)
    return is_text and (schema_echo.is_echo(value, part) or made.is_placeholder(key, value, part))


def _holds_placeholder(made: DraftArguments, key: str, value: Json) -> bool:
    return isinstance(value, list) and any(
        isinstance(v, str) and made.is_placeholder(key, v, None) for v in value
    )


def replace_echoes(made: DraftArguments) -> None:
    """Schemas, and lists of all options, in place of a value."""
    for key in list(made.arguments):
        part, value = made.tool.properties.get(key), made.arguments[key]
        if schema_echo.lists_every_option(value, part) and not made.accepts(key, value):
            _take_back(made, key, ECHO)
        elif _is_echo(made, key, value):
            inner = schema_echo.extract_echoed_value(value, part)
            if inner is not NONE:
                made.edit(key, inner, ECHO, ECHO_VALUE)
            else:
                _take_back(made, key, ECHO)


def replace_placeholders(made: DraftArguments) -> None:
    """Texts that only stand for a value."""
    for key, value in list(made.arguments.items()):
        part = made.tool.properties.get(key)
        if (
            key in made.referring
            or not isinstance(value, str)
            or not made.is_placeholder(key, value, part)
        ):
            continue
        if not made.accepts(key, value):
            _take_back(made, key, PLACEHOLDER)
        elif _is_own_mark(made, key, value) and (found := _find_stated_for(made, key)):
            made.take(key, found)
        else:
            _doubt(made, key)


def _is_own_mark(made: DraftArguments, key: str, value: str) -> bool:
    """Return True if a value is a mark around its own parameter's name (``<city>``), and
    neither the tool's description nor another argument, such as a template, uses that mark.
    """
    if not schema_echo.is_own_mark(key, value, made.tool.properties.get(key)):
        return False
    others = {k: v for k, v in made.arguments.items() if k != key}
    used = f"{made.tool.description} {to_canonical_json(others)}".lower()
    return value.strip().lower() not in used


def _doubt(made: DraftArguments, key: str) -> None:
    """A value that looks like a placeholder but satisfies its schema stays, unless its mark
    holds the parameter's own name and the value is stated: somebody may mean just that.

    It is reported; a required one in marks (``<id>``) counts as unknown where nothing says what
    is meant.
    """
    value = made.arguments[key]
    if made.needs(key) and schema_echo.is_marked(value) and made.find_stated(key) is None:
        made.report_unknown(key, PLACEHOLDER)
    else:
        said = f"'{key}' is {to_canonical_json(value)[:80]}, which may stand for a value"
        made.abstain(key, 0.0, None, said)


def _is_echo(made: DraftArguments, key: str, value: Json) -> bool:
    """Return True if a parameter's schema stands in place of its value. It must be word for
    word, or the schema must refuse it.
    """
    part = made.tool.properties.get(key)
    if not schema_echo.is_echo(value, part):
        return False
    return schema_echo.repeats_schema(value, part) or not made.accepts(key, value)


def _take_back(made: DraftArguments, key: str, rule: EditRule) -> None:
    """Replace a value that is none with the one stated in the conversation. Otherwise a schema
    echo becomes the parameter's default, if it has one. Any other optional value is left out; a
    required one stays and is reported.
    """
    value, part = made.arguments[key], made.get_part(key)
    held = to_canonical_json(value)[:80]
    found = None if _is_said_null(made, key) else made.find_stated(key)
    if found is not None:
        made.take(key, found)
    elif rule == ECHO and "default" in part and made.accepts(key, part["default"]):
        made.edit(key, part["default"], rule, ECHO_DEFAULT)
        made.abstain(key, 0.0, None, f"'{key}' held {held}; it has its default now")
    elif not made.needs(key) and (not made.writes or _is_said_null(made, key)):
        made.drop(key, rule, NO_VALUE)
        made.abstain(key, 0.0, None, f"'{key}' held {held}; nothing said gives a value")
    else:
        made.report_unknown(key, rule)


def _is_said_null(made: DraftArguments, key: str) -> bool:
    """Return True if an optional argument is null as text: the model left it open on purpose."""
    return schema_echo.is_null_text(made.arguments.get(key)) and not made.needs(key)


def _find_stated_for(made: DraftArguments, key: str) -> extracted.Candidate | None:
    """Return the stated value that an accepted argument may give way to. An optional parameter
    takes only what was said for it, since its call can go without a value.
    """
    found = made.find_stated(key)
    return None if found is not None and found.is_leftover and not made.needs(key) else found
