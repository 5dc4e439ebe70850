"""Scripted models: one that does every task right, and one that is careless in a known way.

Both are state machines over the messages of a request. They know the task; what was done they read
from the conversation alone, as a model does: the calls since the request, and nothing else.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.jsontext import JsonError, parse, write
from callwright.nouns.types import Json, JsonObject, to_canonical_json
from callwright_lab.benchmarks.agents.judge import list_writes, make_key
from callwright_lab.benchmarks.agents.task_set import TaskSet
from callwright_lab.benchmarks.agents.tasks import Call, Task

Style = Literal["right", "careless"]
Fault = Literal["", "invent", "option", "repeat", "empty", "ghost"]
STYLES: tuple[Style, ...] = ("right", "careless")
_SPOILED: Mapping[str, JsonObject] = {
    "create_order": {"priority": "express"},
    "create_ticket": {"priority": "high"},
    "create_event": {"attendee": "guest@example.com"},
    "add_reminder": {"repeat": "daily"},
    "add_appointment": {"duration_minutes": 90},
}
"""Tool -> an optional argument that nobody asked for."""
_WRITTEN_CALLS = re.compile(r"Calling tools:\s*(\[.*\])", re.DOTALL)  # as smolagents shows them
_REPEATED_BY_PROXY = "The request was:"
_UNDONE = "I could not do this: no tool that I may use now does it."
GHOST = "look_up_everything"
_FINAL = "final_answer"  # smolagents' own tool: the loop ends by calling it


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """The answer of a scripted model: words, or calls."""

    text: str = ""
    calls: tuple[Call, ...] = ()


def pick_fault(task: Task) -> Fault:
    """The fault of a careless model in a task. The id alone decides.

    ``invent``: it makes a call that nobody asked for; ``option``: it adds an optional argument
    that nobody said; ``repeat``: it makes each write once more after it succeeded; ``empty``: it
    answers ``{}`` after results; ``ghost``: it begins with a tool that does not exist.
    """
    if task.careless:
        return "invent"
    writes, number = list_writes(task), task.task_set.hash_id(f"{task.id}-fault")
    if not writes:
        return "ghost" if number % 2 else "empty"
    may_spoil = any(_spoil_call(call) != call for call in writes)
    return "option" if may_spoil and number % 3 == 0 else "repeat"


def script_steps(task: Task, style: Style) -> tuple[tuple[Call, ...], ...]:
    """The calls that a scripted model makes in a task, those of a step in one reply."""
    fault = pick_fault(task) if style == "careless" else ""
    if fault == "invent":
        return (*task.steps, task.careless)
    if fault == "repeat":
        return (*task.steps, tuple(list_writes(task)))
    if fault == "option":
        return tuple(tuple(_spoil_call(call) for call in step) for step in task.steps)
    return task.steps


def _spoil_call(call: Call) -> Call:
    extra = _SPOILED.get(call.tool, {})
    return call if set(extra) & set(call.arguments) else Call(call.tool, call.arguments | extra)


def reply_to(task: Task, style: Style, body: JsonObject) -> ScriptedReply:
    """The reply to the body of a chat completion.

    Only tools that the request offers are called, but for :data:`GHOST`. A request without tools
    is answered in words, one that holds the reply to a JSON schema in that form.
    """
    messages = _get_messages(body)
    start = _find_request(task, messages)
    schema = _get_schema(body)
    offered = _list_offered(body, schema)
    if start is None:
        return _answer_stranger(body, schema, offered)
    if schema is not None and "needed" in schema.get("properties", {}):
        steps = script_steps(task, style)
        needed = dict.fromkeys(call.tool for step in steps for call in step)
        return ScriptedReply(write({"needed": [*needed]}).decode())
    if schema is not None and "statements" in schema.get("properties", {}):
        is_done = _shows_calls(_read_text(messages[-1]), task.steps)
        said: JsonObject = {"statements": [{"text": task.answer, "results": []}], "missing": []}
        undone: JsonObject = {"statements": [], "missing": [_UNDONE]}
        return ScriptedReply(write(said if is_done else undone).decode())
    made = Counter(make_key(c, task.task_set) for c in _iter_made_calls(messages[start:]))
    waiting = _find_next_step(task.task_set, script_steps(task, style), made)
    calls = tuple(call for call in waiting if call.tool in offered)
    if offered and not made and style == "careless" and pick_fault(task) == "ghost":
        calls = (Call(GHOST, {"query": task.request}), *calls)
    if body.get("parallel_tool_calls") is False:
        calls = calls[:1]
    text = _write_answer(task, style, made, bool(offered))
    if schema is not None:
        return ScriptedReply(_fill_schema(schema, calls, text))
    if not calls and _FINAL in offered:
        return ScriptedReply(calls=(Call(_FINAL, {"answer": text}),))
    return ScriptedReply("" if calls else text, calls)


def _write_answer(task: Task, style: Style, made: Counter[str], has_tools: bool) -> str:
    """The words that end a job. Who has to speak before gold is done, says so: to claim it would
    be wrong.
    """
    fault = pick_fault(task) if style == "careless" else ""
    if fault == "empty" and made and has_tools:
        return "{}"
    if fault == "invent" and any(make_key(call, task.task_set) in made for call in task.careless):
        return "Done."
    is_done = fault == "option" or not _find_next_step(task.task_set, task.steps, made)
    return task.answer if is_done else _UNDONE


def _shows_calls(summary: str, steps: Iterable[Sequence[Call]]) -> bool:
    """Return True if a summary of results tells of every call of these steps."""
    wanted = Counter(call.tool for step in steps for call in step)
    told = Counter(re.findall(r"^r\d+: ([\w.-]+)\(", summary, re.MULTILINE))
    return not wanted - told


def _find_next_step(
    task_set: TaskSet, steps: Iterable[Sequence[Call]], made: Counter[str]
) -> tuple[Call, ...]:
    """The calls of the first step that were not all made; each call that was made counts once."""
    left = Counter(made)
    for step in steps:
        waiting = []
        for call in step:
            if left[make_key(call, task_set)]:
                left[make_key(call, task_set)] -= 1
            else:
                waiting.append(call)
        if waiting:
            return tuple(waiting)
    return ()


def _get_messages(body: JsonObject) -> list[JsonObject]:
    found = body.get("messages")
    return [m for m in found if isinstance(m, dict)] if isinstance(found, list) else []


def _read_text(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _find_request(task: Task, messages: Sequence[JsonObject]) -> int | None:
    """Where the task's request stands: what comes after it belongs to it. A question of the proxy
    may repeat it.
    """
    places = [place for place, message in enumerate(messages) if _is_request(task, message)]
    return places[-1] if places else None


def _is_request(task: Task, message: JsonObject) -> bool:
    text = _read_text(message) if message.get("role") == "user" else ""
    return task.request in text and not text.startswith(_REPEATED_BY_PROXY)


def _iter_made_calls(messages: Iterable[JsonObject]) -> Iterable[Call]:
    """The calls of the assistant's messages, native or as smolagents writes them."""
    for message in messages:
        if message.get("role") != "assistant":
            continue
        rows = message.get("tool_calls") or _read_written_calls(_read_text(message))
        for row in rows:
            function = row["function"]
            yield Call(function["name"], _read_arguments(function["arguments"]))


