"""The state of a conversation is the same whichever API tells it, and whatever became of its ids."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.fold import (
    Called,
    Entry,
    Returned,
    Said,
    Spoke,
    fold_entries,
    read_messages,
)
from callwright.agent.state import RunState
from callwright.nouns.types import READ, WRITE, Tool, ToolCall
from callwright.proxy.apis.adapters import FRONTS
from callwright.proxy.session.history import pair_messages
from callwright.tools.lists.chat_messages import read_messages as read_chat

TOOLS = (Tool("pay", effects=WRITE), Tool("look", effects=READ), Tool("bare"))

_TEXT = st.text(st.characters(categories=["L", "N", "Zs"], max_codepoint=0x9FFF), min_size=1).map(
    lambda text: f"q{text.strip()}"
)
_VALUE = st.integers(-5, 10**6) | _TEXT | st.booleans()
_CONTENT = st.one_of(
    _TEXT,
    st.dictionaries(_TEXT, _VALUE, min_size=1, max_size=3).map(json.dumps),
    st.sampled_from(["Error: not found", '{"error": "timed out"}', '{"status": "pending"}']),
)
_CALL = st.tuples(
    st.sampled_from(["pay", "look", "bare"]), st.dictionaries(_TEXT, _VALUE, max_size=2), _CONTENT
)


@st.composite
def conversations(draw: Any) -> list[Entry]:
    """Turns of a user, each with rounds of calls and their results, and an answer behind them."""
    entries: list[Entry] = []
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        entries.append(Spoke(draw(_TEXT)))
        for _ in range(draw(st.integers(0, 2))):
            made = draw(st.lists(_CALL, min_size=1, max_size=3))
            calls = []
            for tool, arguments, _content in made:
                number += 1
                calls.append(ToolCall(f"call_{number}", tool, arguments))
            entries.append(Called(tuple(calls)))
            entries += [
                Returned(call.id, content, call.tool)
                for call, (_, _, content) in zip(calls, made, strict=True)
            ]
        entries.append(Said(draw(_TEXT)))
    if draw(st.booleans()):
        entries.pop()  # the answer is still to come
    return entries


def to_openai(entries: Sequence[Entry]) -> dict[str, Any]:
    messages: list[Any] = []
    for entry in entries:
        match entry:
            case Spoke(text):
                messages.append({"role": "user", "content": text})
            case Said(text):
                messages.append({"role": "assistant", "content": text})
            case Called(calls):
                made = [
                    {
                        "id": c.id,
                        "type": "function",
                        "function": {"name": c.tool, "arguments": json.dumps(c.arguments)},
                    }
                    for c in calls
                ]
                messages.append({"role": "assistant", "content": None, "tool_calls": made})
            case Returned(called, content):
                messages.append({"role": "tool", "tool_call_id": called, "content": content})
    return {"model": "m", "messages": messages}


def to_responses(entries: Sequence[Entry]) -> dict[str, Any]:
    items: list[Any] = []
    for entry in entries:
        match entry:
            case Spoke(text):
                items.append({"role": "user", "content": [{"type": "input_text", "text": text}]})
            case Said(text):
                part = {"type": "output_text", "text": text}
                items.append({"type": "message", "role": "assistant", "content": [part]})
            case Called(calls):
                items += [
                    {
                        "type": "function_call",
                        "call_id": c.id,
                        "name": c.tool,
                        "arguments": json.dumps(c.arguments),
                    }
                    for c in calls
                ]
            case Returned(called, content):
                made = {"type": "function_call_output", "call_id": called, "output": content}
                items.append(made)
    return {"model": "m", "input": items}


def to_anthropic(entries: Sequence[Entry]) -> dict[str, Any]:
    messages: list[Any] = []

    def add(role: str, *blocks: Any) -> None:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": [*blocks]})

    for entry in entries:
        match entry:
            case Spoke(text):
                add("user", {"type": "text", "text": text})
            case Said(text):
                add("assistant", {"type": "text", "text": text})
            case Called(calls):
                made = (
                    {"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments}
                    for c in calls
                )
                add("assistant", *made)
            case Returned(called, content):
                add("user", {"type": "tool_result", "tool_use_id": called, "content": content})
    return {"model": "m", "max_tokens": 9, "messages": messages}


def to_ollama(entries: Sequence[Entry]) -> dict[str, Any]:
    messages: list[Any] = []
    for entry in entries:
        match entry:
            case Spoke(text):
                messages.append({"role": "user", "content": text})
            case Said(text):
                messages.append({"role": "assistant", "content": text})
            case Called(calls):
                made = [{"function": {"name": c.tool, "arguments": c.arguments}} for c in calls]
                messages.append({"role": "assistant", "content": "", "tool_calls": made})
            case Returned(_, content, tool):
                messages.append({"role": "tool", "tool_name": tool, "content": content})
    return {"model": "m", "messages": messages}


APIS = {
    "/v1/chat/completions": to_openai,
    "/v1/responses": to_responses,
    "/v1/messages": to_anthropic,
    "/api/chat": to_ollama,
}


def fold_request(path: str, body: dict[str, Any]) -> RunState:
    """As the proxy does: turned into a chat request, paired, read, folded."""
    front = FRONTS.get(path)
    chat: dict[str, Any] = dict(front.request(body)) if front is not None else body
    messages, _ = pair_messages(chat["messages"])
    return fold_entries(read_messages(read_chat({"messages": messages})), TOOLS)


def with_other_ids(entries: Sequence[Entry]) -> list[Entry]:
    """The same conversation in which somebody rewrote every id."""
    made: list[Entry] = []
    for entry in entries:
        match entry:
            case Called(calls):
                renamed = (ToolCall(f"x-{c.id[::-1]}", c.tool, c.arguments) for c in calls)
                made.append(Called(tuple(renamed)))
            case Returned(called, content, tool):
                made.append(Returned(f"x-{called[::-1]}", content, tool))
            case _:
                made.append(entry)
    return made


@pytest.mark.parametrize("path", APIS)
@given(conversations(), st.booleans())
def test_every_api_tells_the_same_state(path: str, entries: list[Entry], rewritten: bool) -> None:
    told = with_other_ids(entries) if rewritten else entries
    assert fold_request(path, APIS[path](told)) == fold_entries(entries, TOOLS)


@pytest.mark.parametrize("path", APIS)
@given(conversations(), st.data())
def test_what_is_trimmed_only_reduces_what_may_be_done(
    path: str, entries: list[Entry], data: st.DataObject
) -> None:
    """A result that a client left out leaves its write in doubt, and gives no value."""
    results = [n for n, entry in enumerate(entries) if isinstance(entry, Returned)]
    if path == "/api/chat" or not results:
        return  # without ids nobody can tell whose result is missing
    gone = data.draw(st.sampled_from(results))
    whole = fold_entries(entries, TOOLS)
    trimmed = fold_request(path, APIS[path]([e for n, e in enumerate(entries) if n != gone]))
    assert {*whole.lasting.doubts} <= {*trimmed.lasting.doubts}
    known = {(r.id, repr(r.content)) for r in (*whole.earlier, *whole.results)}
    assert {(r.id, repr(r.content)) for r in (*trimmed.earlier, *trimmed.results)} <= known
