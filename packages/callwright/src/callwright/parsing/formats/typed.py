"""Parameter values that stand in tags as plain text: given the type that the tool's schema
declares, or left text.
"""

from __future__ import annotations

import json
import re

from callwright.jsontext import JsonError
from callwright.nouns.types import Json, JsonObject
from callwright.parsing.tool_vocabulary import ToolVocabulary

_WORDS = {"true": True, "false": False, "null": None}
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}\.0{3}")  # in half of the world
_TAGS = r"/?[\w:|｜]{0,32}?(?:parameter|function|invoke|tool_call|arg_key|arg_value|escape|\|\"\|)"
_ESCAPED = re.compile(rf"&((?:amp;)*)lt;(?={_TAGS})")
_NAMED_ENTITIES = {"<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_CHARACTERS = {name: char for char, name in _NAMED_ENTITIES.items()}
_KEY_ENTITY = re.compile(r"&((?:amp;)*)(lt|gt|quot|apos|#\d{1,5});")
_UNSAYABLE = re.compile(r"[<>\"'\n\r]|\A\s|\s\Z")
_MARKER = re.compile(rf"<(?={_TAGS})")


def read_typed_value(text: str, schema: Json, offer: ToolVocabulary) -> tuple[Json, str]:
    """(value, problem). The text as JSON where the schema allows no string and the JSON fits; else
    the text itself.

    Lossless: a number is taken only where it is JSON's own spelling of one, an object or array only
    where it parses. As a whole number "1.000" may be a thousand and stays text.
    """
    kinds = _list_types(schema)
    if "null" in kinds and text == "null":
        return None, ""
    if not kinds:
        return _read_untyped_value(text, offer), ""
    if "string" in kinds:
        return text, ""
    body = text.strip()
    problem = ""
    if body in _PYTHON:
        body, problem = _PYTHON[body], "a Python word for JSON's"
    try:
        value = offer.strict(body)
    except JsonError:
        if body[:1] not in ("{", "[") or not kinds & {"object", "array"}:
            return text, "a parameter is not of its declared type"
        return _read_repaired_value(text, body, kinds, offer)
    if _THOUSANDS.fullmatch(body) and "number" not in kinds:
        return text, "a parameter may be a thousand times as much"
    if value is None or _classify_value(value) & kinds:  # null: whether it may stand is no reading
        return value, problem
    return text, "a parameter is not of its declared type"


def _read_untyped_value(text: str, offer: ToolVocabulary) -> Json:
    """The object or array that a text is, where any type may be meant; else the text itself, for
    a number may be meant as text.
    """
    if text[:1] not in ("{", "["):
        return text
    try:
        return offer.strict(text)
    except JsonError:
        return text


def _read_repaired_value(
    text: str, body: str, kinds: set[str], offer: ToolVocabulary
) -> tuple[Json, str]:
    try:
        repaired = offer.read(body)
    except JsonError:
        return text, "a parameter is not of its declared type"
    if repaired.truncated or not _classify_value(repaired.value) & kinds:
        return text, "a parameter is not of its declared type"
    return repaired.value, "; ".join(repaired.problems)


def _list_types(schema: Json) -> set[str]:
    """The JSON types that a schema names; empty where it names none (then anything may be
    meant).
    """
    if not isinstance(schema, dict):
        return set()
    given = schema.get("type")
    if isinstance(given, str):
        return {_normalize_type_name(given)}
    if isinstance(given, list):
        return {_normalize_type_name(k) for k in given if isinstance(k, str)}
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            kinds = [_list_types(s) for s in schema[key]]
            return set().union(*kinds) if all(kinds) else set()
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return set().union(*(_classify_value(v) for v in values)) if isinstance(values, list) else set()


_SPELLINGS = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
}


def _normalize_type_name(name: str) -> str:
    return _SPELLINGS.get(name.lower(), name)


def _classify_value(value: Json) -> set[str]:
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int):
        return {"integer", "number"}
    if isinstance(value, float):
        return {"number", "integer"} if value.is_integer() else {"number"}
    if value is None:
        return {"null"}
    if isinstance(value, str):
        return {"string"}
    return {"array"} if isinstance(value, list) else {"object"}


def format_value(value: Json) -> str:
    """Return the text of a value between tags. Strings stand unquoted and other values as JSON;
    marks that would end the value are escaped.
    """
    return (
        escape_markers(value)
        if isinstance(value, str)
        else escape_markers(json.dumps(value, ensure_ascii=False))
    )


def escape_markers(text: str) -> str:
    """Markers inside a value are written ``&lt;…``; what looks like that already gets one ``amp;``
    more.
    """
    return _MARKER.sub("&lt;", _ESCAPED.sub(r"&amp;\1lt;", text))


def written_key(key: str) -> str:
    """A parameter's name as it stands in a tag: what would end the tag, and spaces at its ends, as
    XML says them.
    """
    key = _KEY_ENTITY.sub(r"&amp;\1\2;", key)
    return _UNSAYABLE.sub(lambda m: f"&{_NAMED_ENTITIES.get(m[0], f'#{ord(m[0])}')};", key)


def read_key(text: str, properties: JsonObject) -> str:
    """The reverse of :func:`written_key`. A name that is declared as it stands is left so."""
    text = text.strip()
    return text if "&" not in text or text in properties else _KEY_ENTITY.sub(_resolve_entity, text)


def _resolve_entity(entity: re.Match[str]) -> str:
    if entity[1]:
        return f"&{entity[1][4:]}{entity[2]};"
    if entity[2] in _CHARACTERS:
        return _CHARACTERS[entity[2]]
    char = chr(int(entity[2][1:]))
    return char if char.isspace() else entity[0]


def unescape_markers(text: str) -> str:
    """The reverse of :func:`escape_markers`. Other entities stay as they are: most values that hold them
    mean them.
    """
    if "lt;" not in text:
        return text
    return _ESCAPED.sub(lambda m: f"&{m[1][4:]}lt;" if m[1] else "<", text)
