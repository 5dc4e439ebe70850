"""Schemas as people write them -> JSON Schema 2020-12. Lossless where the meaning is clear, never stricter.

Understood beside the standard: drafts 4 to 2019, OpenAPI 3.0 (``nullable``), type names of Python and plain English,
``required``/``optional`` on the parameter itself, lists of parameters, ``default_value``, ``allowed_values``,
``example_value``, and the empty fillers that class dumps leave behind (``"items": null``, ``"enum": []``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from callwright.errors import CatalogError
from callwright.types import JsonObject
from callwright.wire.typenames import any_of, says_optional, schema_of_type_name, without_marker

MAX_DEPTH = 48

_SCHEMAS_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONE_SCHEMA = (
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "contentSchema",
    "not",
    "if",
    "then",
    "else",
)
_ONLY_OF: dict[str, tuple[str, ...]] = {
    "object": ("properties", "required", "patternProperties", "additionalProperties"),
    "array": ("items", "prefixItems"),
}
_RENAMED = {"default_value": "default", "desc": "description"}
_ENUMS = ("allowed_values", "choices", "possible_values", "enum_values")
_EXAMPLES = ("example", "example_value", "example_values")
_NAME_KEYS = ("name", "parameter_name", "param_name", "field")


_KEYWORDS = frozenset(
    {*_SCHEMAS_BY_NAME, *_SCHEMA_LISTS, *_ONE_SCHEMA, *_RENAMED, *_ENUMS, *_EXAMPLES}
    | {"type", "items", "required", "description", "enum", "const", "default", "format", "$ref", "title", "examples"}
)


def object_schema(raw: Any, required: Any = None) -> JsonObject:
    """The schema of an object: a full schema, a map of parameters, or a list of named parameters.

    ``required`` are names given beside the map. Raises CatalogError on what cannot describe an object.
    """
    schema = _as_object(raw)
    names = [*_names(required), *_names(schema.get("required"))]
    if names:
        schema["required"] = list(dict.fromkeys(names))
    return schema


def any_schema(raw: Any) -> JsonObject | None:
    """The schema of any value (a tool's output); None where nothing is said. A map of fields becomes an object."""
    if raw is None or raw == "" or raw == {} or raw == []:
        return None
    if isinstance(raw, bool):
        return {} if raw else {"not": {}}
    if isinstance(raw, str):
        found = schema_of_type_name(raw)
        return {"description": raw} if "x-type" in found else found
    if isinstance(raw, Mapping) and (_is_schema(raw) or isinstance(raw.get("type"), str | list)):
        return _schema(raw, 0)
    return object_schema(raw)


def _as_object(raw: Any) -> JsonObject:
    if raw is None or raw in ("", [], {}):
        return {"type": "object", "properties": {}}
    if isinstance(raw, list):
        return _object_of(_named(raw))
    if not isinstance(raw, Mapping):
        raise CatalogError(
            f"a schema is an object, not {type(raw).__name__}: {str(raw)[:60]!r}",
            hint='give {"type": "object", "properties": {…}}; JSON inside a string has to be parsed first',
        )
    if not _is_schema(raw):
        return _object_of(raw)
    schema = _schema(raw, 0)
    if schema.get("type", "object") != "object" and "object" not in schema["type"]:
        raise CatalogError(f"parameters must describe an object, not {schema['type']!r}")
    schema["type"] = "object"
    if not any(key in schema for key in ("properties", "$ref", *_SCHEMA_LISTS)):
        schema["properties"] = {}
    return schema


def _is_schema(raw: Mapping[str, Any]) -> bool:
    """Whether this is a schema rather than a map from parameter names to schemas."""
    kind = raw.get("type")
    if isinstance(kind, str) and schema_of_type_name(kind).get("type") == "object":
        return True
    if isinstance(kind, list) and all(isinstance(k, str) for k in kind):
        return True
    inner = raw.get("properties")
    if isinstance(inner, Mapping | list):
        return not isinstance(inner, Mapping) or all(isinstance(v, Mapping | bool | str) for v in inner.values())
    return any(isinstance(raw.get(key), list) for key in _SCHEMA_LISTS) or isinstance(raw.get("$ref"), str)


def _named(items: list[Any]) -> JsonObject:
    """``[{"name": "a", …}]`` -> ``{"a": {…}}``."""
    found: JsonObject = {}
    for item in items:
        key = next((k for k in _NAME_KEYS if isinstance(item, Mapping) and isinstance(item.get(k), str)), None)
        if key is not None:
            found[item[key]] = {k: v for k, v in item.items() if k != key}
        elif isinstance(item, str) and item:
            found[item] = {}
        elif item not in ("", None, {}):
            raise CatalogError(f"a list of parameters holds something without a name: {str(item)[:80]}")
    return found


def _object_of(parameters: Mapping[str, Any]) -> JsonObject:
    schema: JsonObject = {"type": "object"}
    schema["properties"], needed = _properties(parameters, 0)
    return {**schema, "required": needed} if needed else schema


def _properties(raw: Mapping[str, Any], depth: int) -> tuple[JsonObject, list[str]]:
    """Normalised property schemas, and the names that say of themselves that they are required."""
    made = {str(name): _schema(value, depth + 1) for name, value in raw.items()}
    said = {str(name): _says_required(value) for name, value in raw.items()}
    if any(v is False and _type_says_optional(raw[n]) for n, v in said.items()) and True not in said.values():
        # the convention of marking only the optional ones ("str, optional"): the unmarked are required
        return made, [n for n, v in said.items() if v is None and "default" not in made[n]]
    return made, [n for n, v in said.items() if v]


def _says_required(raw: Any) -> bool | None:
    """What a parameter says of itself: required, optional, or nothing."""
    if not isinstance(raw, Mapping):
        return None
    required, optional = _truth(raw.get("required")), _truth(raw.get("optional"))
    if required is None and optional is None:
        return False if _type_says_optional(raw) else None
    return required if required is not None else not optional


def _type_says_optional(raw: Any) -> bool:
    kind = raw.get("type") if isinstance(raw, Mapping) else raw
    return isinstance(kind, str) and says_optional(kind)


def _truth(value: Any) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _names(value: Any) -> list[str]:
    values = value if isinstance(value, list | tuple) else [value]
    names = [v for v in values if isinstance(v, str) and v]
    return [] if _truth(value) is not None else list(dict.fromkeys(names))


def _schema(raw: Any, depth: int) -> JsonObject:
    if depth > MAX_DEPTH:
        raise CatalogError(f"a schema is nested more than {MAX_DEPTH} levels deep")
    if raw is None or raw is True:
        return {}
    if raw is False:
        return {"not": {}}
    if isinstance(raw, str):
        return any_schema(without_marker(raw)) or {}
    if isinstance(raw, list):
        return any_of([_schema(part, depth + 1) for part in raw])
    if not isinstance(raw, Mapping):
        return {"x-type": raw}
    if _is_nested_map(raw):
        raw = {"type": "object", "properties": raw}
    schema = {
        _RENAMED.get(k, k) if _RENAMED.get(k) not in raw else k: v for k, v in raw.items() if isinstance(k, str)
    }
    for step in _STEPS:
        step(schema, depth)
    return schema


def _is_nested_map(raw: Mapping[str, Any]) -> bool:
    """``{"street": {"type": "str"}, "city": {"type": "str"}}`` where an object's schema belongs."""
    inner = raw.values()
    return (
        bool(raw)
        and not any(k in _KEYWORDS for k in raw)
        and all(isinstance(v, Mapping) and "type" in v for v in inner)
    )


def _type(schema: JsonObject, depth: int) -> None:
    kind = schema.pop("type", None)
    if isinstance(kind, str):
        _merge(schema, schema_of_type_name(without_marker(kind)))
    elif isinstance(kind, list):
        _merge(schema, any_of([_schema(part, depth + 1) for part in kind]))
    elif isinstance(kind, Mapping):
        _merge(schema, _schema(kind, depth + 1))
    if "type" not in schema and not any(key in schema for key in (*_SCHEMA_LISTS, "$ref", "enum", "const")):
        for implied, keys in _ONLY_OF.items():
            if isinstance(schema.get(keys[0]), Mapping | list) and schema[keys[0]]:
                schema["type"] = implied
    schema.update({"type": schema.pop("type")} if "type" in schema else {})


def _merge(schema: JsonObject, more: JsonObject) -> None:
    for key, value in more.items():
        schema.setdefault(key, value)


def _fillers(schema: JsonObject, _depth: int) -> None:
    """Drop what says nothing: nulls where no null may stand, empty enums, keywords of another type left empty."""
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds or []
    for kind, keys in _ONLY_OF.items():
        for key in keys:
            if key in schema and (schema[key] is None or (kind not in kinds and schema[key] in ([], {}, ""))):
                del schema[key]
    for key in [k for k, v in schema.items() if v is None and k not in ("const", "default")]:
        del schema[key]
    if schema.get("default", 0) is None and kinds and "null" not in kinds:
        del schema["default"]
    for key in ("title", "format", "pattern", "$schema"):
        if key == "$schema" or not isinstance(schema.get(key, " "), str) or not schema.get(key, " "):
            schema.pop(key, None)


def _annotations(schema: JsonObject, _depth: int) -> None:
    if not isinstance(schema.get("description", ""), str):
        schema["description"] = str(schema["description"])
    for key in _EXAMPLES:
        if key in schema:
            value = schema.pop(key)
            if value not in ("", None):
                schema.setdefault("examples", value if isinstance(value, list) else [value])
    if "examples" in schema and not isinstance(schema["examples"], list):
        schema["examples"] = [schema["examples"]]


def _enum(schema: JsonObject, _depth: int) -> None:
    for key in _ENUMS:
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
    schema["enum"] = _fitting(values, schema)


def _fitting(values: list[Any], schema: JsonObject) -> list[Any]:
    """Enum values in the declared type where every one can be read in it (``"5"`` -> 5); else the type is dropped."""
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


def _integer(value: Any) -> int | None:
    try:
        return int(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _number(value: Any) -> float | None:
    whole = _integer(value)
    try:
        return whole if whole is not None else float(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _string(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None


_READERS: dict[str, Callable[[Any], Any]] = {
    "integer": _integer,
    "number": _number,
    "boolean": _truth,
    "string": _string,
}


def _required(schema: JsonObject, _depth: int) -> None:
    """A flag belongs to the parent, which has read it already; a list loses what is no name."""
    for key in ("required", "optional"):
        if key in schema and (key == "optional" or not _names(schema[key])):
            if key == "required" or _truth(schema[key]) is not None or isinstance(schema[key], list):
                del schema[key]
        elif key in schema:
            schema[key] = _names(schema[key])


def _older_drafts(schema: JsonObject, _depth: int) -> None:
    for key, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(key), bool) and schema.pop(key) and plain in schema:
            schema[key] = schema.pop(plain)
    if _truth(schema.pop("nullable", None)) and "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        schema["type"] = [*kinds, "null"] if "null" not in kinds else kinds
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
    for name, needs in _mapping(schema.pop("dependencies", None)).items():
        listed = isinstance(needs, list)
        schema.setdefault("dependentRequired" if listed else "dependentSchemas", {})[name] = needs
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if "additionalItems" in schema:
            schema["items"] = schema.pop("additionalItems")
    schema.pop("additionalItems", None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _children(schema: JsonObject, depth: int) -> None:
    if isinstance(schema.get("properties"), list):
        schema["properties"] = _named(schema["properties"])
    for key in _SCHEMAS_BY_NAME:
        if key in schema and isinstance(schema[key], Mapping):
            schema[key], needed = _properties(schema[key], depth)
            if key == "properties" and needed:
                schema["required"] = list(dict.fromkeys([*schema.get("required", []), *needed]))
        elif key in schema:
            del schema[key]
    for key in _SCHEMA_LISTS:
        if isinstance(schema.get(key), list) and schema[key]:
            schema[key] = [_schema(part, depth + 1) for part in schema[key]]
        else:
            schema.pop(key, None)
    for key in ("items", *_ONE_SCHEMA):
        if key in schema and not isinstance(schema[key], bool):
            schema[key] = _schema(schema[key], depth + 1)


_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")


def _bounds(schema: JsonObject, _depth: int) -> None:
    """Bounds that are text become numbers; what is no number at all is dropped."""
    for key in (*_NUMBERS, *_COUNTS):
        if key in schema:
            value = _bound(schema.pop(key), whole=key in _COUNTS)
            if value is not None and (key != "multipleOf" or value > 0):
                schema[key] = value


def _bound(value: Any, *, whole: bool) -> float | None:
    number = _number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not isfinite(number):
        return None
    return number if not whole else int(number) if number >= 0 and number == int(number) else None


_STEPS: tuple[Callable[[JsonObject, int], None], ...] = (
    _type,
    _required,
    _older_drafts,
    _fillers,
    _annotations,
    _enum,
    _bounds,
    _children,
)
