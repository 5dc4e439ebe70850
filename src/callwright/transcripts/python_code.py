"""The calls of a program that a model wrote, without running it, and the program that makes calls.

Read is what Tool-MVR's agent writes (Table 17): ``print(f(x=1))``, a bare or an assigned call. Arguments that are no
literals stay the expressions they are, as text.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence

from callwright.dialects.offer import Offer
from callwright.dialects.pythonic import read_call, written
from callwright.types import JsonObject, Tool, ToolCall

_NO_TOOLS = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
MAX_CHARS = 100_000


def calls_in(code: str, tools: Sequence[Tool] = ()) -> list[tuple[str, JsonObject | str]]:
    """(name, arguments) of every call of a tool in a program, inner calls first; none where it is no Python.

    A name that Python itself has is a tool's only where a tool of that name is on offer.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a model's text is not this program's warning
            tree = ast.parse(code if len(code) <= MAX_CHARS else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    offer = Offer(tuple(tools), unknown=True)
    known = {tool.name for tool in tools}
    return [_call(node, code, offer) for node in _calls(tree) if _is_tool(node, known)]


def program(calls: Sequence[ToolCall]) -> str:
    """A program that makes these calls and prints what each returns."""
    return "\n".join(f"print({call})" for call in written(calls))


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        yield from _calls(child)
    if isinstance(node, ast.Call):
        yield node


def _is_tool(node: ast.Call, known: set[str]) -> bool:
    return isinstance(node.func, ast.Name) and (node.func.id in known or node.func.id not in _NO_TOOLS)


def _call(node: ast.Call, code: str, offer: Offer) -> tuple[str, JsonObject | str]:
    assert isinstance(node.func, ast.Name)
    name = node.func.id
    text = (ast.get_source_segment(code, node) or "").removeprefix(name).strip()
    return name, read_call(name, text, offer).arguments
