"""Calls and results that a client tells as text, not as ``tool_calls`` and tool messages.

ReAct's agents (Yao et al. 2022) write a call into the assistant's text, in one of many formats, and
its result as the user's next turn, behind ``Observation:``. smolagents does so with its history
even where it offers native tools (``memory.py``: ``Calling tools:`` over a list, ``Call id: ID``
and ``Error:`` for what failed, and for a reply without a call; ``New task:`` over the user's
words). Read as words, such a history holds no call at all, and every result would be a new wish of
the user.

A client that trims a conversation may leave a result without its call
(:func:`callwright.proxy.session.history.pair_messages`). A write whose result tells its arguments was
made with these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from callwright.agent.fold import LOST
from callwright.jsontext import JsonError, parse, parse_object, write
from callwright.models.chat import messages_out
from callwright.nouns.types import Json, Message, Tool, ToolCall
from callwright.parsing import parse_calls
from callwright.proxy.session.media import holds_media
from callwright.proxy.session.told_prompt import read_told_prompt
from callwright.proxy.session.turns import wrap_reminder
from callwright.tools.lists import chat_messages as chat

_CALLS, _TASK = "Calling tools:", "New task:\n"
_RETRY = "Now let's retry"  # ends what smolagents says of a reply that it could not use
_LOST_RESULT = re.compile(rf"{LOST} of (?P<tool>.+?):\s*(?P<content>.*)", re.DOTALL)
_RESULT = re.compile(r"\s*(?:Call id: \S+\n)?(Observation|Error):[ \t]*\n?")


def read_told_calls(messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[Message, ...]:
    """The conversation with such turns as calls and results, and the system prompt of such a loop
    as its author's instructions. Where it is not known which part of a result is whose, each of
    several calls has all of it. A result without its call has that again where it tells it.
    """
    read = [message for turn in _iter_turns(messages, tools) for message in turn]
    return tuple(m for place, one in enumerate(read) for m in _restore_call(one, place, tools))


def _restore_call(message: Message, place: int, tools: Sequence[Tool]) -> tuple[Message, ...]:
    """A result without its call, behind that call where it surely tells it: it is of a tool that
    declares to write, and holds all required arguments under their names. Else itself.
    """
    found = _LOST_RESULT.fullmatch(message.content) if message.role == "user" else None
    if found is None:
        return (message,)
    writes = {tool.name: tool for tool in tools if tool.effects.declares_write}
    needed = writes[found["tool"]].required if found["tool"] in writes else ()
    told = parse_object(found["content"])
    if not needed or not isinstance(told, dict) or not told.keys() >= {*needed}:
        return (message,)
    call = ToolCall(f"lost_{place}", found["tool"], {key: told[key] for key in needed})
    result = Message("tool", found["content"], tool_call_id=call.id)
    return Message("assistant", "", (call,)), result


def write_told_calls(messages: Sequence[Json], tools: Sequence[Tool]) -> list[Json]:
    """The same of the messages of a request: those that tell neither, or show more than text, stay
    as they are.
    """
    read = [(place, one) for place, raw in enumerate(messages) for one in _read_message(raw)]
    turns = _iter_turns([message for _, message in read], tools)
    changed = {
        place: messages_out(turn)
        for (place, message), turn in zip(read, turns, strict=True)
        if (len(turn) != 1 or turn[0] is not message) and not holds_media([messages[place]])
    }
    made: list[Json] = []
    for place, raw in enumerate(messages):
        made += changed.get(place, [raw])
    return made


def _read_message(raw: Json) -> tuple[Message, ...]:
    return chat.read_messages({"messages": [raw]})


def _iter_turns(
    messages: Sequence[Message], tools: Sequence[Tool]
) -> Iterator[tuple[Message, ...]]:
    """For each message what it is read as: itself where it tells nothing as text."""
    calls: tuple[ToolCall, ...] = ()  # of the turn before, which told them as text
    has_told = is_told = False
    for place, message in enumerate(messages):
        told = _match_result(message)
        if told is not None and calls:
            parts = _split_results(_read_result(message, told), len(calls))
            yield tuple(
                Message("tool", part, tool_call_id=call.id)
                for call, part in zip(calls, parts, strict=True)
            )
            calls, has_told = (), True
            continue
        is_own = told is not None and (told[1] != "Error" or _RETRY in message.content)
        if is_own and has_told:  # the client's own words, and no new turn
            yield (replace(message, content=wrap_reminder(message.content)),)
            continue
        calls = ()
        if message.role == "system":
            turn = _read_system(message)
            is_told = is_told or turn != (message,)
            yield turn
            continue
        if is_told and message.role == "user" and message.content.startswith(_TASK):
            yield (replace(message, content=message.content.removeprefix(_TASK)),)
            continue
        behind = messages[place + 1] if place + 1 < len(messages) else None
        if behind is not None and _match_result(behind) is not None:
            message = _read_calls(message, place, tools)
            calls = message.tool_calls if message is not messages[place] else ()
        yield (message,)


def _read_result(message: Message, told: re.Match[str]) -> str:
    content = message.content[told.end() :].strip()
    return content if told[1] == "Observation" else write({"error": content}).decode()


def _split_results(content: str, number: int) -> list[str]:
    """The results of several calls, which smolagents joins by lines; all of it for each call where
    the lines are not surely theirs.
    """
    lines = content.split("\n")
    is_sure = len(lines) == number and all(map(_is_json, lines))
    return lines if is_sure else [content] * number


def _is_json(text: str) -> bool:
    try:
        parse(text)
    except JsonError:
        return False
    return True


def _read_calls(message: Message, place: int, tools: Sequence[Tool]) -> Message:
    """A turn of the assistant with the calls that its text tells; itself where it tells none."""
    if message.role != "assistant" or message.tool_calls:
        return message
    found = parse_calls(message.content, tools)
    calls = tuple(replace(call, id=f"told_{place}_{n}") for n, call in enumerate(found.calls))
    said = found.text.rstrip().removesuffix(_CALLS).rstrip()
    return replace(message, content=said, tool_calls=calls) if calls else message


def _match_result(message: Message) -> re.Match[str] | None:
    return _RESULT.match(message.content) if message.role == "user" else None


def _read_system(message: Message) -> tuple[Message, ...]:
    content = read_told_prompt(message.content)
    if content == message.content:
        return (message,)
    return (replace(message, content=content),) if content else ()
