"""``callwright check``: one call or a stream of calls through the schema gate, without a model."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence

from callwright.cli.jsonl import BadLine, answer_stream
from callwright.cli.opened import opened
from callwright.errors import ConfigError
from callwright.gate import Gate, Refusal
from callwright.jsontext import parse
from callwright.types import JsonObject, Tool, ToolCall, to_json
from callwright.wire.tools import tool_from_wire, tools_from_wire


def check_lines(sources: Sequence[str]) -> None:
    """``{"id", "tool", "arguments"}`` -> ``{"id", "accepted", "arguments", "edits", "violations"}``.

    ``tool`` is a tool definition in OpenAI style, or the name of one that ``tools`` in the same line or ``--tools``
    on the command line defines. ``arguments`` is an object or text.
    """
    known = {t.name: t for t in _tools(sources)}
    gates: dict[str, Gate] = {}
    answer_stream(lambda row: check_row(row, known, gates))


def check_one(text: str | None, sources: Sequence[str]) -> int:
    """Check one call given on the command line; exit code 0 if it is accepted, 1 if it is refused."""
    if text is None:
        raise ConfigError(
            "check needs a call", hint='callwright check \'{"tool": …, "arguments": …}\' --tools SOURCE'
        )
    row = parse(sys.stdin.buffer.read() if text == "-" else text)
    if not isinstance(row, dict):
        raise ConfigError("the call must be a JSON object with tool and arguments")
    try:
        answer = check_row(row, {t.name: t for t in _tools(sources)}, {})
    except BadLine as exc:
        raise ConfigError(str(exc)) from None
    import orjson

    print(orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode())
    return 0 if answer["accepted"] else 1


def check_row(row: JsonObject, known: Mapping[str, Tool], gates: dict[str, Gate]) -> JsonObject:
    """The answer for one call. ``gates`` caches compiled schemas by tool digest. Raises BadLine, CatalogError."""
    if "arguments" not in row or not isinstance(row["arguments"], dict | str):
        raise BadLine('"arguments" must be an object or a text')
    tool = _tool(row, known)
    if tool.digest not in gates:
        gates[tool.digest] = Gate([tool])
    verdict = gates[tool.digest].check(ToolCall("", tool.name, row["arguments"]))
    refused = isinstance(verdict, Refusal)
    arguments = verdict.arguments
    return {
        "accepted": not refused,
        "arguments": row["arguments"] if arguments is None else arguments,
        "edits": to_json(verdict.edits),
        "violations": [
            {"path": v.path, "keyword": v.keyword or v.kind, "message": v.message} for v in verdict.violations
        ]
        if isinstance(verdict, Refusal)
        else [],
    }


def _tool(row: JsonObject, known: Mapping[str, Tool]) -> Tool:
    given = row.get("tool")
    if isinstance(given, dict):
        return tool_from_wire(given)
    if not isinstance(given, str):
        raise BadLine('"tool" must be a tool definition or a tool name')
    listed = {t.name: t for t in tools_from_wire(row["tools"])} if isinstance(row.get("tools"), list) else {}
    found = listed.get(given) or known.get(given)
    if found is None:
        raise BadLine(f'there is no tool "{given}": give its definition as "tool", a "tools" list, or --tools')
    return found


def _tools(sources: Sequence[str]) -> tuple[Tool, ...]:
    async def load() -> tuple[Tool, ...]:
        async with opened(sources) as catalog:
            return catalog.tools

    return asyncio.run(load()) if sources else ()
