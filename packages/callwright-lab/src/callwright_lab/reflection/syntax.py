"""What a program says of its calls without being run."""

from __future__ import annotations

import ast
from collections.abc import Collection

from callwright.agent.strategies.code import CALLS
from callwright.nouns.types import canonical
from callwright.parsing.formats.program import given, is_literal, parsed, tool_calls, values_of


def plain(code: str, tools: Collection[str]) -> bool:
    """Whether a program is nothing but a round's calls with literal arguments, printed or not: read
    is run.
    """
    calls = [_called(statement, tools) for statement in parsed(code)]
    return 0 < len(calls) <= CALLS and all(
        call is not None and _literal_call(call) for call in calls
    )


def shows(code: str, tools: Collection[str]) -> bool:
    """Whether a program prints what each of its calls returned, as it came and in their order, and
    nothing else: only then does its print-out tell what they returned.
    """
    called: list[str] = []  # a name for every call
    printed: list[str] = []
    for statement in parsed(code):
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=tool))
            ) if tool in tools:
                called.append(name)
            case ast.Expr(
                ast.Call(func=ast.Name(id="print"), args=[ast.Name(id=name)], keywords=[])
            ):
                printed.append(name)
            case ast.Expr(ast.Call(func=ast.Name(id="print"))) if _called(statement, tools):
                called.append(f"#{len(called)}")
                printed.append(called[-1])
            case _:
                return False
    once = len({*called}) == len(called) == len(tool_calls(code, tools))
    return once and bool(called) and called == printed


def expressions(code: str, tools: Collection[str]) -> frozenset[str]:
    """The arguments of tools' calls that are no literals, as they are written: what a reader of a
    program that does not run it takes for their values.
    """
    computed = (value for value in given(code, tools) if not is_literal(value))
    return frozenset(ast.get_source_segment(code, value) or "" for value in computed)


def literals(code: str) -> frozenset[str]:
    """The values that stand in a program as they are, each as JSON."""
    nodes = (node for statement in parsed(code) for node in ast.walk(statement))
    return frozenset(
        canonical(n.value)
        for n in nodes
        if isinstance(n, ast.Constant) and isinstance(n.value, str | int | float)
    )


def _called(statement: ast.stmt, tools: Collection[str]) -> ast.Call | None:
    """The tool's call that a statement is, bare or inside of ``print``."""
    node: ast.expr | None = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
        node = node.args[0] if len(node.args) == 1 and not node.keywords else None
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools
    return node if named and isinstance(node, ast.Call) else None


def _literal_call(call: ast.Call) -> bool:
    return all(keyword.arg is not None for keyword in call.keywords) and all(
        map(is_literal, values_of(call))
    )
