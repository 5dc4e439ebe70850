"""The three formats of Bamboogle* (E.4), each read as strictly as it is asked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import orjson

from callwright.jsontext import JsonError, parse
from callwright.nouns.types import Json, ToolCall

FORMATS = {
    "tagged": (
        '<tool_call> [{"name": "tool_name1", "arguments": {"parameter_name1": "parameter_content1",'
        " …}}, …] </tool_call>"
    ),
    "pythonic": "[func1(params_name=params_value, params_name2=params_value2, …), func2(params)]",
    "tool_use": (
        '[{"type": "tool_use", "name": "tool_name1", "input": {"parameter_name1":'
        ' "parameter_content1", …}}, …]'
    ),
}
_TAGGED = re.compile(r"<tool_call>(.*)</tool_call>", re.S)


def read_format(form: str, text: str) -> tuple[ToolCall, ...] | None:
    """The calls of a text that is in this format and nothing else; None where it is not."""
    text = text.strip()
    if form == "pythonic":
        return _parse_python_calls(text)
    if form == "tagged":
        found = _TAGGED.fullmatch(text)
        return _parse_json_calls(found[1], "arguments", {"name", "arguments"}) if found else None
    return _parse_json_calls(text, "input", {"type", "name", "input"})


def write_format(form: str, calls: Sequence[ToolCall]) -> str:
    """Calls in this format, arguments as they are."""
    if form == "pythonic":
        return "[" + ", ".join(f"{c.tool}({_format_keywords(c)})" for c in calls) + "]"
    if form == "tool_use":
        rows = [{"type": "tool_use", "name": c.tool, "input": c.arguments} for c in calls]
        return orjson.dumps(rows).decode()
    rows = [{"name": c.tool, "arguments": c.arguments} for c in calls]
    return f"<tool_call> {orjson.dumps(rows).decode()} </tool_call>"


def _format_keywords(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return call.arguments
    return ", ".join(f"{k}={v!r}" for k, v in call.arguments.items())


def _parse_json_calls(text: str, key: str, keys: set[str]) -> tuple[ToolCall, ...] | None:
    try:
        value: Json = parse(text.strip())
    except JsonError:
        return None
    if not isinstance(value, list) or not value:
        return None
    for item in value:
        if (
            not isinstance(item, dict)
            or set(item) != keys
            or item.get("type", "tool_use") != "tool_use"
        ):
            return None
        if not isinstance(item["name"], str) or not isinstance(item[key], dict):
            return None
    return tuple(ToolCall(f"call_{n}", item["name"], item[key]) for n, item in enumerate(value, 1))


def _parse_python_calls(text: str) -> tuple[ToolCall, ...] | None:
    """A Python list of calls by plain names with keyword arguments that are literals."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(tree, ast.List) or not tree.elts:
        return None
    calls = [_parse_call_node(n, node) for n, node in enumerate(tree.elts, 1)]
    return tuple(c for c in calls if c is not None) if all(calls) else None


def _parse_call_node(number: int, node: ast.expr) -> ToolCall | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        return None
    arguments = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            return None
        try:
            arguments[keyword.arg] = ast.literal_eval(keyword.value)
        except (ValueError, TypeError):
            return None
    return ToolCall(f"call_{number}", node.func.id, arguments)