def _read_written_calls(text: str) -> list[JsonObject]:
    match = _WRITTEN_CALLS.search(text)
    try:
        found = ast.literal_eval(match[1]) if match else []
    except (ValueError, SyntaxError):
        return []
    return found if isinstance(found, list) else []


def _read_arguments(value: Json) -> JsonObject:
    try:
        found = parse(value) if isinstance(value, str) else value
    except JsonError:
        return {}
    return found if isinstance(found, dict) else {}


def _get_schema(body: JsonObject) -> JsonObject | None:
    form = body.get("response_format")
    named = form.get("json_schema") if isinstance(form, dict) else None
    return named.get("schema") if isinstance(named, dict) else None


def _list_offered(body: JsonObject, schema: JsonObject | None) -> list[str]:
    """The tools of a request, or those that its schema names as constants."""
    if body.get("tool_choice") == "none":
        return []
    named = [row["function"]["name"] for row in body.get("tools") or ()]
    return named or list(_iter_constants(schema))


def _iter_constants(schema: Json) -> Iterable[str]:
    parts = schema if isinstance(schema, list) else []
    if isinstance(schema, dict):
        for key in ("name", "tool"):
            found = schema.get(key)
            if isinstance(found, dict) and "const" in found:
                yield found["const"]
            elif isinstance(found, dict):
                yield from found.get("enum", ())
        parts = [*schema.values()]
    for part in parts:
        yield from _iter_constants(part)


def _answer_stranger(
    body: JsonObject, schema: JsonObject | None, offered: Sequence[str]
) -> ScriptedReply:
    """The reply to a question that is not the task's: a probe of what the endpoint can do."""
    if schema is not None:
        return ScriptedReply(_fill_schema(schema, (), ""))
    if not offered:
        return ScriptedReply("Hello.")
    parameters = body["tools"][0]["function"].get("parameters", {})
    return ScriptedReply(calls=(Call(offered[0], _build_instance(parameters)),))


def _fill_schema(schema: JsonObject, calls: Sequence[Call], text: str) -> str:
    """A document of a schema: the calls where it has room for calls, else the words."""
    branches = [part for part in schema.get("anyOf", [schema]) if isinstance(part, dict)]
    wanted = (
        ("calls", "tool_calls") if calls else ("no_call", "statements", "final_answer", "answer")
    )
    chosen = next(
        (b for b in branches for key in wanted if key in b.get("properties", {})), branches[-1]
    )
    made = _build_instance(chosen)
    rows: list[Json] = [{"name": c.tool, "arguments": c.arguments} for c in calls]
    values: dict[str, Json] = {
        "calls": rows,
        "tool_calls": rows,
        "wishes": [to_canonical_json(row) for row in rows],
        "no_call": text[:120],
        "final_answer": "" if text == _UNDONE else text,  # who has nothing to say is asked again
        "answer": text,
        "text": text,
    }
    if not isinstance(made, dict):
        return write(made).decode()
    filled = {key: values.get(key, value) for key, value in made.items()}
    if "statements" in filled:
        filled["statements"] = [{"text": text, "results": []}]
    return write(filled).decode()


def _build_instance(schema: Json) -> Json:
    """The smallest value of a schema."""
    if not isinstance(schema, dict):
        return None
    if "const" in schema or schema.get("enum"):
        return schema["const"] if "const" in schema else schema["enum"][0]
    if schema.get("anyOf"):
        return _build_instance(schema["anyOf"][0])
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if kind == "object":
        required = schema.get("required", [*schema.get("properties", {})])
        return {key: _build_instance(schema["properties"].get(key, {})) for key in required}
    least = schema.get("minItems", 0)
    empty: dict[str, Json] = {
        "array": [_build_instance(schema.get("items", {})) for _ in range(least)],
        "boolean": True,
        "integer": schema.get("minimum", 1),
        "number": schema.get("minimum", 1),
        "null": None,
    }
    return empty.get(kind, "")
