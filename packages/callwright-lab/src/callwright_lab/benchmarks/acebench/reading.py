"""Calls out of a text, as the suite reads them: all white space is removed, and what is left must
be a Python list of calls.

Written anew after ``model_inference/utils.py`` of ACEBench; :mod:`.agreement` compares the two.
Nothing of the text is executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from callwright.nouns.types import Json

AceCall: TypeAlias = Mapping[str, Any]
"""One call: its name, and its arguments by name."""

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class UnreadableCalls(ValueError):
    """The text is not a list of calls."""


def read_calls(text: str) -> list[AceCall]:
    """The calls of a reply. Raises UnreadableCalls where the suite says ``wrong_output_format``."""
    return parse_calls(remove_space(text))


def parse_calls(text: str) -> list[AceCall]:
    """The calls of a text whose white space counts, as they stand in a conversation. Raises
    UnreadableCalls.
    """
    try:
        parsed = ast.parse(text, mode="eval").body
        items = getattr(parsed, "elts", None)
        if items is None or not all(isinstance(item, ast.Call) for item in items):
            raise UnreadableCalls("no list of calls")
        return [_read_call(item) for item in items]
    except UnreadableCalls:
        raise
    except Exception as error:  # whatever Python's parser or an operator raises on such a text
        raise UnreadableCalls(str(error) or type(error).__name__) from error


def remove_space(text: str) -> str:
    """The text without white space: the suite removes it inside quotation marks too."""
    return "".join(text.split())


def remove_inner_space(value: Json) -> Json:
    """A value whose texts and names have no white space: the arguments of a native call as the
    suite would read them from a text.
    """
    if isinstance(value, str):
        return remove_space(value)
    if isinstance(value, dict):
        return {remove_space(key): remove_inner_space(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [remove_inner_space(inner) for inner in value]
    return value


def write_calls(calls: list[AceCall]) -> str:
    """The calls as the suite's prompt wants them: ``[Name(key='value', …)]``."""
    written = []
    for call in calls:
        for name, arguments in call.items():
            inner = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
            written.append(f"{name}({inner})")
    return f"[{', '.join(written)}]"


def _read_call(node: ast.Call) -> dict[str, Any]:
    """One call. Arguments without a name are ignored, as the suite ignores them."""
    return {_read_name(node.func): {item.arg: _read_value(item.value) for item in node.keywords}}


def _read_name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _read_value(node: ast.expr | None) -> Any:
    match node:
        case ast.Constant():
            return "..." if node.value is Ellipsis else node.value
        case ast.UnaryOp(operand=ast.Constant(value=value)):
            return -value  # type: ignore[operator]  # any operator, as the suite has it
        case ast.List():
            return [_read_value(item) for item in node.elts]
        case ast.Tuple():
            return tuple(_read_value(item) for item in node.elts)
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {_read_value(key): _read_value(value) for key, value in pairs}
        case ast.Name():
            return node.id
        case ast.Call():
            return _read_call(node)
        case ast.BinOp():
            return _compute_value(node)
        case ast.Subscript():
            return f"{ast.unparse(node.value)}[{ast.unparse(node.slice)}]"
    raise UnreadableCalls(f"{type(node).__name__} is no value")


def _compute_value(node: ast.expr) -> Any:
    """The value of an expression of plain numbers and texts."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_compute_value(node.operand)
    if isinstance(node, ast.BinOp) and (apply := _OPERATORS.get(type(node.op))):
        left, right = _compute_value(node.left), _compute_value(node.right)
        if isinstance(left, str) and not isinstance(node.op, ast.Add):
            raise UnreadableCalls("a text in arithmetic")
        return apply(left, right)
    raise UnreadableCalls(f"{type(node).__name__} in arithmetic")
