"""``callwright check``: calls through the schema gate, one or a stream of them, without a model."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from callwright.cli.opened import load_tools
from callwright.cli.terminal.jsonl import (
    BadLine,
    answer_stream,
    open_lines,
    print_json,
    refuse_path,
)
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, JsonObject, Tool, ToolCall, to_json
from callwright.repair.gate import Gate, Refusal
from callwright.schema.violations import find_nearest
from callwright.tools.lists.tools import tool_from_wire, tools_from_wire

_MOST_NAMED = 8  # tools in a message
_FORMS = (
    '{"tool": …, "arguments": {…}}, or a call as OpenAI, Anthropic or the Responses API write it '
    '({"function": {"name", "arguments"}}, {"type": "tool_use", …}, {"tool_calls": […]})'
)


def check_lines(name: str | None, sources: Sequence[str]) -> int:
    """``{"id", "tool", "arguments"}`` -> ``{"id", "accepted", "arguments", "edits",
    "violations"}``, for each line of a file or of standard input; the exit code, 1 as soon as one
    call is refused. Raises ConfigError.

    ``tool`` is a tool definition in OpenAI style, or the name of one that ``tools`` in the same
    line or ``--tools`` on the command line defines. ``arguments`` is an object or text. A line may
    be a call in the form of a provider instead.
    """
    gates: dict[str, Gate] = {}
    with open_lines(name) as lines:
        known = {t.name: t for t in load_tools(sources)}
        return answer_stream(
            lambda row: check_row(row, known, gates),
            lines,
            is_rejected=lambda answer: not answer["accepted"],
        ).exit_code


def check_one(text: str | None, sources: Sequence[str]) -> int:
    """Check what is given on the command line; exit code 0 if it is accepted, 1 if it is refused.

    Raises ConfigError for what is no call.
    """
    if text is None:
        raise ConfigError(
            "check needs a call",
            hint='callwright check \'{"tool": …, "arguments": …}\' --tools SOURCE',
        )
    row = _parse_row(text)
    try:
        answer = check_row(row, {t.name: t for t in load_tools(sources)}, {})
    except BadLine as exc:
        raise ConfigError(str(exc)) from None
    print_json(answer)
    return 0 if answer["accepted"] else 1


def _parse_row(text: str) -> JsonObject:
    """Return the given text as an object; a list of calls becomes the calls of a message. Raises
    ConfigError.
    """
    try:
        row = parse(sys.stdin.buffer.read() if text == "-" else text)
    except JsonError as error:
        refuse_path(text, "check", "CALL is the call itself, as JSON")
        raise ConfigError(
            f"the call is not JSON: {error}",
            hint=f"write it as {_FORMS}; callwright refine reads the other formats of models too",
        ) from None
    if isinstance(row, list):
        return {"tool_calls": row}
    if not isinstance(row, dict):
        raise ConfigError("the call must be a JSON object", hint=f"write it as {_FORMS}")
    return row


def check_row(row: JsonObject, known: Mapping[str, Tool], gates: dict[str, Gate]) -> JsonObject:
    """The answer for the call of a row; for several, whether all are ``accepted``, and each one's
    under ``calls``.

    ``gates`` caches compiled schemas by tool digest. Raises BadLine, CatalogError.
    """
    if "tool" in row:
        if "arguments" not in row or not isinstance(row["arguments"], dict | str):
            raise BadLine('"arguments" must be an object or a text')
        tool = _find_tool(row["tool"], row, known)
        return _build_verdict(tool, row["arguments"], gates)
    calls = _read_calls(row)
    answers = [
        _build_verdict(_find_tool(call.tool, row, known), call.arguments, gates) for call in calls
    ]
    if len(answers) == 1:
        return answers[0]
    listed = [{"tool": call.tool, **answer} for call, answer in zip(calls, answers, strict=True)]
    return {"accepted": all(answer["accepted"] for answer in answers), "calls": listed}


def _read_calls(row: JsonObject) -> tuple[ToolCall, ...]:
    """The calls of a row in the form of a provider."""
    from callwright.repair.reading import (
        read_source,  # a room that a call in our own form does without
    )

    try:
        found = read_source(row, ()).calls
    except ConfigError as error:
        raise BadLine(f"{error.message}; write {_FORMS}") from None
    if not found:
        raise BadLine(f"there is no call in this: write {_FORMS}")
    return found


def _build_verdict(tool: Tool, given: Json, gates: dict[str, Gate]) -> JsonObject:
    if tool.digest not in gates:
        gates[tool.digest] = Gate([tool])
    verdict = gates[tool.digest].check(ToolCall("", tool.name, given))
    refused = isinstance(verdict, Refusal)
    arguments = verdict.arguments
    return {
        "accepted": not refused,
        "arguments": given if arguments is None else arguments,
        "edits": to_json(verdict.edits),
        "violations": (
            [
                {"path": v.path, "keyword": v.keyword or v.kind, "message": v.message}
                for v in verdict.violations
            ]
            if isinstance(verdict, Refusal)
            else []
        ),
    }


def _find_tool(given: Json, row: JsonObject, known: Mapping[str, Tool]) -> Tool:
    if isinstance(given, dict):
        return tool_from_wire(given)
    if not isinstance(given, str):
        raise BadLine('"tool" must be a tool definition or a tool name')
    listed = (
        {t.name: t for t in tools_from_wire(row["tools"])}
        if isinstance(row.get("tools"), list)
        else {}
    )
    found = listed.get(given) or known.get(given)
    if found is None:
        near = find_nearest(given, [*listed, *known])
        if near:
            raise BadLine(f'there is no tool "{given}"; did you mean "{near}"?')
        if listed or known:
            names = ", ".join([*listed, *known][:_MOST_NAMED])
            raise BadLine(f'there is no tool "{given}"; tools: {names}')
        raise BadLine(
            f'there is no tool "{given}": give its definition as "tool", a "tools" list, or --tools'
        )
    return found
