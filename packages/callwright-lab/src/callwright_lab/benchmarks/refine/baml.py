"""BAML's schema-aligned parsing over the offered tools: their schemas as BAML types, the text
parsed into a list.

Every tool is a class with its literal name and its arguments (under any usual key); every object
with known keys is a class whose fields carry the real key as alias, so that BAML sees the names a
model writes. What BAML's types cannot say (other keys, constraints) is left out: it is told no less
of the tools than its own users tell it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

import orjson

from callwright.nouns.types import Json, JsonObject, Tool, ToolCall

_CLIENT = """client<llm> Nobody {
  provider openai
  options {
    model "none"
    api_key "none"
  }
}
"""
_SCALARS = {
    "string": "string",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "null",
}
_ANY = "(string | int | float | bool | null)"
_MAX_DEPTH = 8
ARGUMENTS = ("arguments", "parameters", "input")  # under which upstreams write them


def parse_aligned(baml: ModuleType, text: str, tools: Sequence[Tool]) -> list[ToolCall]:
    """The calls that BAML reads in a text. Raises what BAML raises."""
    runtime, written = _build_runtime(baml, tuple(tools))
    classes = ModuleType("classes")
    vars(classes).update(dict.fromkeys(written.names, _Row))
    context = runtime.create_context_manager()
    rows = runtime.parse_llm_response(
        "Calls", text, classes, classes, classes, False, context, None, None, {}
    )
    plain = [written.plain(row) for row in rows]
    given: list[JsonObject] = [
        next((row[key] for key in ARGUMENTS if key in row), {}) for row in plain
    ]
    return [ToolCall(f"call_{n}", row["name"], given[n - 1]) for n, row in enumerate(plain, 1)]


class _Row:
    """An object of a BAML class, as BAML hands it over: one value a field."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields

    @classmethod
    def model_validate(cls, fields: Mapping[str, Any]) -> _Row:
        return cls(fields)


class _Source:
    """BAML classes for schemas; fields are numbered, their aliases are the real keys."""

    def __init__(self) -> None:
        self.classes: list[str] = []
        self.names: list[str] = []
        self.keys: dict[str, str] = {}

    def plain(self, value: Any) -> Any:
        """A parsed value with the real keys; what the text did not give is left out."""
        if isinstance(value, _Row):
            return {self.keys[k]: self.plain(v) for k, v in value.fields.items() if v is not None}
        return [self.plain(v) for v in value] if isinstance(value, list) else value

    def named(self, fields: Sequence[tuple[str, str]]) -> str:
        """A new class of these keys and types."""
        lines = []
        for key, kind in fields:
            self.keys[field := f"k{len(self.keys)}"] = key
            lines.append(f"  {field} {kind} @alias({orjson.dumps(key).decode()})\n")
        name = f"T{len(self.names)}"
        self.names.append(name)
        self.classes.append(f"class {name} {{\n{''.join(lines)}}}\n")
        return name

    def of(self, schema: Json, depth: int = 0) -> str:
        """The type of a schema."""
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return _ANY
        options = schema.get("enum")
        if (
            isinstance(options, list)
            and options
            and all(isinstance(o, str) and o.isprintable() for o in options)
        ):
            return "(" + " | ".join(orjson.dumps(o).decode() for o in options) + ")"
        kinds = schema.get("type")
        listed = [k for k in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(k, str)]
        made = [self._of_kind(kind, schema, depth) for kind in listed]
        return f"({' | '.join(made)})" if made else _ANY

    def _of_kind(self, kind: str, schema: JsonObject, depth: int) -> str:
        if kind == "array":
            return self.of(schema.get("items"), depth + 1) + "[]"
        properties = schema.get("properties")
        if kind == "object" and isinstance(properties, dict) and properties:
            wanted = schema.get("required") or []
            return self.named(
                [
                    (k, self.of(v, depth + 1) + ("" if k in wanted else "?"))
                    for k, v in properties.items()
                ]
            )
        return f"map<string, {_ANY}>" if kind == "object" else _SCALARS.get(kind, _ANY)


@lru_cache(maxsize=256)
def _build_runtime(baml: ModuleType, tools: tuple[Tool, ...]) -> tuple[Any, _Source]:
    written = _Source()
    heads = []
    for tool in tools:
        arguments = written.of(tool.input_schema) if tool.properties else "map<string, string>?"
        named = ("name", orjson.dumps(tool.name).decode())
        heads.append(
            written.named([named, *((key, arguments.rstrip("?") + "?") for key in ARGUMENTS)])
        )
    source = (
        _CLIENT
        + "".join(written.classes)
        + f"function Calls(text: string) -> ({' | '.join(heads)})[] {{\n"
    )
    source += '  client Nobody\n  prompt #"\n  {{ text }} {{ ctx.output_format }}\n  "#\n}\n'
    return baml.BamlRuntime.from_files("baml_src", {"baml_src/calls.baml": source}, {}), written
