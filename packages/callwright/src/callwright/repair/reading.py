"""Whatever a reply comes as -> its calls and the rest of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, Tool, ToolCall, to_canonical_json
from callwright.parsing.formats.objects import read_label
from callwright.repair.considered_calls import parse_decided_calls

FORMS = (
    "a text, an OpenAI message ({'content', 'tool_calls'}), an Anthropic message ({'content':"
    " [blocks]}), a Responses answer ({'output': [items]}), Gemini's ({'candidates': […]}) or"
    " Bedrock's ({'output': {'message'}}), one tool call or a list of them, or a list of ToolCall"
)

_CALLS = ("tool_use", "function_call")  # types of what is a call in a list of other things
_HOLDERS = ("function", "functionCall", "function_call", "toolUse")  # members that hold a call
_ANSWERS = ("choices", "candidates", "message")  # what holds the message in a whole answer
_CONTENTS = ("output", "content", "parts")  # text or a list; Bedrock and Gemini: what holds it
_MEMBERS = ("role", "tool_calls", "function_call")  # of a message without content


@dataclass(frozen=True, slots=True)
class Reading:
    """Calls in order; ``text`` is what is no call; ``dialect`` how they were written ("native": not
    as text).
    """

    calls: tuple[ToolCall, ...] = ()
    text: str = ""
    dialect: str = ""
    truncated: bool = False
    whole: str = ""  # the text that was read, as it came


def read_source(source: str | Mapping[str, Any] | Sequence[Any], tools: Sequence[Tool]) -> Reading:
    """Read a reply in any of its :data:`FORMS`. Raises ConfigError for anything else.

    A message with calls of its own keeps its text; one without has its text read.
    """
    if isinstance(source, str):
        return _from_text(source, tools)
    if isinstance(source, Mapping):
        return _from_message(source, tools)
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray):
        return Reading(
            tuple(_parse_call(c, i) for i, c in enumerate(source)), "", "native" if source else ""
        )
    raise ConfigError(f"cannot read calls from a {type(source).__name__}", hint=f"give {FORMS}")


def _from_text(text: str, tools: Sequence[Tool]) -> Reading:
    found = parse_decided_calls(text, tools)
    return Reading(found.calls, found.text, found.dialect, found.truncated, text)


def _from_message(message: Mapping[str, Any], tools: Sequence[Tool]) -> Reading:
    reply = _unwrap_answer(message)
    content = next((reply[k] for k in _CONTENTS if isinstance(reply.get(k), str | list)), None)
    if content is None and _is_call(reply):
        return Reading((_parse_call(reply, 0),), "", "native")
    text, blocks = (content, []) if isinstance(content, str) else _split_content(content)
    listed = reply.get("tool_calls")
    native = [*(listed if isinstance(listed, list) else []), *blocks]
    if isinstance(reply.get("function_call"), Mapping):
        native.append(reply["function_call"])
    if native:
        return Reading(tuple(_parse_call(c, i) for i, c in enumerate(native)), text, "native")
    if not any(key in message for key in (*_ANSWERS, *_CONTENTS, *_MEMBERS)):
        raise ConfigError(
            f"there is no call in this and no text: {str(dict(message))[:80]}", hint=f"give {FORMS}"
        )
    return _from_text(text, tools)


def _unwrap_answer(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message in the whole answer of an API, the first of several; a message as it is."""
    for key in (*_ANSWERS, *_CONTENTS):
        inner = answer.get(key)
        if key in _ANSWERS and isinstance(inner, list) and inner:
            inner = inner[0]
        if isinstance(inner, Mapping):
            return _unwrap_answer(inner)
    return answer


def _is_call(item: Mapping[str, Any]) -> bool:
    """Return True if this is one call: as an API marks it, or a plain one."""
    return _is_marked(item) or (
        "name" in item and any(key in item for key in ("arguments", "parameters", "input", "args"))
    )


def _is_marked(item: Mapping[str, Any]) -> bool:
    """Return True if this is a call of ``tool_calls``, a block of Anthropic's or Bedrock's, an item
    of Responses, or a part of Gemini's.
    """
    return item.get("type") in _CALLS or _get_holder(item) is not item


def _get_holder(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """The member of a call that holds its name and arguments; where there is none, the call."""
    return next((item[key] for key in _HOLDERS if isinstance(item.get(key), Mapping)), item)


def _split_content(content: Any) -> tuple[str, list[Any]]:
    """Text and calls of a content list, or of the items of a Responses answer."""
    texts, blocks = [], []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and _is_marked(part):
            blocks.append(part)
        elif isinstance(part, Mapping) and part.get("type") == "message":
            text, inner = _split_content(part.get("content"))
            texts.append(text)
            blocks += inner
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append("" if part.get("thought") else part["text"])  # Gemini marks its thoughts
    return "".join(texts), blocks


def _parse_call(raw: Any, place: int) -> ToolCall:
    """One call in the form of any of the APIs, or a plain one."""
    if isinstance(raw, ToolCall):
        return raw
    if not isinstance(raw, Mapping):
        raise ConfigError(
            f"call {place} is a {type(raw).__name__}, not an object", hint=f"give {FORMS}"
        )
    inner = _get_holder(raw)
    name = next(
        (
            inner[k]
            for k in ("name", "tool", "tool_name", "api_name")
            if isinstance(inner.get(k), str)
        ),
        None,
    )
    if name is None:
        raise ConfigError(
            f"call {place} names no tool: {str(dict(raw))[:80]}", hint=f"give {FORMS}"
        )
    given: Json = next(
        (inner[k] for k in ("arguments", "parameters", "input", "args") if k in inner), None
    )
    if given is None:
        given = {}
    arguments = given if isinstance(given, dict | str) else to_canonical_json(given)
    slot = read_label(dict(raw))
    ids = (part.get(key) for part in (raw, inner) for key in ("call_id", "id", "toolUseId"))
    return ToolCall(
        str(next(filter(None, ids), slot or f"call_{place + 1}")), name, arguments, slot
    )
