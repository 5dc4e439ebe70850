"""Requests with functions in the place of tools: OpenAI's client, through the real proxy."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import openai
import pytest

from callwright.proxy.apis.adapters import OLDER
from callwright.proxy.apis.functions import OlderAnswer, convert_to_tools, is_older
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.session.context import Toolsets
from callwright.proxy.session.events import (
    Finish,
    Request,
    SendBody,
    SendUpstream,
    UpstreamData,
    UpstreamEnd,
    UpstreamHead,
)
from callwright.proxy.session.faults import OverBudget, Progress
from callwright.proxy.session.session import Session
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import (
    JSON,
    SSE,
    WEATHER,
    Playbook,
    body,
    call,
    cut_at,
    native_stream,
    text_stream,
    whole,
)
from tests.proxy.session.test_guarding import MADE, ORDER, UNSTATED, USER
from tests.proxy.upstream import Asked, Reply, proxy, upstream

FUNCTION: Any = ORDER["function"]
CALLED = {"name": "place_order", "arguments": json.dumps(MADE)}
PLACED = '{"order": "O-1", "status": "placed"}'
BEFORE: list[Any] = [
    USER,
    {"role": "assistant", "content": None, "function_call": CALLED},
    {"role": "function", "name": "place_order", "content": PLACED},
]
SETTINGS = Settings(guided="off", guard="on", reasks=0)


def answer_with(*calls: tuple[str, str, str]) -> Any:
    """An upstream that answers with these calls, streamed or whole as it is asked."""

    def answer(asked: Asked) -> Reply:
        if asked.json.get("stream"):
            return Reply(cut_at(native_stream(*calls), 300))
        entries = [call(name, arguments, called) for called, name, arguments in calls]
        return Reply([whole(None, entries, "tool_calls")], headers=JSON)

    return answer


async def ask(address: str, messages: list[Any], *, stream: bool, **more: Any) -> dict[str, Any]:
    """What the client has of the answer: the text, the call and the reason of the end."""
    asked: Any = {"model": "m", "messages": messages, "functions": [FUNCTION], **more}
    url = f"{address}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
        if not stream:
            choice = (await client.chat.completions.create(**asked)).choices[0]
            assert choice.message.tool_calls is None
            given = choice.message.function_call
            called = (given.name, given.arguments) if given else None
            return {"text": choice.message.content, "call": called, "end": choice.finish_reason}
        name, arguments, text, end = "", "", "", None
        async for chunk in await client.chat.completions.create(**asked, stream=True):
            for piece in chunk.choices:
                assert piece.delta.tool_calls is None
                text += piece.delta.content or ""
                end = piece.finish_reason or end
                if piece.delta.function_call is not None:
                    name += piece.delta.function_call.name or ""
                    arguments += piece.delta.function_call.arguments or ""
    return {"text": text or None, "call": (name, arguments) if name else None, "end": end}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_right_call_arrives_in_the_older_form(stream: bool) -> None:
    answer = answer_with(("c7", "place_order", CALLED["arguments"]))
    async with upstream(answer) as up, proxy(up.url, SETTINGS) as (address, made):
        given = await ask(address, [USER], stream=stream, function_call={"name": "place_order"})
        record = made.counters.records[0]
    assert given == {
        "text": None,
        "call": ("place_order", CALLED["arguments"]),
        "end": "function_call",
    }
    sent = up.asked[0].json
    assert sent["tools"] == [ORDER]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "place_order"}}
    assert not {"functions", "function_call", "parallel_tool_calls"} & sent.keys()
    assert record.outcome == "untouched"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("messages", "arguments", "rule"),
    [(BEFORE, MADE, "repeated_write"), ([USER], UNSTATED, "unstated_value")],
)
async def test_the_guard_holds_what_it_would_hold_of_a_tool(
    messages: list[Any], arguments: Any, rule: str, stream: bool
) -> None:
    answer = answer_with(("c7", "place_order", json.dumps(arguments)))
    async with upstream(answer) as up, proxy(up.url, SETTINGS) as (address, made):
        given = await ask(address, messages, stream=stream)
        record = made.counters.records[0]
    assert (given["call"], given["end"]) == (None, "stop")
    assert given["text"]
    assert [one.rule for one in record.guarding.kept_back] == [rule]


async def test_a_conversation_goes_upstream_with_calls_and_results_in_pairs() -> None:
    async with (
        upstream(lambda _: Reply([whole("Done.")], headers=JSON)) as up,
        proxy(up.url, SETTINGS) as (address, _),
    ):
        given = await ask(address, BEFORE, stream=False)
    assert given == {"text": "Done.", "call": None, "end": "stop"}
    asked, said, result = up.asked[0].json["messages"]
    (entry,) = said["tool_calls"]
    assert (asked, said["content"], entry["function"]) == (USER, None, CALLED)
    assert result == {
        "role": "tool",
        "tool_call_id": entry["id"],
        "name": "place_order",
        "content": PLACED,
    }


@pytest.mark.parametrize("stream", [False, True])
async def test_of_several_calls_the_first_that_may_be_made_arrives(stream: bool) -> None:
    two = json.dumps({**MADE, "code": "A-101"})
    said = [{"role": "user", "content": "Order 3 pieces of A-100 and of A-101."}, *BEFORE[1:]]
    answer = answer_with(
        ("c1", "place_order", json.dumps(MADE)),
        ("c2", "place_order", two),
        ("c3", "place_order", json.dumps({**MADE, "code": "A-101", "quantity": 100})),
    )
    async with upstream(answer) as up, proxy(up.url, SETTINGS) as (address, made):
        given = await ask(address, said, stream=stream)
        record = made.counters.records[0]
    assert (given["call"][0], given["end"]) == ("place_order", "function_call")
    assert json.loads(given["call"][1]) == json.loads(two)
    assert [edit.rule for edit in record.edits] == ["repeated_write", "no_parallel_calls"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_in_the_text_arrives_as_a_function_call(stream: bool) -> None:
    text = f'<tool_call>{{"name": "place_order", "arguments": {json.dumps(MADE)}}}</tool_call>'

    def answer(asked: Asked) -> Reply:
        whole_reply = Reply([whole(text)], headers=JSON)
        return Reply([text_stream(text[:30], text[30:])]) if stream else whole_reply

    async with upstream(answer) as up, proxy(up.url, SETTINGS) as (address, _):
        given = await ask(address, [USER], stream=stream)
    assert given["end"] == "function_call"
    assert json.loads(given["call"][1]) == MADE


async def test_the_engine_leads_a_client_with_functions_too() -> None:
    chosen = {"calls": [{"name": "place_order", "arguments": MADE}]}
    settings = Settings(guided="on", guard="on", reasks=0)
    async with (
        upstream(lambda _: Reply([whole(json.dumps(chosen))], headers=JSON)) as up,
        proxy(up.url, settings) as (address, _),
    ):
        given = await ask(address, [USER], stream=False, function_call={"name": "place_order"})
    assert json.loads(given["call"][1]) == MADE
    assert "response_format" in up.asked[0].json
    assert not {"functions", "function_call"} & up.asked[0].json.keys()


async def test_errors_and_answers_in_words_stay_as_they_came() -> None:
    def answer(asked: Asked) -> Reply:
        return Reply([b'{"error": {"message": "slow down"}}'], 429, JSON)

    async with upstream(answer) as up, proxy(up.url, SETTINGS) as (address, _):
        with pytest.raises(openai.RateLimitError, match="slow down"):
            await ask(address, [USER], stream=False)
        with pytest.raises(openai.BadRequestError, match="functions, tools: a list"):
            await ask(address, [USER], stream=False, functions="x")
    words = text_stream("It ", "rains.")
    book = Playbook(SETTINGS).ask({**body(tools=[]), "functions": [FUNCTION]}).answer(words)
    assert book.out == words


MIXED = {"functions": [FUNCTION], "function_call": "auto", "tools": [WEATHER]}


def test_a_request_with_both_forms_is_one_with_tools() -> None:
    assert not is_older(MIXED)
    made = convert_to_tools({**MIXED, "messages": BEFORE})
    assert made["tools"] == [WEATHER, ORDER]
    assert made["tool_choice"] == "auto"
    assert [m["role"] for m in made["messages"]] == ["user", "assistant", "tool"]
    assert not {"functions", "function_call"} & made.keys()
    both = {"functions": [FUNCTION], "tools": [ORDER], "tool_choice": "none", "function_call": "x"}
    made = convert_to_tools({**both, "messages": "x"})
    assert (made["tools"], made["tool_choice"]) == ([ORDER], "none")
    answer = whole(None, [call("place_order", MADE, "c7")], "tool_calls")
    for messages, held in ((BEFORE, ["repeated_write"]), ([USER], [])):
        book = Playbook(SETTINGS).ask({**body(False), **MIXED, "messages": messages})
        book.answer(answer, JSON)
        assert [one.rule for one in book.record.guarding.held] == held
        assert book.out == answer or held


def test_older_messages_beside_tools_are_calls_and_results() -> None:
    both = {**BEFORE[1], "tool_calls": [call("place_order", MADE)]}  # some servers say it twice
    for said in (BEFORE, [USER, both, {"role": "tool", "tool_call_id": "c1", "content": PLACED}]):
        book = Playbook(SETTINGS).ask({**body(False, tools=[ORDER]), "messages": said})
        book.answer(whole(None, [call("place_order", MADE, "c7")], "tool_calls"), JSON)
        assert [one.rule for one in book.record.guarding.held] == ["repeated_write"]
        assert b"function_call" not in book.asked[0].body


def test_what_offers_nothing_older_stays_the_very_same() -> None:
    empty = [{"role": "assistant", "content": "Hi", "function_call": None, "tool_calls": None}]
    for asked in (
        body(),
        {**body(), "messages": empty, "functions": None, "function_call": None},
        {"messages": BEFORE},
        {"messages": "x", "functions": [], "function_call": "none"},
    ):
        assert convert_to_tools(asked) is asked
    for wrong in ({"functions": {"a": 1}}, {"functions": [FUNCTION], "tools": "x"}):
        with pytest.raises(BadRequest, match="a list is required"):
            convert_to_tools(wrong)


def test_a_result_without_its_call_keeps_its_place_and_name() -> None:
    asked = {"functions": [FUNCTION], "messages": [3, *BEFORE, BEFORE[2]]}
    made = convert_to_tools(asked)["messages"]
    assert made[0] == 3
    assert made[2]["tool_calls"][0]["id"] == made[3]["tool_call_id"] != made[4]["tool_call_id"]
    book = Playbook(SETTINGS).ask({"model": "m", **asked, "messages": asked["messages"][1:]})
    sent = json.loads(book.asked[0].body)["messages"]
    assert sent[-1]["role"] == "user"
    assert "place_order" in sent[-1]["content"]


def test_each_result_belongs_to_the_last_open_call_of_its_function() -> None:
    count = 4_000  # takes minutes if all open calls are walked through for each
    said: list[Any] = [
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": f"f{n}", "arguments": "{}"},
        }
        for n in (*range(count), 0)
    ]
    said += [{"role": "function", "name": f"f{n}", "content": "x"} for n in (0, *range(count))]
    made = convert_to_tools({"functions": [FUNCTION], "messages": said})["messages"]
    called = [one["tool_calls"][0]["id"] for one in made if "tool_calls" in one]
    results = [one["tool_call_id"] for one in made if one["role"] == "tool"]
    assert results == [called[-1], *called[:-1]]


def test_calls_that_are_no_list_cost_no_answer() -> None:
    writer = OlderAnswer()
    writer.head(200, JSON)
    writer.feed(b'{"choices": [{"index": [], "message": {"content": "Hi", "tool_calls": 5}}]}')
    assert json.loads(writer.end())["choices"][0]["message"] == {"content": "Hi"}


@pytest.mark.parametrize("has_begun", [False, True])
def test_an_answer_whose_session_is_lost_is_not_sent_in_the_other_form(has_begun: bool) -> None:
    raw = json.dumps({"model": "m", "messages": [USER], "functions": [FUNCTION]}).encode()
    request = Request("POST", "/openai/chat/completions", "a=b", body=raw)
    at = Progress(head_sent=has_begun, head_was_sent=has_begun, under_way="own")
    at.note(UpstreamHead(200, JSON))
    at.note(UpstreamData(whole(None, [call("place_order", MADE, "c7")], "tool_calls")))
    at.note(UpstreamEnd())
    passing = replace(SETTINGS, guard="report")
    session = Session(passing, Toolsets(), "t1")
    commands = session.take_over(request, at, UpstreamEnd(), 1.0, OverBudget("lost"))
    out = b"".join(c.data for c in commands if isinstance(c, SendBody))
    assert (b"tool_calls" in out, b"function_call" in out) == (False, not has_begun)
    assert Finish(broken=has_begun) in commands
    fresh = Session(passing, Toolsets(), "t1")
    commands = fresh.take_over(request, Progress(), request, 1.0, OverBudget("too long"))
    (asked,) = [c for c in commands if isinstance(c, SendUpstream)]
    assert (asked.path, asked.query, asked.body) == (request.path, "a=b", raw)


def test_a_fault_of_our_own_costs_no_translation() -> None:
    asked = {"model": "m", "messages": [USER], "functions": [FUNCTION], "stream": True}
    calls = [("c1", "place_order", '{"x": '), ("c2", "place_order", "{}")]
    writer = OLDER.writer(asked)
    assert writer.head(200, SSE) == SSE
    data = native_stream(*calls)
    out = b"".join(writer.feed(piece) for piece in cut_at(data, 0)) + writer.end()
    assert b"tool_calls" not in out
    assert b"c2" not in out
    assert out.count(b'"name"') == 1
    assert b'"finish_reason":"function_call"' in out


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>",
        b'{"choices": 3}',
        b'{"choices": [null, "x", 3]}',
        whole("Hi"),
        b'{"error": "x"}',
    ],
)
def test_what_holds_no_call_stays_as_it_is(data: bytes) -> None:
    writer = OlderAnswer()
    writer.head(200, JSON)
    assert writer.feed(data) + writer.end() == data
    assert json.loads(OLDER.error(400, "no"))["error"]["message"] == "no"


def test_arguments_in_any_pieces_are_joined() -> None:
    pieces = [
        {"index": 1, "function": {"name": "f", "arguments": "{"}},
        {"index": 1, "function": {"arguments": "}"}},
        {"index": 2, "function": {"name": "g", "arguments": "{}"}},
        None,
    ]
    made = {"choices": [{"message": {"tool_calls": pieces}, "finish_reason": "tool_calls"}]}
    writer = OlderAnswer()
    writer.head(200, JSON)
    writer.feed(json.dumps(made).encode())
    (choice,) = json.loads(writer.end())["choices"]
    assert choice["message"] == {"function_call": {"name": "f", "arguments": "{}"}}
    assert choice["finish_reason"] == "function_call"
