"""``callwright refine``: replies of a model made into the calls that were meant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from callwright.cli.opened import load_tools
from callwright.cli.refiner import BlockingRefiner, RefinerSetup, list_warnings
from callwright.cli.terminal.jsonl import (
    BadLine,
    answer_stream,
    open_lines,
    print_json,
    refuse_path,
)
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import CatalogError, ConfigError
from callwright.nouns.types import JsonObject, Message, ToolCall, to_json
from callwright.repair.refinement import refine
from callwright.repair.result import Settings
from callwright.tools.lists.tools import tool_to_openai, tools_from_wire

_SOURCES = ("text", "message", "tool_calls")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Settings for refining replies: removal of unsupported optional values, the rule groups, and
    the refiner.
    """

    leave_out: bool = False
    rule_groups: Sequence[str] = ("rules", "sequence")
    refiner: RefinerSetup = field(default_factory=RefinerSetup)

    @contextmanager
    def opened(self) -> Iterator[Callable[[JsonObject], JsonObject]]:
        """Yield the function that refines a row. Raises ConfigError for an unknown rule group or
        prompt.
        """
        settings = Settings(leave_out=self.leave_out)
        refine(
            "", (), rule_groups=self.rule_groups
        )  # names a rule group that there is not, once and not with every line
        asked = self.refiner.build_settings()
        if asked is None:
            yield lambda row: refine_row(row, settings, self.rule_groups)
            return
        for said in list_warnings(asked):
            print(f"warning: {said}", file=sys.stderr)
        with BlockingRefiner(self.refiner.open_model(), asked) as refiner:
            yield lambda row: refine_row(row, settings, self.rule_groups, refiner)


def refine_one(text: str | None, sources: Sequence[str], query: str, pipeline: Pipeline) -> int:
    """Refine one reply: as a model wrote it, a message or call of an API, or a row as
    :func:`refine_lines` takes it.

    ``-`` reads it from standard input. Returns 0, or 1 where a call still breaks its schema. Raises
    ConfigError.
    """
    if text is None:
        hint = "callwright refine 'REPLY' --tools SOURCE, or --jsonl for a stream"
        raise ConfigError("refine needs a reply, or --jsonl", hint=hint)
    refuse_path(text, "refine", "REPLY is the text of a reply")
    row = _parse_row(_read_stdin() if text == "-" else text)
    row = _load_defaults(() if "tools" in row else sources, query) | row
    if "tools" not in row:
        raise ConfigError(
            "refine needs the tools that the reply may call",
            hint='--tools SOURCE, or "tools" in the row',
        )
    with pipeline.opened() as refined:
        try:
            answer = refined(row)
        except BadLine as error:
            raise ConfigError(str(error)) from None
    print_json(answer)
    return 1 if answer["violations"] else 0


def _read_stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise ConfigError("standard input is not UTF-8", hint="save the reply as UTF-8") from None


def _parse_row(text: str) -> JsonObject:
    """A row as it is; anything else as what a row holds."""
    try:
        given = parse(text)
    except JsonError:
        return {"text": text}
    if isinstance(given, list):
        return {"tool_calls": given}
    if not isinstance(given, dict):
        return {"text": text}
    return (
        dict(given) if any(given.get(key) is not None for key in _SOURCES) else {"message": given}
    )


def _load_defaults(sources: Sequence[str], query: str) -> JsonObject:
    """The tools and the request of a row that has none of its own."""
    tools = [tool_to_openai(tool) for tool in load_tools(sources)]
    return {"query": query, "tools": tools} if sources else {"query": query}


