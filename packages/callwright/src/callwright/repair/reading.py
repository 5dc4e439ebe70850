"""Whatever a reply comes as -> its calls and the rest of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.nouns.errors import ConfigError
from callwright.nouns.types import Json, Tool, ToolCall, to_canonical_json
from callwright.parsing import parse_calls
from callwright.parsing.formats.objects import read_label

FORMS = (
    "a text, an OpenAI message ({'content', 'tool_calls'}), an Anthropic message ({'content':"
    " [blocks]}), a Responses answer ({'output': [items]}), one tool call or a list of them, or a"
    " list of ToolCall"
)

_CALLS = ("tool_use", "function_call")  # types of what is a call in a list of other things


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
    found = parse_calls(text, tools)
    return Reading(found.calls, found.text, found.dialect, found.truncated, text)


def _from_message(message: Mapping[str, Any], tools: Sequence[Tool]) -> Reading:
    if isinstance(message.get("choices"), list) and message["choices"]:
        return _from_message(message["choices"][0].get("message") or {}, tools)
    if isinstance(message.get("message"), Mapping):
        return _from_message(message["message"], tools)
    if _is_call(message):
        return Reading((_parse_call(message, 0),), "", "native")
    content = (
        message["output"] if isinstance(message.get("output"), list) else message.get("content")
    )
    text, blocks = (content, []) if isinstance(content, str) else _split_content(content)
    listed = message.get("tool_calls")
    native = [*(listed if isinstance(listed, list) else []), *blocks]
    if isinstance(message.get("function_call"), Mapping):
        native.append(message["function_call"])
    if native:
        return Reading(tuple(_parse_call(c, i) for i, c in enumerate(native)), text, "native")
    return _from_text(text, tools)


def _is_call(item: Mapping[str, Any]) -> bool:
    """Return True if this is one call: of ``tool_calls``, a block of Anthropic's, an item of
    Responses, or a plain one.
    """
    if isinstance(item.get("function"), Mapping) or item.get("type") in _CALLS:
        return True
    return "name" in item and any(
        key in item for key in ("arguments", "parameters", "input", "args")
    )


def _split_content(content: Any) -> tuple[str, list[Any]]:
    """Text and calls of a content list, or of the items of a Responses answer."""
    texts, blocks = [], []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type") in _CALLS:
            blocks.append(part)
        elif isinstance(part, Mapping) and part.get("type") == "message":
            text, inner = _split_content(part.get("content"))
            texts.append(text)
            blocks += inner
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "".join(texts), blocks


def _parse_call(raw: Any, place: int) -> ToolCall:
    """One call in OpenAI's, Anthropic's or a plain form."""
    if isinstance(raw, ToolCall):
        return raw
    if not isinstance(raw, Mapping):
        raise ConfigError(
            f"call {place} is a {type(raw).__name__}, not an object", hint=f"give {FORMS}"
        )
    inner = raw["function"] if isinstance(raw.get("function"), Mapping) else raw
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
    return ToolCall(
        str(raw.get("call_id") or raw.get("id") or slot or f"call_{place + 1}"),
        name,
        arguments,
        slot,
    )
