"""Analyses the calls of a program without running it."""

from __future__ import annotations

import ast
from collections.abc import Collection

from callwright.agent.strategies.code import CALLS
from callwright.nouns.types import to_canonical_json
from callwright.parsing.formats.program import (
    get_call_values,
    is_literal,
    list_argument_nodes,
    parse_program,
    tool_calls,
)


def is_literal_program(code: str, tools: Collection[str]) -> bool:
    """Return True if a program consists only of a round's calls with literal arguments, printed or
    not. Reading such a program is equivalent to running it.
    """
    calls = [_find_tool_call(statement, tools) for statement in parse_program(code)]
    return 0 < len(calls) <= CALLS and all(
        call is not None and _literal_call(call) for call in calls
    )


def is_fully_printed(code: str, tools: Collection[str]) -> bool:
    """Return True if a program prints the unchanged result of each of its calls, in order, and
    nothing else. Only then does its output show the results.
    """
    called: list[str] = []  # a name for every call
    printed: list[str] = []
    for statement in parse_program(code):
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=tool))
            ) if tool in tools:
                called.append(name)
            case ast.Expr(
                ast.Call(func=ast.Name(id="print"), args=[ast.Name(id=name)], keywords=[])
            ):
                printed.append(name)
            case ast.Expr(ast.Call(func=ast.Name(id="print"))) if _find_tool_call(statement, tools):
                called.append(f"#{len(called)}")
                printed.append(called[-1])
            case _:
                return False
    once = len({*called}) == len(called) == len(tool_calls(code, tools))
    return once and bool(called) and called == printed


def find_expressions(code: str, tools: Collection[str]) -> frozenset[str]:
    """The arguments of tools' calls that are no literals, as they are written: what a reader of a
    program that does not run it takes for their values.
    """
    computed = (value for value in list_argument_nodes(code, tools) if not is_literal(value))
    return frozenset(ast.get_source_segment(code, value) or "" for value in computed)


def collect_literals(code: str) -> frozenset[str]:
    """The values that stand in a program as they are, each as JSON."""
    nodes = (node for statement in parse_program(code) for node in ast.walk(statement))
    return frozenset(
        to_canonical_json(n.value)
        for n in nodes
        if isinstance(n, ast.Constant) and isinstance(n.value, str | int | float)
    )


def _find_tool_call(statement: ast.stmt, tools: Collection[str]) -> ast.Call | None:
    """The tool's call that a statement is, bare or inside of ``print``."""
    node: ast.expr | None = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
        node = node.args[0] if len(node.args) == 1 and not node.keywords else None
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools
    return node if named and isinstance(node, ast.Call) else None


def _literal_call(call: ast.Call) -> bool:
    return all(keyword.arg is not None for keyword in call.keywords) and all(
        map(is_literal, get_call_values(call))
    )
