"""One keyword at a time: older drafts, spellings of data sets and empty fillers -> JSON Schema
2020-12.

Every step changes one schema object in place and looks at no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from callwright.language import ENGLISH
from callwright.nouns.types import JsonObject

ONLY_OF: dict[str, tuple[str, ...]] = {
    "object": ("properties", "required", "patternProperties", "additionalProperties"),
    "array": ("items", "prefixItems"),
}
_FLAGS: Mapping[str, bool] = ENGLISH.table("type_names.flags")
ENUMS = ("allowed_values", "choices", "possible_values", "enum_values")
EXAMPLES = ("example", "example_value", "example_values")
_UNBINDING = frozenset(  # keywords that bind no value
    {"title", "description", "default", "examples", *EXAMPLES, "$defs", "definitions"}
    | {"deprecated", "readOnly", "writeOnly"}
)


_KINDS: dict[str, type] = {
    **dict.fromkeys(
        ("title", "format", "pattern", "contentEncoding", "contentMediaType", "$comment"), str
    ),
    **dict.fromkeys(("$ref", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor"), str),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), bool),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "$vocabulary"), dict),
}


def parse_flag(value: Any) -> bool | None:
    """A flag, as a boolean or spelled; None for anything else."""
    if isinstance(value, str):
        return _FLAGS.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def names_of(value: Any) -> list[str]:
    """The names in a ``required`` list, empty and repeated ones left out; none where it is a
    flag.
    """
    values = value if isinstance(value, list | tuple) else [value]
    names = [v for v in values if isinstance(v, str) and v]
    return [] if parse_flag(value) is not None else list(dict.fromkeys(names))


def _drop_fillers(schema: JsonObject) -> None:
    """Drop what says nothing: nulls where no null may stand, empty enums, keywords of another type
    left empty.
    """
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    for kind, keys in ONLY_OF.items():
        for key in keys:
            if key in schema and (
                schema[key] is None or (kind not in kinds and schema[key] in ([], {}, ""))
            ):
                del schema[key]
    for key in [k for k, v in schema.items() if v is None and k not in ("const", "default")]:
        del schema[key]
    if schema.get("default", 0) is None and kinds and "null" not in kinds:
        del schema["default"]
    schema.pop("$schema", None)
    for key, wanted in _KINDS.items():
        if key in schema and (not isinstance(schema[key], wanted) or schema[key] == ""):
            del schema[key]


def _normalize_annotations(schema: JsonObject) -> None:
    if not isinstance(schema.get("description", ""), str):
        schema["description"] = str(schema["description"])
    for key in EXAMPLES:
        if key in schema:
            value = schema.pop(key)
            if value not in ("", None):
                schema.setdefault("examples", value if isinstance(value, list) else [value])
    if "examples" in schema and not isinstance(schema["examples"], list):
        schema["examples"] = [schema["examples"]]


def _normalize_default(schema: JsonObject) -> None:
    """A default in the declared type where it can be read so; an empty text is no number and no
    flag.
    """
    kind = schema.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None or "default" not in schema or _is_of(schema["default"], str(kind)):
        return
    read = reader(schema["default"])
    if read is not None:
        schema["default"] = read
    elif schema["default"] == "":
        del schema["default"]


def _normalize_enum(schema: JsonObject) -> None:
    for key in ENUMS:
        if isinstance(schema.get(key), list):
            schema.setdefault("enum", schema.pop(key))
    values = schema.get("enum")
    if isinstance(values, Mapping):
        values = list(values)
    if isinstance(values, str):
        values = [part.strip() for part in values.split(",")]
    if not isinstance(values, list) or not values:
        schema.pop("enum", None)
        return
    schema["enum"] = _convert_enum_values(values, schema)


def _convert_enum_values(values: list[Any], schema: JsonObject) -> list[Any]:
    """Enum values in the declared type where every one can be read in it (``"5"`` -> 5); else the
    type is dropped.
    """
    kind = schema.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None or all(_is_of(v, str(kind)) for v in values):
        return values
    read = [v if _is_of(v, str(kind)) else reader(v) for v in values]
    if any(v is None for v in read):
        del schema["type"]
        return values
    return read


def _is_of(value: Any, kind: str) -> bool:
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    return isinstance(value, {"string": (str,), "integer": (int,), "number": (int, float)}[kind])


def _parse_integer(value: Any) -> int | None:
    try:
        return int(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _parse_number(value: Any) -> float | None:
    number: float | None = _parse_integer(value)
    try:
        if number is None and isinstance(value, str):
            number = float(value)
    except ValueError:
        return None
    return number if number is not None and isfinite(number) else None


def _to_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None


_READERS: dict[str, Callable[[Any], Any]] = {
    "integer": _parse_integer,
    "number": _parse_number,
    "boolean": parse_flag,
    "string": _to_text,
}


def _normalize_required(schema: JsonObject) -> None:
    """A flag belongs to the parent, which has read it already; a list loses what is no name."""
    for key in ("required", "optional"):
        if key in schema and (key == "optional" or not names_of(schema[key])):
            if (
                key == "required"
                or parse_flag(schema[key]) is not None
                or isinstance(schema[key], list)
            ):
                del schema[key]
        elif key in schema:
            schema[key] = names_of(schema[key])


def _older_drafts(schema: JsonObject) -> None:
    for key, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(key), bool) and schema.pop(key) and plain in schema:
            schema[key] = schema.pop(plain)
    if parse_flag(schema.pop("nullable", None)):
        allow_null(schema)
    for name, needs in _as_mapping(schema.pop("dependencies", None)).items():
        if isinstance(needs, list):
            schema.setdefault("dependentRequired", {})[name] = names_of(needs)
        else:
            schema.setdefault("dependentSchemas", {})[name] = needs
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    schema.pop("additionalItems", None)


def allow_null(schema: JsonObject) -> None:
    """Change a schema so that it takes null too, as ``nullable: true`` says.

    OpenAPI's proposal 2019-10-31, "Clarify Semantics of nullable in OpenAPI 3.0", lets the keyword
    act on a ``type`` in the same schema only, and forbids null where an ``allOf`` does. But
    generators (drf-spectacular, NSwag, Swashbuckle) write it beside ``allOf``, ``oneOf`` or
    ``$ref`` for "or null", and no document has another reason to. An API that takes no null there
    answers so itself.
    """
    if any(schema.get(key) for key in ("allOf", "anyOf", "oneOf", "$ref")):
        bound = {key: schema.pop(key) for key in list(schema) if key not in _UNBINDING}
        schema["anyOf"] = [bound, {"type": "null"}]
        return
    kinds, values = schema.get("type", "null"), schema.get("enum")
    listed = kinds if isinstance(kinds, list) else [kinds]
    if "null" not in listed:
        schema["type"] = [*listed, "null"]
    if isinstance(values, list) and values and None not in values:
        schema["enum"] = [*values, None]


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
)


def _normalize_bounds(schema: JsonObject) -> None:
    """Bounds that are text become numbers; what is no number at all is dropped."""
    for key in (*_NUMBERS, *_COUNTS):
        if key in schema:
            value = _parse_bound(schema.pop(key), whole=key in _COUNTS)
            if value is not None and (key != "multipleOf" or value > 0):
                schema[key] = value


def _parse_bound(value: Any, *, whole: bool) -> float | None:
    number = _parse_number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
        return None
    if not whole:
        return number
    if number >= 0 and number == int(number):
        return int(number)
    return None


KEYWORD_STEPS: tuple[Callable[[JsonObject], None], ...] = (
    _normalize_required,
    _older_drafts,
    _drop_fillers,
    _normalize_annotations,
    _normalize_default,
    _normalize_enum,
    _normalize_bounds,
)
