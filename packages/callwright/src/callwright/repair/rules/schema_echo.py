"""Detects non-values in place of an argument's value: the parameter's own schema, a placeholder,
one wrapper too many.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from callwright.jsontext import JsonError, parse_lenient
from callwright.language import ENGLISH
from callwright.language.tokens import split_identifier, squash_name
from callwright.nouns.types import Json, JsonObject, Tool, to_canonical_json
from callwright.repair.provenance.grounding import classify_value, looks_unfilled
from callwright.repair.provenance.sources import ProvenanceIndex
from callwright.schema.coerce import NULL_WORDS
from callwright.schema.value_spellings import NONE

_KEYWORDS = frozenset(
    "type description title enum default format items properties required example examples const"
    " minimum maximum pattern minLength maxLength minItems maxItems optional nullable anyOf oneOf"
    " additionalProperties name exclusiveMinimum exclusiveMaximum".split()
)
_TYPE_NAMES = frozenset(
    "string str text integer int number float double boolean bool array list object dict any null"
    " date datetime".split()
)
_VALUE_KEYS = ENGLISH.listed("keys.echoed_values")
_BESIDE = frozenset({*_VALUE_KEYS, "default", "example", "title", "required"})
_WRAPPERS = (
    "arguments",
    "parameters",
    "args",
    "params",
    "kwargs",
    "input",
    "inputs",
    "properties",
    "tool_input",
)
_PLACEHOLDER = ENGLISH.pattern("placeholders.marked")
_OWN_MARK = re.compile(
    r"<([^<>\n]+)>|\{([^{}\n]+)\}|\{\{([^{}\n]+)\}\}|\[([^\[\]\n]+)\]|YOUR_([A-Z0-9_]+)"
)
_SAYS_NOTHING = ENGLISH.words("keys.neutral") | ENGLISH.words("keys.generic")
_NO_NUMBER = ENGLISH.words("placeholders.no_number")
_NO_TOOL = ENGLISH.words("calls.no_tool")


def is_no_tool(name: str) -> bool:
    """Return True if a tool name is a model's way of calling nothing."""
    return name.strip().lower().replace(" ", "_") in _NO_TOOL


def is_echo(value: Json, part: Any) -> bool:
    """Return True if a value is a parameter's schema rather than a value of it: ``{"type":
    "string", "description": …}``.
    """
    if isinstance(value, str) and value.lstrip()[:1] == "{" and "type" in value:
        try:
            value = parse_lenient(value).value
        except JsonError:
            return False
    if not isinstance(value, dict) or not value:
        return False
    own = part if isinstance(part, dict) else {}
    if repeats_schema(value, part):
        return True
    declared = own.get("properties")
    if isinstance(declared, dict) and declared.keys() & value.keys():
        return False
    kind = value.get("type")
    kind = (
        kind.split("(")[0].split("[")[0].split(",")[0].strip().lower()
        if isinstance(kind, str)
        else ""
    )
    if kind not in _TYPE_NAMES:
        return False
    described = (
        len(value.keys() & _KEYWORDS) >= 2
        or set(value) == {"type"}
        or bool(value.keys() & set(_VALUE_KEYS))
    )
    return described and all(k in _KEYWORDS or k in _VALUE_KEYS for k in value)


def repeats_schema(value: Json, part: Any) -> bool:
    """Return True if a value repeats a parameter's whole schema, including a description, word for
    word.
    """
    if isinstance(value, str):
        try:
            value = parse_lenient(value).value
        except JsonError:
            return False
    own = part if isinstance(part, dict) else {}
    if not isinstance(value, dict) or not isinstance(own.get("description"), str):
        return False
    return all(value.get(k) == v for k, v in own.items()) and value.keys() - own.keys() <= _BESIDE


def is_marked(value: str) -> bool:
    """Return True if a text has the marks of a placeholder (``<id>``, ``YOUR_API_KEY``), not only
    its words.
    """
    return _PLACEHOLDER.match(value.strip()) is not None


def is_own_mark(key: str, value: Json, part: Any = None) -> bool:
    """Return True if a text is a mark around its own parameter's name, title or description and
    nothing else: ``<city>``, ``{city}``, ``[city]``, ``YOUR_CITY`` for ``city``.

    A name of general words only (``name``, ``id``, ``value``) proves nothing. ``$city`` does not
    either: shells and templates write a variable so.
    """
    if not isinstance(value, str) or len(value) > 200:
        return False
    mark = _OWN_MARK.fullmatch(value.strip())
    if mark is None:
        return False
    own = part if isinstance(part, dict) else {}
    inside = squash_name(mark[mark.lastindex or 0])
    texts = (t for t in (key, own.get("title"), own.get("description")) if isinstance(t, str))
    return any(squash_name(t) == inside and set(split_identifier(t)) - _SAYS_NOTHING for t in texts)


