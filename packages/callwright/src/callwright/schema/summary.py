"""A tool's parameters in few words for a repair prompt, and the schema its answer is held to."""

from __future__ import annotations

from typing import Any

from callwright.jsontext.pointer import follow_references
from callwright.nouns.types import Json, JsonObject, Tool, required_keys, to_canonical_json

_MOST_TEXT = 160
_MOST_OPTIONS = 30


def schema_summary(tool: Tool) -> str:
    """One line a parameter: name, type, whether required, options, format, description. Nested ones
    are indented.
    """
    lines = [f"{tool.name}: {_shorten_text(tool.description)}" if tool.description else tool.name]
    lines += _list_parameter_lines(tool.input_schema, 0, tool.input_schema) or ["(no parameters)"]
    return "\n".join(lines)


def reply_schema(tool: Tool) -> JsonObject | None:
    """The schema of ``{"tool_calls": [one call of this tool]}``; None where its references would
    not survive.
    """
    parameters = dict(tool.input_schema)
    hoisted: JsonObject = {
        k: parameters.pop(k) for k in ("$defs", "definitions") if k in parameters
    }
    parameters.pop("$schema", None)
    parameters.pop("$id", None)
    if not _references_hold(to_canonical_json(parameters), hoisted) or not _references_hold(
        to_canonical_json(hoisted), hoisted
    ):
        return None
    call = {
        "type": "object",
        "properties": {"name": {"const": tool.name}, "arguments": parameters},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
    calls = {"type": "array", "items": call, "minItems": 1, "maxItems": 1}
    return {
        "type": "object",
        "properties": {"tool_calls": calls},
        "required": ["tool_calls"],
        "additionalProperties": False,
        **hoisted,
    }


def _references_hold(text: str, hoisted: JsonObject) -> bool:
    total = text.count('"$ref":"') + text.count('"$dynamicRef":"')
    return total == sum(text.count(f'"$ref":"#/{name}/') for name in hoisted)


def _list_parameter_lines(schema: Json, depth: int, root: JsonObject) -> list[str]:
    schema = follow_references(schema, root)
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth > 3:
        return []
    required = required_keys(schema)
    found: list[str] = []
    for name, part in properties.items():
        part = follow_references(part, root)
        needed = "required" if name in required else "optional"
        found.append(
            f"{'  ' * depth}- {name} ({_describe_type(part, root)}, {needed}){_format_description(part)}"
        )
        found += _list_parameter_lines(part, depth + 1, root)
        if isinstance(part.get("items"), dict):
            found += _list_parameter_lines(part["items"], depth + 1, root)
    return found


def _describe_type(part: JsonObject, root: JsonObject) -> str:
    if isinstance(part.get("enum"), list):
        listed = ", ".join(to_canonical_json(o) for o in part["enum"][:_MOST_OPTIONS])
        return f"one of {listed}"
    if "const" in part:
        return f"exactly {to_canonical_json(part['const'])}"
    for keyword in ("anyOf", "oneOf"):
        if isinstance(part.get(keyword), list):
            return " or ".join(
                _describe_type(follow_references(p, root), root) for p in part[keyword][:6]
            )
    named: Any = part.get("type", "any")
    kind = " or ".join(map(str, named)) if isinstance(named, list) else str(named)
    if kind == "array" and isinstance(part.get("items"), dict):
        kind = f"array of {_describe_type(follow_references(part['items'], root), root)}"
    limits = [
        f"{k} {part[k]}"
        for k in ("format", "pattern", "minimum", "maximum", "maxLength")
        if k in part
    ]
    return ", ".join([kind, *limits])


def _format_description(part: JsonObject) -> str:
    said = part.get("description")
    return f": {_shorten_text(said)}" if isinstance(said, str) and said.strip() else ""


def _shorten_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