def refine_lines(name: str | None, sources: Sequence[str], query: str, pipeline: Pipeline) -> int:
    """``{"id", "text" | "message" | "tool_calls", "tools"?, "query"?}`` -> ``{"id", "tool_calls", "text", "edits",
    "dialect", "violations", "abstained", "confidence"}``, for each line of a file or of standard
    input. Returns the exit code, 1 where a call of any line still breaks its schema. Raises
    ConfigError.

    ``sources`` and ``query`` count for lines without tools or request. A call that bears a label
    (NESTFUL, NesTools) keeps it as "label". ``messages`` (OpenAI style, the conversation before the
    reply) may stand beside or instead of ``query``. A line that the refiner cannot be asked
    about is answered with an error.
    """
    with open_lines(name) as lines:
        defaults = _load_defaults(sources, query)
        with pipeline.opened() as refined:
            return answer_stream(
                lambda row: refined(defaults | row),
                lines,
                is_rejected=lambda answer: bool(answer["violations"]),
            ).exit_code


def refine_row(
    row: JsonObject,
    settings: Settings,
    rule_groups: Sequence[str],
    refiner: BlockingRefiner | None = None,
) -> JsonObject:
    """The answer for one reply. Raises BadLine for a row that is not of the form above."""
    given = [k for k in _SOURCES if row.get(k) is not None]
    if not given:
        raise BadLine('the line needs "text", "message" or "tool_calls"')
    source = _get_source(row, given[0])
    query = row.get("query") or ""
    if not isinstance(query, str):
        raise BadLine('"query" must be a text')
    if not isinstance(row.get("tools"), list | dict):
        raise BadLine(
            '"tools" must be a list of tool definitions; --tools names those of all lines'
        )
    try:
        tools = tools_from_wire(row["tools"]) if row["tools"] else ()
        found = refine(
            source,
            tools,
            query=query,
            messages=_read_messages(row),
            rule_groups=rule_groups,
            settings=settings,
        )
    except (CatalogError, ConfigError) as error:
        raise BadLine(error.message) from None
    if refiner is not None:
        said, thoughts = _split_reply(source)
        system = "\n".join(
            m.content for m in _read_messages(row, system=True) if m.role == "system"
        )
        found = refiner.refine(
            found, said, tools, query or _join_conversation(row), system=system, thoughts=thoughts
        )
    return {
        "tool_calls": [_serialize_call(call) for call in found.calls],
        "text": found.text,
        "edits": to_json(found.edits),
        "dialect": found.dialect,
        "violations": [v.to_dict() for v in found.violations],
        "abstained": to_json(found.abstained),
        "confidence": found.confidence,
    }


def _serialize_call(call: ToolCall) -> JsonObject:
    """A call; with its label where the reply gave calls labels, for other calls' arguments refer to
    it.
    """
    label = {"label": call.slot} if call.slot else {}
    return {"name": call.tool, "arguments": call.arguments, **label}


def _get_source(row: JsonObject, key: str) -> Any:
    source = row[key]
    if key == "text" and not isinstance(source, str):
        raise BadLine('"text" must be a text')
    if key == "message" and not isinstance(source, dict):
        raise BadLine('"message" must be an object')
    if key == "tool_calls" and not isinstance(source, list):
        raise BadLine('"tool_calls" must be a list')
    return source


def _split_reply(source: Any) -> tuple[str, str]:
    """Return the text of the reply as written, and the thoughts before it."""
    if isinstance(source, dict):
        return str(source.get("content") or ""), str(
            source.get("reasoning_content") or source.get("reasoning") or ""
        )
    return (source if isinstance(source, str) else ""), ""


def _join_conversation(row: JsonObject) -> str:
    """The request of a row that gives it as a conversation: all that was said, each turn by its
    role.
    """
    return "\n".join(f"{m.role.upper()}: {m.content}" for m in _read_messages(row))


def _read_messages(row: JsonObject, system: bool = False) -> tuple[Message, ...]:
    """The conversation; what is no text in it says nothing that a value could come from."""
    listed = row.get("messages") or []
    if not isinstance(listed, list):
        raise BadLine('"messages" must be a list')
    found = [m for m in listed if isinstance(m, dict) and isinstance(m.get("content"), str)]
    roles = {"system", "user", "assistant", "tool"}
    return tuple(
        Message(m["role"], m["content"])
        for m in found
        if m.get("role") in roles and (system or m["role"] != "system")
    )