def extract_echoed_value(value: Json, part: Any) -> Json:
    """The value that an echoed schema carries; NONE where it carries none.

    It stands under ``value`` (or the like), or under ``default`` or ``example`` where the schema
    says otherwise.
    """
    if isinstance(value, str):
        value = parse_lenient(value).value
    for key in _VALUE_KEYS:
        if key in value:
            return value[key]
    own = part if isinstance(part, dict) else {}
    for key in ("default", "example"):
        if (
            key in value
            and value[key] not in (None, "")
            and to_canonical_json(value[key]) != to_canonical_json(own.get(key))
        ):
            return value[key]
    return NONE


def lists_every_option(value: Json, part: Any) -> bool:
    """Return True if the list of all options stands in place of one of them."""
    options = part.get("enum") if isinstance(part, dict) else None
    return (
        isinstance(value, list)
        and len(value) > 1
        and isinstance(options, list)
        and value == options
    )


def is_no_number(value: Json, part: Any) -> bool:
    """Return True if a word for "no number" (NaN, "unknown") stands in place of a number."""
    if not isinstance(value, str) or not isinstance(part, dict):
        return False
    kind = part.get("type")
    kinds = set(kind) if isinstance(kind, list) else {kind}
    return bool(kinds) and kinds <= {"integer", "number"} and value.strip().lower() in _NO_NUMBER


def is_null_text(value: Json) -> bool:
    """Return True if a text is a word for null."""
    return isinstance(value, str) and value.strip().lower() in NULL_WORDS


def may_be_placeholder(value: Json, part: Any) -> bool:
    """Return True if a value has the form of a placeholder at all. This check comes first, since it
    does not need the conversation.
    """
    if not isinstance(value, str) or len(value) > 200:
        return False
    text = value.strip()
    if is_no_number(value, part):
        return True
    about = part.get("description") if isinstance(part, dict) else None
    return bool(text) and (
        bool(_PLACEHOLDER.match(text)) or looks_unfilled(text) or text == str(about or "").strip()
    )


def is_placeholder(
    key: str, value: Json, part: Any, sources: ProvenanceIndex, said: str = ""
) -> bool:
    """Return True if a text is a placeholder for an unknown value: ``<id>``, ``{latitude}``,
    ``YOUR_API_KEY``, "string".

    ``said`` is the conversation in lower case, ``sources`` the same, indexed. A text that the
    conversation or the parameter's description contains in these very characters is no placeholder.
    """
    if not may_be_placeholder(value, part):
        return False
    if is_no_number(value, part):
        return True
    text = value.strip()
    own = part if isinstance(part, dict) else {}
    if text in (own.get("default"), own.get("const")) or text in (
        own.get("enum") or own.get("examples") or ()
    ):
        return False
    about = str(own.get("description") or "")
    if _PLACEHOLDER.match(text):
        return text.lower() not in said and text not in about
    return classify_value(key, value, part, sources) == "placeholder" or (
        bool(about) and text == about.strip()
    )


def unwrap_arguments(arguments: JsonObject, tool: Tool) -> JsonObject | None:
    """The arguments inside one wrapper too many (``{"arguments": {…}}``, ``{"<tool>": {…}}``, a
    whole schema with values in place of its parts); None where there is none.
    """
    declared = tool.properties
    if (
        not declared
        and tool.input_schema.get("additionalProperties", True) is not False
        and not arguments
    ):
        return None
    if arguments.keys() & declared.keys():
        return None
    for key in (*_WRAPPERS, tool.name):
        inner = arguments.get(key)
        if isinstance(inner, str) and inner.lstrip()[:1] == "{":
            try:
                read = parse_lenient(inner)
            except JsonError:
                continue
            inner = None if read.truncated else read.value
        if (
            isinstance(inner, dict)
            and _is_plain_wrapper(arguments, key)
            and _has_declared_key(inner, declared)
        ):
            return inner
    return None


def _is_plain_wrapper(arguments: JsonObject, key: str) -> bool:
    """Nothing stands beside the wrapper but words of a schema or of a call."""
    beside = set(arguments) - {key}
    return beside <= {
        "type",
        "required",
        "additionalProperties",
        "name",
        "id",
        "description",
        "$schema",
    }


def _has_declared_key(inner: JsonObject, declared: Collection[str]) -> bool:
    return bool(inner) and any(k in declared for k in inner)
