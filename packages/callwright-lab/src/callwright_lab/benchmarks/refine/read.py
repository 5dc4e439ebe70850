"""Readers: what a user would get out of the same reply. The baseline, its rivals, and our rule
groups one above the other.

``server`` is what the server handed over as tool calls; ``stripped`` is the baseline of every
figure: fences and tags taken off, the rest parsed strictly; ``json_repair`` hands the text to
json-repair and reads what comes; ``parsed`` is our parser alone; ``rules``, ``sequence`` and
``model`` are the rule groups and the refiner, each with those below it; ``adapter`` is the refiner
without them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from callwright.agent.leading.forms import read_guided_calls
from callwright.jsontext import JsonError, parse
from callwright.nouns.errors import MissingExtra
from callwright.nouns.types import Json, JsonObject, ToolCall
from callwright.parsing import parse_calls
from callwright.proxy.session.answers.native import NativeCalls
from callwright_lab.benchmarks.refine.guided import MODE as GUIDED
from callwright_lab.benchmarks.refine.task import Found, Recorded, Task

Reader = Callable[[Recorded, Task], Found]

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>|^.*?</think(?:ing)?>", re.S)
_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\n(.*?)(?:```|\Z)", re.S)
_SAID = re.compile(r"<response>.*?(?:</response>|\Z)", re.S)
_TAG = re.compile(r"</?[A-Za-z_|][\w|:-]*>|\[/?TOOL_CALLS\]|^(?:functools|Action:)", re.M)
_NAMES = ("name", "tool", "api_name", "function")
_ARGUMENTS = ("arguments", "parameters", "input", "args")


def read_server_calls(reply: Recorded, task: Task) -> Found:  # noqa: ARG001
    """The calls of the message's ``tool_calls``, their arguments strictly parsed; the text is
    handed on as it is.
    """
    calls = []
    for number, item in enumerate(reply.message.get("tool_calls") or (), 1):
        function = item.get("function") or {}
        arguments = function.get("arguments", "")
        made = _build_call(number, str(function.get("name", "")), parse_strict_object(arguments))
        calls.append(ToolCall(str(item.get("id") or ""), made.tool, made.arguments))
    return Found(tuple(calls), reply.text)


def gather_native_calls(reply: Recorded) -> tuple[ToolCall, ...]:
    """The server's calls as our proxy gathers them: whole, or from deltas however badly
    numbered.
    """
    gathered = NativeCalls()
    gathered.add_message(reply.message)
    return tuple(call.call() for call in gathered.calls)


def read_stripped_json(reply: Recorded, task: Task) -> Found:
    """The server's calls, or else those in the text once thoughts, fences and tags are gone: each
    piece, or each of its lines, must be strict JSON, an object with a name and arguments or a list
    of such objects.
    """
    calls = list(read_server_calls(reply, task).calls)
    if not calls:
        text = _SAID.sub("", _THOUGHT.sub("", reply.text))
        for piece in _FENCE.findall(text) or [text]:
            calls += _parse_strict_calls(_TAG.sub("", piece).strip(), len(calls))
    return Found(tuple(calls))


def read_repaired_json(reply: Recorded, task: Task) -> Found:
    """json-repair on what the baseline would parse: the library alone, nothing known of tools."""
    try:
        import json_repair
    except ImportError:
        raise MissingExtra("the reader 'json_repair'", "bench", "callwright-lab") from None
    calls = list(read_server_calls(reply, task).calls)
    if not calls:
        text = _TAG.sub("", _SAID.sub("", _THOUGHT.sub("", reply.text)))
        value: Any = json_repair.loads(text)
        calls += extract_shaped_calls(value, 0)
    return Found(tuple(calls))


def read_parsed_calls(reply: Recorded, task: Task) -> Found:
    """Our parser alone: every dialect, nothing refined."""
    given = gather_native_calls(reply) or _read_guided_calls(reply, task)
    return Found(given or parse_calls(reply.text, task.tools).calls)


def _read_guided_calls(reply: Recorded, task: Task) -> tuple[ToolCall, ...]:
    """The calls of a reply that was held to guided mode's own schema."""
    if reply.mode != GUIDED:
        return ()
    return read_guided_calls(reply.text, {t.name for t in task.tools}) or ()


def make_refiner_reader(*names: str) -> Reader:
    """The refiner with these rule groups, without a model."""

    def read(reply: Recorded, task: Task) -> Found:
        from callwright.repair.refinement import refine
        from callwright.repair.result import Settings

        source: str | Mapping[str, Any] | tuple[ToolCall, ...]
        source = (
            reply.message
            if reply.message.get("tool_calls")
            else _read_guided_calls(reply, task) or reply.text
        )
        settings = Settings(leave_out=reply.mode == GUIDED)
        made = refine(
            source,
            task.tools,
            query=task.query,
            messages=task.messages,
            rule_groups=names,
            settings=settings,
        )
        refused = tuple(v.message for v in made.violations)
        reported = tuple(a.reason for a in made.abstained) + refused
        return Found(made.calls, "", made.edits, reported, made.confidence, refused=refused)

    return read


READERS: Mapping[str, Reader] = {
    "server": read_server_calls,
    "stripped": read_stripped_json,
    "json_repair": read_repaired_json,
    "parsed": read_parsed_calls,
    "rules": make_refiner_reader("rules"),
    "sequence": make_refiner_reader("rules", "sequence"),
}
BASELINE = "stripped"


def read_timed(reader: Reader, reply: Recorded, task: Task) -> Found:
    """Return the findings of ``reader`` with the seconds they took: processor time plus the time
    spent waiting for a model.
    """
    started = time.thread_time()
    found = reader(reply, task)
    return replace(found, seconds=found.seconds + time.thread_time() - started)


def _build_call(number: int, name: str, arguments: JsonObject | str) -> ToolCall:
    return ToolCall(f"call_{number}", name, arguments)


def parse_strict_object(arguments: Json) -> JsonObject | str:
    """An object, or the one that a text strictly is; any other text stays one."""
    if isinstance(arguments, dict):
        return arguments
    try:
        value = parse(str(arguments))
    except JsonError:
        return str(arguments)
    return value if isinstance(value, dict) else str(arguments)


def _parse_strict_calls(text: str, before: int) -> list[ToolCall]:
    """The calls of one piece: the whole of it as one value, else every line that is one."""
    try:
        return extract_shaped_calls(parse(text), before)
    except JsonError:
        calls: list[ToolCall] = []
        for line in text.splitlines():
            try:
                calls += extract_shaped_calls(parse(line), before + len(calls))
            except JsonError:
                continue
        return calls


def extract_shaped_calls(value: Json, before: int) -> list[ToolCall]:
    """The calls a JSON value plainly is; nothing of any other shape."""
    calls: list[ToolCall] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        inner = item["function"] if isinstance(item.get("function"), dict) else item
        name = next((inner[k] for k in _NAMES if isinstance(inner.get(k), str)), None)
        key = next((k for k in _ARGUMENTS if k in inner), None)
        if name is not None and key is not None:
            number = before + len(calls) + 1
            label = item.get("label")
            made = _build_call(number, name, parse_strict_object(inner[key]))
            calls.append(
                ToolCall(str(label).strip("$"), made.tool, made.arguments) if label else made
            )
    return calls
