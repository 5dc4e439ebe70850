"""The type of an output: what its JSON looks like, and how JSON becomes a value of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import READ_LOCAL, Json, JsonObject, Tool
from callwright.schema.compiled import BadSchema, Compiled, Node, compile_schema
from callwright.tools.python.annotations import schema_of
from callwright.tools.python.conversion import load_value

NAME = "Answer"
_VALUE = "value"  # holds an output that is no object


@dataclass(frozen=True, slots=True)
class OutputTarget:
    """A type that an answer is filled into. ``annotation``: None where it is a JSON Schema alone.

    ``schema`` is of an object; a type of other values stands in it as its one property ``value``.
    """

    schema: JsonObject
    annotation: Any = None
    is_wrapped: bool = False

    @property
    def tool(self) -> Tool:
        """The tool whose arguments are the output: so it is checked and repaired as those are."""
        return Tool(
            NAME, "The answer in the form that was asked for.", self.schema, effects=READ_LOCAL
        )

    @property
    def type_name(self) -> str:
        """The name of the type, for messages."""
        return getattr(self.annotation, "__name__", None) or str(self.annotation)

    @property
    def decoding_schema(self) -> JsonObject:
        """The schema of a reply: every property is written, and any may be null."""
        return cast(JsonObject, _make_nullable(self.schema))

    def unwrap(self, value: JsonObject) -> Json:
        """The output that an object of the schema holds."""
        return value[_VALUE] if self.is_wrapped else value

    def place_of(self, path: str) -> str:
        """The place in the output of a place in an object of the schema."""
        return path.removeprefix(f"/{_VALUE}") if self.is_wrapped else path

    def load(self, output: Json) -> Any:
        """The output as a value of the type. Raises ValueError or TypeError where the type itself
        refuses it.
        """
        return output if self.annotation is None else load_value(self.annotation, output)

    def compile(self) -> Compiled:
        """The schema, compiled."""
        return compile_schema(self.schema)


def open_output(output_type: Any) -> OutputTarget:
    """The target of a pydantic model, a dataclass, a TypedDict, another type with a JSON form, or a
    JSON Schema as a mapping. Raises ConfigError for anything else.
    """
    is_schema = isinstance(output_type, Mapping)
    try:
        schema = dict(output_type) if is_schema else schema_of(output_type)
        root = compile_schema(schema).root
    except (CatalogError, BadSchema) as error:
        raise ConfigError(
            f"the output type cannot be used: {error}",
            hint="a pydantic model, a dataclass, a TypedDict, or a JSON Schema",
        ) from None
    annotation = None if is_schema else output_type
    if _is_object(root):
        moved = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
        return OutputTarget({**cast(JsonObject, root.resolved().schema), **moved}, annotation)
    whole = {"type": "object", "properties": {_VALUE: schema}, "required": [_VALUE]}
    moved = {"$defs": schema.pop("$defs")} if "$defs" in schema else {}
    return OutputTarget({**whole, **moved}, annotation, is_wrapped=True)


def _is_object(root: Node) -> bool:
    node = root.resolved()
    return node.get("type") == "object" or isinstance(node.get("properties"), dict)


def _make_nullable(schema: Json) -> Json:
    """The schema with every declared property required and nullable, at every level."""
    if isinstance(schema, list):
        return [_make_nullable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _make_nullable(part) for key, part in schema.items() if key != "default"}
    properties = made.get("properties")
    if isinstance(properties, dict) and properties:
        made["properties"] = {key: _or_null(part) for key, part in properties.items()}
        made["required"] = list(properties)
        made.setdefault("additionalProperties", False)
    return made


def _or_null(schema: Json) -> Json:
    if isinstance(schema, dict) and isinstance(schema.get("type"), str) and "enum" not in schema:
        is_null = schema["type"] == "null" or "const" in schema
        return schema if is_null else {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}
