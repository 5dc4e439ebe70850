"""Our tools -> an OpenAPI 3.1 description, one POST operation a tool, as :mod:`callwright.tools`
reads it back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callwright.nouns.types import Json, JsonObject, Tool
from callwright.tools.lists.tools import annotations_of

PREFIX = "/tools/"
_DEFS = "#/$defs/"
_COMPONENTS = "#/components/schemas/"


def openapi_of(
    tools: Sequence[Tool], *, title: str, server: str = "/", about: str = ""
) -> JsonObject:
    """An OpenAPI 3.1 document: ``POST /tools/<name>`` with the arguments as its JSON body, the
    reply as JSON.

    Names, schemas, output schemas and effects are as the tools have them; effects stand in
    ``x-callwright-effects``.
    """
    schemas: dict[str, Json] = {}
    paths = {PREFIX + tool.name: {"post": _build_operation(tool, schemas)} for tool in tools}
    info = {"title": title, "version": "1", **({"description": about} if about else {})}
    return {
        "openapi": "3.1.0",
        "info": info,
        "servers": [{"url": server}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _build_operation(tool: Tool, schemas: dict[str, Json]) -> JsonObject:
    body = {
        "content": {
            "application/json": {
                "schema": _export_schema(tool.input_schema, f"{tool.name}.input", schemas)
            }
        }
    }
    reply: JsonObject = {"description": "What the tool gives back."}
    if tool.output_schema is not None:
        shown = _export_schema(tool.output_schema, f"{tool.name}.output", schemas)
        reply["content"] = {"application/json": {"schema": shown}}
    return {
        "operationId": tool.name,
        "description": tool.description,
        "x-callwright-effects": annotations_of(tool.effects),
        "requestBody": {"required": bool(tool.required), **body},
        "responses": {"200": reply},
    }


def _export_schema(schema: JsonObject, name: str, schemas: dict[str, Json]) -> JsonObject:
    """The schema with its definitions among the components, where its references now point.

    One that refers to itself by any other way is a component as a whole.
    """
    definitions = schema.get("$defs")
    held = definitions if isinstance(definitions, dict) else {}
    inline = _move_references(
        {k: v for k, v in schema.items() if k != "$defs"}, _DEFS, f"{_COMPONENTS}{name}."
    )
    if any(
        ref.startswith("#") and not ref.startswith(_COMPONENTS)
        for ref in _iter_references([inline, *held.values()], _DEFS)
    ):
        schemas[name] = _move_references(schema, "#", _COMPONENTS + name)
        return {"$ref": _COMPONENTS + name}
    schemas.update(
        {
            f"{name}.{key}": _move_references(part, _DEFS, f"{_COMPONENTS}{name}.")
            for key, part in held.items()
        }
    )
    made: JsonObject = inline
    return made


def _move_references(value: Json, start: str, become: str) -> Json:
    """The same with references that begin with ``start`` (RFC 6901, as a URI fragment) beginning
    otherwise.
    """
    if isinstance(value, dict):
        return {
            k: _move_reference(v, start, become)
            if k == "$ref"
            else _move_references(v, start, become)
            for k, v in value.items()
        }
    return (
        [_move_references(inner, start, become) for inner in value]
        if isinstance(value, list)
        else value
    )


def _move_reference(value: Json, start: str, become: str) -> Json:
    fits = isinstance(value, str) and value.startswith(start)
    return become + value[len(start) :] if fits else value


def _iter_references(value: Json, apart: str) -> Iterator[str]:
    """Every reference in a schema but those that begin with ``apart``."""
    if isinstance(value, dict):
        found = value.get("$ref")
        if isinstance(found, str) and not found.startswith(apart):
            yield found
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _iter_references(inner, apart)
