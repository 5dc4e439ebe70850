"""Calls and results that a client tells as text, not as ``tool_calls`` and tool messages.

ReAct's agents (Yao et al. 2022) write a call into the assistant's text, in one of many formats, and
its result as the user's next turn, behind ``Observation:``. smolagents does so with its history even
where it offers native tools (``memory.py``: ``Calling tools:`` over a list, ``Call id: ID`` and
``Error:`` for what failed, and for a reply without a call). Read as words, such a history holds no
call at all, and every result would be a new wish of the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from callwright.jsontext import write
from callwright.nouns.types import Message, Tool, ToolCall
from callwright.parsing import parse_calls
from callwright.proxy.session.turns import wrap_reminder

_RESULT = re.compile(r"\s*(?:Call id: \S+\n)?(Observation|Error):[ \t]*\n?")


def read_told_calls(messages: Sequence[Message], tools: Sequence[Tool]) -> tuple[Message, ...]:
    """The conversation with such turns as calls and results; itself where it holds none. Where
    several calls have one result, which part of it is whose is not known: each has all of it.
    """
    if not any(m.role == "user" and _RESULT.match(m.content) for m in messages):
        return tuple(messages)
    return tuple(_iter_read(messages, tools))


def _iter_read(messages: Sequence[Message], tools: Sequence[Tool]) -> Iterator[Message]:
    calls: tuple[ToolCall, ...] = ()  # of the turn before, which told them as text
    has_told = False
    for place, message in enumerate(messages):
        told = _RESULT.match(message.content) if message.role == "user" else None
        if told is not None and calls:
            content = message.content[told.end() :].strip()
            content = content if told[1] == "Observation" else write({"error": content}).decode()
            yield from (Message("tool", content, tool_call_id=call.id) for call in calls)
            calls, has_told = (), True
            continue
        if told is not None and has_told:  # the client's own words, and no new turn
            yield replace(message, content=wrap_reminder(message.content))
            continue
        calls = ()
        behind = messages[place + 1] if place + 1 < len(messages) else None
        is_told = behind is not None and behind.role == "user" and _RESULT.match(behind.content)
        if message.role == "assistant" and not message.tool_calls and is_told:
            found = parse_calls(message.content, tools)
            calls = tuple(
                replace(call, id=f"told_{place}_{number}")
                for number, call in enumerate(found.calls)
            )
            message = replace(message, content=found.text, tool_calls=calls) if calls else message
        yield message
