"""The state of a conversation is the same whichever API or journal tells it, and whatever became of
its ids.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

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
    read_journal,
    read_messages,
)
from callwright.agent.state import RunState
from callwright.nouns.trace import Event
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
            case Said(text, role):
                messages.append({"role": role, "content": text})
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
            case Said(text, "system"):
                items.append({"role": "developer", "content": text})
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
    system = [entry.text for entry in entries if isinstance(entry, Said) and entry.role == "system"]
    messages: list[Any] = []

    def add(role: str, *blocks: Any) -> None:
        last: Any = messages[-1] if messages else {"role": ""}
        ends_turn = blocks[0]["type"] == "text" and last["role"] == "assistant" == role
        if last["role"] != role or (ends_turn and last["content"][-1]["type"] == "tool_use"):
            messages.append({"role": role, "content": [*blocks]})
        else:
            last["content"] += blocks

    for entry in entries:
        match entry:
            case Spoke(text):
                add("user", {"type": "text", "text": text})
            case Said(text, "assistant"):
                add("assistant", {"type": "text", "text": text})
            case Called(calls):
                made = (
                    {"type": "tool_use", "id": c.id, "name": c.tool, "input": c.arguments}
                    for c in calls
                )
                add("assistant", *made)
            case Returned(called, content):
                add("user", {"type": "tool_result", "tool_use_id": called, "content": content})
    head = {"system": system[0]} if system else {}
    return {"model": "m", "max_tokens": 9, **head, "messages": messages}


def to_ollama(entries: Sequence[Entry], *, has_ids: bool = False) -> dict[str, Any]:
    messages: list[Any] = []
    for entry in entries:
        match entry:
            case Spoke(text):
                messages.append({"role": "user", "content": text})
            case Said(text, role):
                messages.append({"role": role, "content": text})
            case Called(calls):
                made = [
                    {
                        **({"id": c.id} if has_ids else {}),
                        "function": {"name": c.tool, "arguments": c.arguments},
                    }
                    for c in calls
                ]
                messages.append({"role": "assistant", "content": "", "tool_calls": made})
            case Returned(called, content, tool):
                whose = {"tool_call_id": called} if has_ids else {}
                message = {"role": "tool", "tool_name": tool, **whose, "content": content}
                messages.append(message)
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


def rewrite_id(known: str) -> str:
    return f"x-{known[::-1]}"


def with_other_ids(
    entries: Sequence[Entry], rewrite: Callable[[str], str] = rewrite_id
) -> list[Entry]:
    """The same conversation in which somebody rewrote every id."""
    made: list[Entry] = []
    for entry in entries:
        match entry:
            case Called(calls):
                renamed = (ToolCall(rewrite(c.id), c.tool, c.arguments) for c in calls)
                made.append(Called(tuple(renamed)))
            case Returned(called, content, tool):
                made.append(Returned(rewrite(called), content, tool))
            case _:
                made.append(entry)
    return made


@pytest.mark.parametrize("path", APIS)
@given(conversations(), st.booleans())
def test_every_api_tells_the_same_state(path: str, entries: list[Entry], rewritten: bool) -> None:
    told = with_other_ids(entries) if rewritten else entries
    assert fold_request(path, APIS[path](told)) == fold_entries(entries, TOOLS)


class Sending(NamedTuple):
    """A call that left: its arguments, and the result event that came of it, if one did."""

    arguments: dict[str, Any]
    came: dict[str, Any] | None


class Planned(NamedTuple):
    """A call of a reply. One without a sending was refused."""

    id: str
    tool: str
    sendings: tuple[Sending, ...]

    def list_events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for attempt, (arguments, came) in enumerate(self.sendings, 1):
            told = {"id": self.id, "tool": self.tool, "attempt": attempt, "arguments": arguments}
            if self.tool != "look":
                yield "intent", {**told, "effects": {}, "key": "k"}
            if came is not None:
                yield "result", {**told, **came}


class Run(NamedTuple):
    """A run of our own. ``order``: per reply, whose event is the next. ``cut``: the number of events
    after which its process ended and another went on; 0 for none.
    """

    earlier: list[Entry]
    query: str
    replies: list[list[Planned]]
    order: list[list[int]]
    answer: str
    cut: int

    def list_events(self) -> list[Event]:
        """The journal of the run."""
        conversation = [*map(record_entry, self.earlier)]
        start = {"query": self.query, "conversation": conversation, "run": "one", "segment": 1}
        events: list[tuple[str, dict[str, Any]]] = []
        for reply, order in zip(self.replies, self.order, strict=True):
            for call in reply:
                first = call.sendings[0].arguments if call.sendings else {}
                told = {"id": call.id, "tool": call.tool, "arguments": first, "slot": ""}
                events.append(("call.raw", {**told, "by": "model"}))
            left = [call.list_events() for call in reply]
            events += [next(left[place]) for place in order]
        if self.answer:
            events.append(("answer", {"text": self.answer}))
        before, after = events[: self.cut], events[self.cut :]
        again = [event for event in before if event[0] != "intent"]
        lives = [("run.start", {**start, "resumed": ""}), *before]
        lives += [("run.start", {**start, "resumed": "replay"}), *again] if self.cut else []
        return [Event(kind, n, 0.0, data) for n, (kind, data) in enumerate([*lives, *after])]

    def list_visible(self, *, as_completed: bool) -> list[Entry]:
        """The conversation that a client would have of it. ``as_completed``: the results of a reply
        stand in the order in which they came.
        """
        shown: list[Entry] = [*self.earlier, Spoke(self.query)]
        for reply, order in zip(self.replies, self.order, strict=True):
            sent = [call for call in reply if call.sendings]
            calls = tuple(ToolCall(c.id, c.tool, c.sendings[-1].arguments) for c in sent)
            shown += [Called(calls)] if calls else []
            last = {place: at for at, place in enumerate(order)}
            came = sorted(last, key=last.__getitem__) if as_completed else sorted(last)
            shown += [
                Returned(reply[place].id, render_result(told), reply[place].tool)
                for place in came
                if (told := reply[place].sendings[-1].came) is not None
            ]
        return [*shown, *([Said(self.answer)] if self.answer else [])]


def record_entry(entry: Entry) -> dict[str, Any]:
    """A message as ``run.start`` records it."""
    plain = {"content": "", "tool_calls": [], "tool_call_id": "", "name": ""}
    match entry:
        case Spoke(text):
            return {**plain, "role": "user", "content": text}
        case Said(text, role):
            return {**plain, "role": role, "content": text}
        case Called(calls):
            made = [
                {"id": c.id, "tool": c.tool, "arguments": c.arguments, "slot": ""} for c in calls
            ]
            return {**plain, "role": "assistant", "tool_calls": made}
        case Returned(called, content, tool):
            told = {"role": "tool", "content": content, "tool_call_id": called, "name": tool}
            return {**plain, **told}


def render_result(told: dict[str, Any]) -> str:
    """The text in which a client gets a result: a delivered one as it is, else an error."""
    if told["failure"] is not None and not told["judged"]:
        return json.dumps({"error": told["failure"]["message"]})
    content = told["content"]
    return content if isinstance(content, str) else json.dumps(content)


_JSON = st.recursive(st.none() | _VALUE | st.just(""), lambda inner: st.lists(inner, max_size=2))
_FAILURE = st.builds(
    lambda kind, message: {"kind": kind, "message": message, "outcome_unknown": True},
    st.sampled_from(["timeout", "tool_error", "unavailable", "cancelled"]),
    _TEXT,
)
_CAME = st.one_of(
    st.builds(
        lambda content: {"content": content, "failure": None, "judged": False},
        _CONTENT | _JSON | st.dictionaries(_TEXT, _JSON, max_size=2),
    ),
    st.builds(lambda told: {"content": None, "failure": told, "judged": False}, _FAILURE),
    st.builds(
        lambda content, told: {"content": content, "failure": told, "judged": True},
        st.sampled_from([None, [], {}, "", "null", {"error": "timed out"}, "Error: no such id"]),
        _FAILURE,
    ),
)
_ARGUMENTS = st.dictionaries(_TEXT, _VALUE, max_size=2)
_QUERY = _TEXT | st.sampled_from(
    ["<open-files>a.py</open-files>", "<system-reminder>b</system-reminder> Go on. ", " Go.\n"]
)


@st.composite
def planned_calls(draw: Any, number: int) -> Planned:
    tool = draw(st.sampled_from(["pay", "look", "bare"]))
    made = draw(st.lists(st.builds(Sending, _ARGUMENTS, _CAME), max_size=3))
    if made and tool != "look" and draw(st.booleans()):
        made[-1] = made[-1]._replace(came=None)  # it left, and nothing is known of it
    return Planned(f"r{number}", tool, tuple(made))


@st.composite
def runs(draw: Any) -> Run:
    """Runs behind a conversation with calls, some of them without a result, and ids of any form."""
    earlier = draw(conversations()) if draw(st.booleans()) else []
    if earlier and isinstance(earlier[-1], Spoke):
        earlier.append(Said("q"))
    gone = draw(st.sets(st.integers(0, len(earlier))))
    earlier = [e for n, e in enumerate(earlier) if n not in gone or not isinstance(e, Returned)]
    prefix, step = draw(st.sampled_from(["call_", "r"])), draw(st.integers(1, 3))
    earlier = with_other_ids(
        earlier, lambda known: f"{prefix}{step * int(known.removeprefix('call_'))}"
    )
    if draw(st.booleans()):
        earlier.insert(0, Said("Be brief.", "system"))
    number = sum(len(entry.calls) for entry in earlier if isinstance(entry, Called))
    replies, order = [], []
    for size in draw(st.lists(st.integers(1, 3), max_size=3)):
        reply = [draw(planned_calls(number + n + 1)) for n in range(size)]
        number += size
        turns = [n for n, call in enumerate(reply) for _ in call.list_events()]
        replies.append(reply)
        order.append(draw(st.permutations(turns)))
    run = Run(earlier, draw(_QUERY), replies, order, draw(st.just("") | _TEXT), 0)
    return run._replace(cut=draw(st.integers(0, len(run.list_events()) - 1)))


@pytest.mark.parametrize("path", APIS)
@given(runs(), st.booleans(), st.booleans())
def test_a_journal_and_the_messages_that_show_it_tell_the_same_state(
    path: str, run: Run, rewritten: bool, as_completed: bool
) -> None:
    shown = run.list_visible(as_completed=as_completed)
    told = with_other_ids(shown) if rewritten else shown
    if path == "/api/chat":  # without ids nobody can tell whose result is missing or came first
        calls = sum(len(entry.calls) for entry in shown if isinstance(entry, Called))
        is_whole = calls == sum(isinstance(entry, Returned) for entry in shown)
        body = to_ollama(told, has_ids=as_completed or not is_whole)
    else:
        body = APIS[path](told)
    assert fold_request(path, body) == fold_entries(read_journal(run.list_events()), TOOLS)


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
