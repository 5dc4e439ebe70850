"""Schemas as people write them -> JSON Schema 2020-12. Lossless where the meaning is clear, never
stricter.

Understood beside the standard: drafts 4 to 2019, OpenAPI 3.0 (``nullable``), type names of Python
and plain English, ``required``/``optional`` on the parameter itself, lists of parameters,
``default_value``, ``allowed_values``, ``example_value``, and the empty fillers that class dumps
leave behind (``"items": null``, ``"enum": []``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from callwright.nouns.errors import CatalogError
from callwright.nouns.types import JsonObject, Tool
from callwright.schema.keywords import ENUMS, EXAMPLES, KEYWORD_STEPS, ONLY_OF, names_of, parse_flag
from callwright.schema.type_names import (
    any_of,
    says_optional,
    schema_of_type_name,
    without_marker,
)

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
_RENAMED = {"default_value": "default", "desc": "description"}
_NAME_KEYS = ("name", "parameter_name", "param_name", "field")


_KEYWORDS = frozenset(
    {*_SCHEMAS_BY_NAME, *_SCHEMA_LISTS, *_ONE_SCHEMA, *_RENAMED, *ENUMS, *EXAMPLES}
    | {
        "type",
        "items",
        "required",
        "description",
        "enum",
        "const",
        "default",
        "format",
        "$ref",
        "title",
        "examples",
    }
)


def object_schema(raw: Any, required: Any = None) -> JsonObject:
    """The schema of an object: a full schema, a map of parameters, or a list of named parameters.

    ``required`` are names given beside the map. Raises CatalogError on what cannot describe an
    object.
    """
    schema = _as_object(raw)
    names = [*names_of(required), *names_of(schema.get("required"))]
    if names:
        schema["required"] = list(dict.fromkeys(names))
    return schema


def require_object_schema(tool: Tool) -> Tool:
    """The tool, with an object for an input schema that is absent or True, which takes anything.
    Raises CatalogError for one that is no schema, or takes nothing.
    """
    schema: Any = tool.input_schema
    if isinstance(schema, Mapping):
        return tool
    if schema is None or schema is True:
        return replace(tool, input_schema=object_schema(schema))
    raise CatalogError(
        f"tool {tool.name!r}: its input schema is {str(schema)[:60]!r}, and must be an object",
        hint='give {"type": "object", "properties": {…}}',
    )


def closed_object(**properties: Any) -> JsonObject:
    """The schema of an object with exactly these properties, in this order."""
    required = list(properties)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def required_first(tool: Tool) -> JsonObject:
    """A tool's input schema for decoding, required properties first: a small model fills best what
    comes first.
    """
    schema = dict(tool.input_schema)
    required = [k for k in tool.required if k in tool.properties]
    order = required + [k for k in tool.properties if k not in required]
    schema["properties"] = {k: tool.properties[k] for k in order}
    schema.setdefault("type", "object")
    if order:
        schema.setdefault("additionalProperties", False)
    return schema


def any_schema(raw: Any) -> JsonObject | None:
    """The schema of any value (a tool's output); None where nothing is said. A map of fields
    becomes an object.
    """
    if raw is None or raw == "" or raw == {} or raw == []:
        return None
    if isinstance(raw, bool):
        return {} if raw else {"not": {}}
    if isinstance(raw, str):
        found = schema_of_type_name(raw)
        return {"description": raw} if "x-type" in found else found
    if isinstance(raw, Mapping) and (_is_schema(raw) or isinstance(raw.get("type"), str | list)):
        return _normalize_schema(raw, 0)
    return object_schema(raw)


def _as_object(raw: Any) -> JsonObject:
    if raw is None or raw is True or raw in ("", [], {}):
        return {"type": "object", "properties": {}}
    if isinstance(raw, list):
        return _object_of(_index_by_name(raw))
    if not isinstance(raw, Mapping):
        raise CatalogError(
            f"a schema is an object, not {type(raw).__name__}: {str(raw)[:60]!r}",
            hint=(
                'give {"type": "object", "properties": {…}}; JSON inside a string has to be parsed'
                " first"
            ),
        )
    if not _is_schema(raw):
        return _object_of(raw)
    schema = _normalize_schema({k: v for k, v in raw.items() if k != "nullable"}, 0)
    if schema.get("type", "object") != "object" and "object" not in schema["type"]:
        raise CatalogError(f"parameters must describe an object, not {schema['type']!r}")
    schema["type"] = "object"
    if isinstance(schema.get("title"), str) and schema["title"].isidentifier():
        del schema["title"]  # the name of a generated class: a tool has its own name
    if not any(key in schema for key in ("properties", "$ref", *_SCHEMA_LISTS)):
        schema["properties"] = {}
    return schema


def _is_schema(raw: Mapping[str, Any]) -> bool:
    """Return True if this is a schema rather than a map from parameter names to schemas."""
    kind = raw.get("type")
    if isinstance(kind, str) and schema_of_type_name(kind).get("type") == "object":
        return True
    if isinstance(kind, list) and all(isinstance(k, str) for k in kind):
        return True
    inner = raw.get("properties")
    if isinstance(inner, Mapping) and not isinstance(
        kind, Mapping
    ):  # a parameter may be called "properties"
        return not isinstance(inner.get("type"), str) and all(
            isinstance(v, Mapping | bool | str) for v in inner.values()
        )
    if isinstance(inner, list):
        return True
    return any(isinstance(raw.get(key), list) for key in _SCHEMA_LISTS) or isinstance(
        raw.get("$ref"), str
    )


def _index_by_name(items: list[Any]) -> JsonObject:
    """``[{"name": "a", …}]`` -> ``{"a": {…}}``."""
    found: JsonObject = {}
    for item in items:
        key = next(
            (k for k in _NAME_KEYS if isinstance(item, Mapping) and isinstance(item.get(k), str)),
            None,
        )
        if key is not None:
            found[item[key]] = {k: v for k, v in item.items() if k != key}
        elif isinstance(item, str) and item:
            found[item] = {}
        elif item not in ("", None, {}):
            raise CatalogError(
                f"a list of parameters holds something without a name: {str(item)[:80]}"
            )
    return found


def _object_of(parameters: Mapping[str, Any]) -> JsonObject:
    schema: JsonObject = {"type": "object"}
    schema["properties"], needed = _normalize_properties(parameters, 0)
    return {**schema, "required": needed} if needed else schema


def _normalize_properties(raw: Mapping[str, Any], depth: int) -> tuple[JsonObject, list[str]]:
    """Normalised property schemas, and the names that say of themselves that they are required."""
    made = {
        str(name): _drop_title(str(name), _normalize_schema(value, depth + 1))
        for name, value in raw.items()
    }
    said = {str(name): _says_required(value) for name, value in raw.items()}
    if (
        any(v is False and _type_says_optional(raw[n]) for n, v in said.items())
        and True not in said.values()
    ):
        # the convention of marking only the optional ones ("str, optional"): the unmarked are
        # required
        return made, [n for n, v in said.items() if v is None and "default" not in made[n]]
    return made, [n for n, v in said.items() if v]


def _drop_title(name: str, schema: JsonObject) -> JsonObject:
    """A title that only spells the name again (class dumps write them) costs tokens and says
    nothing.
    """
    title = schema.get("title")
    if isinstance(title, str) and title.replace(" ", "").lower() == name.replace("_", "").lower():
        del schema["title"]
    return schema


def _says_required(raw: Any) -> bool | None:
    """Return True or False as a parameter declares itself required or optional, or None if it does
    not say.
    """
    if not isinstance(raw, Mapping):
        return None
    required, optional = parse_flag(raw.get("required")), parse_flag(raw.get("optional"))
    if required is None and optional is None:
        return False if _type_says_optional(raw) else None
    return required if required is not None else not optional


def _type_says_optional(raw: Any) -> bool:
    kind = raw.get("type") if isinstance(raw, Mapping) else raw
    return isinstance(kind, str) and says_optional(kind)


def _normalize_schema(raw: Any, depth: int) -> JsonObject:
    if depth > MAX_DEPTH:
        raise CatalogError(f"a schema is nested more than {MAX_DEPTH} levels deep")
    if raw is None or raw is True:
        return {}
    if raw is False:
        return {"not": {}}
    if isinstance(raw, str):
        return any_schema(without_marker(raw)) or {}
    if isinstance(raw, list):
        return any_of([_normalize_schema(part, depth + 1) for part in raw])
    if not isinstance(raw, Mapping):
        return {"x-type": raw}
    if _is_nested_map(raw):
        raw = {"type": "object", "properties": raw}
    schema = {
        _RENAMED.get(k, k) if _RENAMED.get(k) not in raw else k: v
        for k, v in raw.items()
        if isinstance(k, str)
    }
    _normalize_type(schema, depth)
    for step in KEYWORD_STEPS:
        step(schema)
    _normalize_children(schema, depth)
    return schema


def _is_nested_map(raw: Mapping[str, Any]) -> bool:
    """``{"street": {"type": "str"}, "city": {"type": "str"}}`` where an object's schema belongs."""
    inner = raw.values()
    return (
        bool(raw)
        and not any(k in _KEYWORDS or str(k).startswith(("$", "x-")) for k in raw)
        and all(isinstance(v, Mapping) and "type" in v for v in inner)
    )


def _set_missing_keys(schema: JsonObject, more: JsonObject) -> None:
    for key, value in more.items():
        schema.setdefault(key, value)


def _normalize_type(schema: JsonObject, depth: int) -> None:
    kind = schema.pop("type", None)
    if isinstance(kind, str):
        _set_missing_keys(schema, schema_of_type_name(without_marker(kind)))
    elif isinstance(kind, list):
        _set_missing_keys(schema, any_of([_normalize_schema(part, depth + 1) for part in kind]))
    elif isinstance(kind, Mapping):
        _set_missing_keys(schema, _normalize_schema(kind, depth + 1))
    if "type" not in schema and not any(
        key in schema for key in (*_SCHEMA_LISTS, "$ref", "enum", "const")
    ):
        for implied, keys in ONLY_OF.items():
            if isinstance(schema.get(keys[0]), Mapping | list) and schema[keys[0]]:
                schema["type"] = implied
    if "type" in schema:  # first, where readers look for it
        rest = {key: value for key, value in schema.items() if key != "type"}
        kind = schema["type"]
        schema.clear()
        schema |= {"type": kind, **rest}


def _normalize_children(schema: JsonObject, depth: int) -> None:
    if isinstance(schema.get("properties"), list):
        schema["properties"] = _index_by_name(schema["properties"])
    for key in _SCHEMAS_BY_NAME:
        if key in schema and isinstance(schema[key], Mapping):
            schema[key], needed = _normalize_properties(schema[key], depth)
            if key == "properties" and needed:
                schema["required"] = list(dict.fromkeys([*schema.get("required", []), *needed]))
        elif key in schema:
            del schema[key]
    for key in _SCHEMA_LISTS:
        if isinstance(schema.get(key), list) and schema[key]:
            schema[key] = [_normalize_schema(part, depth + 1) for part in schema[key]]
        else:
            schema.pop(key, None)
    for key in ("items", *_ONE_SCHEMA):
        if key in schema and not isinstance(schema[key], bool):
            schema[key] = _normalize_schema(schema[key], depth + 1)
