"""Parameters and body of an OpenAPI operation -> one object schema and the way of each argument
into the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from callwright.nouns.types import JsonObject
from callwright.tools.openapi.binding import Body, Field, Place, is_json
from callwright.tools.openapi.document import Unusable
from callwright.tools.openapi.names import argument_name
from callwright.tools.openapi.schema import SchemaConverter

_STYLES = {
    "path": ("simple", "label", "matrix"),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
    "cookie": ("form",),
}
_MERGEABLE = frozenset(
    {
        "type",
        "properties",
        "required",
        "description",
        "title",
        "default",
        "examples",
        "additionalProperties",
        "$defs",
    }
)
_ANNOTATIONS = ("title", "description")


class Arguments:
    """Gathers parameters and body into one object schema; clashing names are told apart by their
    place.
    """

    def __init__(self, converter: SchemaConverter) -> None:
        self._converter = converter
        self._properties: JsonObject = {}
        self._required: list[str] = []
        self._together: dict[str, list[str]] = {}
        self._definitions: JsonObject = {}
        self.fields: list[Field] = []

    def add_parameter(self, typed: Any, raw: JsonObject) -> None:
        place: Place = typed.param_in.value
        style = typed.style or ("form" if place in ("query", "cookie") else "simple")
        if style not in _STYLES[place]:
            raise Unusable(
                f"the {place} parameter {typed.name!r} has the style {style!r}, which is none for"
                " its place"
            )
        explode = typed.explode if typed.explode is not None else style in ("form", "deepObject")
        content = raw.get("content")
        as_json = isinstance(content, Mapping) and bool(content)
        holder = next(iter(content.values())) if as_json else raw  # type: ignore[union-attr]
        inner = holder.get("schema", {}) if isinstance(holder, Mapping) else {}
        if as_json and not is_json(next(iter(content))):  # type: ignore[arg-type]
            raise Unusable(f"the parameter {typed.name!r} is written in a format that is not JSON")
        required = typed.required or place == "path"
        key = argument_name(typed.name, place, self._properties)
        schema = self._lifted(self._converter.convert(inner))
        self._properties[key] = _add_annotations(schema, typed, raw)
        self.fields.append(
            Field(
                key,
                typed.name,
                place,
                required,
                style,
                explode,
                bool(raw.get("allowReserved")),
                as_json,
            )
        )
        if required:
            self._required.append(key)

    def add_body(self, body: Body, schema: JsonObject) -> Body:
        """Body properties stand beside the parameters where that loses nothing; else the body is
        one argument.
        """
        if body.kind == "multipart":
            schema, files = _convert_files(schema)
            body = replace(body, files=files)
        schema = _flatten_all_of(schema)
        extra = schema.get("additionalProperties")
        properties = schema.get("properties")
        plain = (
            set(schema) <= _MERGEABLE and isinstance(properties, dict) and properties and not extra
        )
        plain = plain and set(schema.get("required", ())) <= set(properties or ())
        if (
            not plain
            or "object" not in schema.get("type", "object")
            or body.kind in ("text", "bytes")
        ):
            key = argument_name("body", "body", self._properties)
            self._properties[key] = self._lifted(schema)
            self.fields.append(Field(key, "body", "body", body.required))
            self._required += [key] if body.required else []
            return replace(body, whole=key)
        flat = self._lifted(schema)
        needed = [n for n in flat.get("required", ()) if n in flat["properties"]]
        keys: dict[str, str] = {}
        for name, inner in flat["properties"].items():
            key = keys[name] = argument_name(name, "body", self._properties)
            self._properties[key] = inner
            self.fields.append(Field(key, name, "body", name in needed and body.required))
        must = [keys[n] for n in needed]
        if body.required:
            self._required += must
        else:  # the body may be left out; but if any part is given, all that it requires must be
            self._together = {
                key: [m for m in must if m != key] for key in keys.values() if set(must) - {key}
            }
        return body

    def schema(self) -> JsonObject:
        whole: JsonObject = {
            "type": "object",
            "properties": self._properties,
            "additionalProperties": False,
        }
        if self._required:
            whole["required"] = self._required
        if self._together:
            whole["dependentRequired"] = self._together
        if self._definitions:
            whole["$defs"] = self._definitions
        return whole

    def _lifted(self, schema: JsonObject) -> JsonObject:
        """Definitions move to the top, where the references point. One converter gives one name to
        one reference.
        """
        if "$defs" not in schema:
            return schema
        self._definitions.update(schema["$defs"])
        return {k: v for k, v in schema.items() if k != "$defs"}


def _add_annotations(schema: JsonObject, typed: Any, raw: JsonObject) -> JsonObject:
    """The schema with the parameter's own description and example, which say more than the
    type's.
    """
    more: JsonObject = {}
    if typed.description:
        more["description"] = typed.description
    if "example" in raw:
        more["examples"] = [raw["example"]]
    elif isinstance(raw.get("examples"), Mapping):
        values: list[Any] = [
            e["value"] for e in raw["examples"].values() if isinstance(e, Mapping) and "value" in e
        ]
        if values:
            more["examples"] = values[:3]
    return {**schema, **more}


def _flatten_all_of(schema: JsonObject) -> JsonObject:
    """``allOf`` of plain objects with different properties, and nothing else said, as one object;
    else unchanged.
    """
    parts = [_flatten_all_of(p) for p in schema.get("allOf", ())]
    outside = {k: v for k, v in schema.items() if k != "allOf"}
    whole = [*parts, outside]
    keys = [k for p in whole for k in p.get("properties", ())]
    plain = all(set(p) <= _MERGEABLE and p.get("type", "object") == "object" for p in whole)
    if (
        not parts
        or not plain
        or len(keys) != len(set(keys))
        or any("additionalProperties" in p for p in whole)
    ):
        return schema
    merged = {k: v for p in whole for k, v in p.items()}
    merged["properties"] = {k: v for p in whole for k, v in p.get("properties", {}).items()}
    needed = list(dict.fromkeys(n for p in whole for n in p.get("required", ())))
    return {**merged, "type": "object", **({"required": needed} if needed else {})}


def _convert_files(schema: JsonObject) -> tuple[JsonObject, frozenset[str]]:
    """Binary parts of a multipart body become base64 text, which is what arguments can carry."""
    properties = schema.get("properties")
    made, files = {}, set()
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        item = inner.get("items", inner)
        if item.get("format") == "binary" or (
            item.get("contentMediaType") and not item.get("contentEncoding")
        ):
            plain = {**{k: v for k, v in item.items() if k in _ANNOTATIONS}, "type": "string"}
            plain["contentEncoding"] = "base64"
            inner = {**inner, "items": plain} if "items" in inner else plain
            files.add(name)
        made[name] = inner
    return ({**schema, "properties": made} if files else schema), frozenset(files)
