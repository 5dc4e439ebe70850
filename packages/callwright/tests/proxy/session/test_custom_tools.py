from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.proxy.session.custom_tools import (
    TEXT_INPUT,
    list_names,
    read_function,
    read_tools,
)
from callwright.proxy.session.settings import Settings
from callwright.tools.declared_effects import DeclaredEffects
from callwright.tools.lists import chat_messages as chat
from tests.proxy.playbook import JSON, SSE, Playbook, body, call, chunk, whole
from tests.proxy.session.test_guarding import AGAIN, MADE, ORDER, USER

RUN: Any = {"type": "custom", "custom": {"name": "run_sql", "description": "Runs a statement."}}
SAID = {"role": "user", "content": "Add a row for Ada."}
INSERT = "insert into people values ('Ada')"


def custom(text: str, called: str = "k1") -> dict[str, Any]:
    return {"id": called, "type": "custom", "custom": {"name": "run_sql", "input": text}}


BEFORE: list[Any] = [
    SAID,
    {"role": "assistant", "content": None, "tool_calls": [custom(INSERT, "k0")]},
    {"role": "tool", "tool_call_id": "k0", "content": '{"rows": 1}'},
]
WRITES = Settings(
    guided="off", guard="on", reasks=0, effects=DeclaredEffects.parse(["run_sql=write"])
)


def pieces(*calls: dict[str, Any]) -> bytes:
    """A stream of these calls, the text of each in two pieces."""
    out = chunk({"role": "assistant", "content": None})
    for n, one in enumerate(calls):
        kind = one["type"]
        key = "input" if kind == "custom" else "arguments"
        text = one[kind][key]
        first = {**one, "index": n, kind: {**one[kind], key: text[:5]}}
        out += chunk({"tool_calls": [first]})
        out += chunk({"tool_calls": [{"index": n, kind: {key: text[5:]}}]})
    return out + chunk({}, "tool_calls") + b"data: [DONE]\n\n"


def judged(messages: list[Any], *calls: dict[str, Any], streams: bool) -> Playbook:
    asked = {**body(streams, tools=[RUN, ORDER]), "messages": messages}
    answer = pieces(*calls) if streams else whole(None, calls, "tool_calls")
    return Playbook(WRITES).ask(asked).answer(answer, SSE if streams else JSON)


def test_such_tools_and_calls_are_read_as_all_others() -> None:
    tools = read_tools([RUN, ORDER, 3]).tools
    assert [tool.name for tool in tools] == ["run_sql", "place_order"]
    assert tools[0].input_schema["properties"] == TEXT_INPUT["properties"]
    assert list_names([RUN, ORDER, {"custom": 3}, 3]) == {"run_sql"}
    assert not list_names(None)
    said = chat.read_messages({"messages": [*BEFORE, AGAIN[1], "x"]})
    calls = [(c.tool, c.arguments) for message in said for c in message.tool_calls]
    assert calls == [("run_sql", {"input": INSERT}), ("place_order", json.dumps(MADE))]
    assert read_function({"type": "custom", "custom": None}) == (None, False)


@pytest.mark.parametrize("streams", [False, True])
def test_a_right_call_passes_to_the_byte(streams: bool) -> None:
    calls = (custom(INSERT), call("place_order", MADE, "c7"))
    book = judged(
        [{**USER, "content": f"{USER['content']} {SAID['content']}"}], *calls, streams=streams
    )
    assert book.out == (pieces(*calls) if streams else whole(None, calls, "tool_calls"))


@pytest.mark.parametrize("streams", [False, True])
def test_a_repeated_write_is_kept_back(streams: bool) -> None:
    book = judged(BEFORE, custom(INSERT), streams=streams)
    assert [one.rule for one in book.record.guarding.kept_back] == ["repeated_write"]
    assert INSERT.encode() not in book.out


@pytest.mark.parametrize("streams", [False, True])
def test_beside_a_call_that_is_kept_back_it_keeps_its_form(streams: bool) -> None:
    calls = (call("place_order", MADE, "c7"), custom(INSERT))
    book = judged(AGAIN, *calls, streams=streams)
    assert [one.call.tool for one in book.record.guarding.kept_back] == ["place_order"]
    if not streams:
        (choice,) = json.loads(book.out)["choices"]
        assert choice["message"]["tool_calls"] == [custom(INSERT)]
        return
    events = [json.loads(e[6:]) for e in book.out.decode().split("\n\n") if e.startswith("data: {")]
    found = [p for e in events for c in e["choices"] for p in c["delta"].get("tool_calls") or ()]
    assert found == [{"index": 0, **custom(INSERT)}]


def test_one_that_was_written_as_text_has_the_form_of_its_tool() -> None:
    text = f'<tool_call>{{"name": "run_sql", "arguments": {{"input": "{INSERT}"}}}}</tool_call>'
    asked = {**body(False, tools=[RUN]), "messages": [SAID]}
    book = Playbook(WRITES).ask(asked).answer(whole(text), JSON)
    (entry,) = json.loads(book.out)["choices"][0]["message"]["tool_calls"]
    assert entry["custom"] == {"name": "run_sql", "input": INSERT}


@pytest.mark.parametrize("form", [RUN, {"type": "custom", "name": "run_sql"}])
def test_one_that_a_tool_choice_names_may_be_called(form: Any) -> None:
    allowed = {"mode": "auto", "tools": [form, {"type": "function", "name": "place_order"}]}
    for choice in ({"type": "allowed_tools", "allowed_tools": allowed}, form):
        asked = {**body(False, tools=[RUN, ORDER]), "messages": [SAID], "tool_choice": choice}
        answer = whole(None, [custom(INSERT)], "tool_calls")
        book = Playbook(WRITES).ask(asked).answer(answer, JSON)
        assert book.out == answer
        context = book.session._transaction.context
        assert context is not None
        assert context.named == ("run_sql" if choice is form else "")
