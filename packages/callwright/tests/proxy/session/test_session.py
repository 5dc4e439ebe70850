"""The session, driven by playbooks: no socket, no clock but the script's."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.errors import Failure
from callwright.proxy.server.budget import Budget
from callwright.proxy.session.events import (
    ClientGone,
    CloseUpstream,
    Finish,
    Log,
    Probed,
    Request,
    SendUpstream,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import (
    JSON,
    SSE,
    USER,
    Playbook,
    assembled,
    body,
    call,
    chunk,
    native_stream,
    text_stream,
    whole,
)

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
FENCE = '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```'


def test_what_is_no_chat_request_passes_untouched() -> None:
    book = Playbook(path="/v1/embeddings")
    book.ask(
        b'{ "input" : "x" }',
        [("authorization", "Bearer k"), ("host", "proxy"), ("x-callwright-a", "b")],
    )
    assert book.asked == [
        SendUpstream(
            "POST", "/v1/embeddings", "", (("authorization", "Bearer k"),), b'{ "input" : "x" }'
        )
    ]
    book.answer(
        b'{ "data" : [] }', {"content-type": "application/json", "content-length": "15", "x-a": "b"}
    )
    assert book.out == b'{ "data" : [] }'
    assert book.head is not None
    assert dict(book.head.headers) == {
        "content-type": "application/json",
        "content-length": "15",
        "x-a": "b",
    }
    assert book.finished == Finish()
    assert not book.logs


def test_a_request_is_forwarded_byte_for_byte() -> None:
    raw = json.dumps(body(), indent=3).encode()
    book = Playbook().ask(raw)
    assert book.asked[0].body == raw


@pytest.mark.parametrize(
    "pieces", [("Hello",), ("Rain ", "in <b>", "Paris", ", 3 < 4 and {x}"), ("",), ("é😀", "`a`")]
)
@pytest.mark.parametrize("end", ["stop", "length"])
def test_an_answer_in_words_is_forwarded_byte_for_byte(pieces: tuple[str, ...], end: str) -> None:
    stream = text_stream(*pieces, finish=end)
    for cut in (None, 0, len(stream) // 2):
        book = Playbook().ask(body()).answer(stream, cut=cut)
        assert book.out == stream
        assert book.finished == Finish()


def test_a_right_native_call_is_forwarded_byte_for_byte() -> None:
    stream = native_stream(
        ("c1", "get_weather", '{"city":  "Paris"}'), ("c2", "send_mail", '{"to":"a","text":"b"}')
    )
    for cut in (None, 0):
        book = Playbook().ask(body()).answer(stream, cut=cut)
        assert book.out == stream
    assert book.record.outcome == "untouched"
    answer = whole(None, [call("get_weather", {"city": "Paris"})], "tool_calls")
    assert Playbook().ask(body(False)).answer(answer, JSON).out == answer


@pytest.mark.parametrize("text", [HERMES, FENCE, "I look it up.\n" + HERMES])
def test_a_call_in_the_text_comes_out_as_a_call_wherever_the_stream_is_cut(text: str) -> None:
    stream = text_stream(*[text[i : i + 5] for i in range(0, len(text), 5)])
    results = set()
    for cut in range(0, len(stream), 1 if text == HERMES else 13):
        book = Playbook().ask(body()).answer(stream, cut=cut)
        message = book.message
        assert [(c["name"], json.loads(c["arguments"])) for c in message["calls"]] == [
            ("get_weather", {"city": "Paris"})
        ]
        assert message["finish"] == "tool_calls"
        assert "get_weather" not in message["text"]
        assert message["text"].strip() == ("I look it up." if text.startswith("I") else "")
        assert book.out.endswith(b"data: [DONE]\n\n")
        results.add(json.dumps(message))
    assert len(results) == 1, "the cut changes nothing, ids included"


def test_a_call_in_the_text_of_a_whole_answer_comes_out_as_a_call() -> None:
    book = Playbook().ask(body(False)).answer(whole(f"Sure. {HERMES}"), JSON)
    answer = json.loads(book.out)
    message = answer["choices"][0]["message"]
    assert message["content"].strip() == "Sure."
    assert message["tool_calls"][0]["function"] == {
        "name": "get_weather",
        "arguments": '{"city":"Paris"}',
    }
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert answer["usage"]["total_tokens"] == 12
    assert book.head is not None
    marks = dict(book.head.headers)
    assert marks["content-length"] == str(len(book.out))
    assert marks["x-callwright-outcome"] == "edited"


def test_text_flows_on_while_nothing_can_begin_a_call() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    for piece in ("Let ", "me ", "think"):
        event = chunk({"content": piece})
        before = len(book.out)
        book.tell(UpstreamData(event))
        assert book.out[before:] == event, "no delay"


def test_a_call_that_is_cut_off_is_text_never_a_call() -> None:
    text = HERMES[:50]
    stream = text_stream(text, finish="length")
    book = Playbook().ask(body()).answer(stream)
    assert book.out == stream
    answer = whole(text, finish="length")
    assert Playbook().ask(body(False)).answer(answer, JSON).out == answer


def test_undecided_text_is_let_go_after_two_seconds() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    held = chunk({"content": '<tool_call>\n{"na'})
    book.tell(UpstreamData(held))
    assert book.out == b""
    assert book.session.wake == book.now + 2.0
    book.now += 2.0
    book.tell(Tick())
    assert book.out == held


def test_text_that_names_an_offered_tool_is_held_to_its_end_and_keep_alives_go_out() -> None:
    book = Playbook(Settings(guided="off", keep_alive_seconds=5)).ask(body())
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(chunk({"content": HERMES[:40]})))
    book.now += 2.0
    book.tell(Tick())
    assert book.out == b""
    book.now += 3.0
    book.tell(Tick())
    assert book.out == b": keep-alive\n\n"
    book.tell(
        UpstreamData(chunk({"content": HERMES[40:]}) + chunk({}, "stop") + b"data: [DONE]\n\n")
    )
    book.tell(UpstreamEnd())
    assert [c["name"] for c in book.message["calls"]] == ["get_weather"]


def test_a_client_that_is_not_told_the_thoughts_gets_keep_alives_meanwhile() -> None:
    book = Playbook(Settings(guided="off", keep_alive_seconds=5), path="/v1/messages")
    book.ask({"model": "m", "max_tokens": 9, "messages": [USER], "stream": True})
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(chunk({"role": "assistant", "content": "", "reasoning_content": "hm"})))
    said = len(book.out)
    assert book.session.wake == book.now + 5
    book.now += 5
    book.tell(UpstreamData(chunk({"reasoning_content": "hm"})))
    book.tell(Tick())
    assert book.out[said:] == b'event: ping\ndata: {"type":"ping"}\n\n'


def test_a_call_whose_beginning_was_let_go_still_arrives() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(chunk({"content": HERMES[:16]})))
    book.now += 2.0
    book.tell(Tick())
    book.tell(
        UpstreamData(chunk({"content": HERMES[16:]}) + chunk({}, "stop") + b"data: [DONE]\n\n")
    )
    book.tell(UpstreamEnd())
    assert [c["name"] for c in book.message["calls"]] == ["get_weather"]
    assert any("had gone out as text" in n for n in book.record.notes)


def test_endless_text_that_begins_like_a_call_is_let_go_at_64_kilobytes() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    fed = b""
    for _ in range(70):
        event = chunk({"content": "<tool_call>" + "x" * 1024})
        fed += event
        book.tell(UpstreamData(event))
    # What is let go is text, and the tag in front of it a leftover.
    said, shown = assembled(fed)["text"].replace("<tool_call>", ""), assembled(book.out)["text"]
    assert said.startswith(shown.replace("<tool_call>", ""))
    assert len(said) - len(shown) < 70_000
    assert len(shown) > 0


@pytest.mark.parametrize("choice", ["auto", "named"])
@pytest.mark.parametrize("stream", [True, False])
def test_calls_beside_a_stop_end_in_tool_calls_except_where_their_tool_was_named(
    stream: bool, choice: str
) -> None:
    named = (
        {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}}
        if choice == "named"
        else {}
    )
    given = ("c1", "get_weather", '{"city": "Paris"}')
    made = (
        native_stream(given, finish="stop") if stream else whole(None, [call(*given[1:])], "stop")
    )
    book = Playbook().ask(body(stream, **named)).answer(made, None if stream else JSON)
    choice_out = json.loads(book.out)["choices"][0] if not stream else None
    finish = choice_out["finish_reason"] if choice_out else book.message["finish"]
    assert finish == ("stop" if named else "tool_calls")
    assert (book.out == made) == bool(named)
    assert b"get_weather" in book.out


def test_a_native_call_with_a_stringified_value_is_repaired_and_listed() -> None:
    stream = native_stream(("c1", "get_weather", '{"city": "Paris", "days": "3"}'))
    asked = {"role": "user", "content": "The weather in Paris for the next 3 days?"}
    book = Playbook().ask(body(messages=[asked])).answer(stream)
    (made,) = book.message["calls"]
    assert made["id"] == "c1"
    assert json.loads(made["arguments"]) == {"city": "Paris", "days": 3}
    assert [(e.path, e.before, e.after) for e in book.record.edits] == [
        ("/0/arguments/days", "3", 3)
    ]


def test_deltas_without_id_or_index_come_out_well_formed() -> None:
    pieces = [
        {"function": {"name": "get_weather", "arguments": '{"city":'}},
        {"function": {"arguments": ' "Paris"}'}},
        {"function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}},
    ]
    stream = (
        b"".join(chunk({"tool_calls": [p]}) for p in pieces)
        + chunk({}, "stop")
        + b"data: [DONE]\n\n"
    )
    message = Playbook().ask(body()).answer(stream).message
    assert [json.loads(c["arguments"])["city"] for c in message["calls"]] == ["Paris", "Rome"]
    assert message["finish"] == "tool_calls"


def test_a_call_delivered_twice_natively_and_as_text_goes_out_once() -> None:
    book = (
        Playbook()
        .ask(body(False))
        .answer(whole(HERMES, [call("get_weather", {"city": "Paris"})], "tool_calls"), JSON)
    )
    message = json.loads(book.out)["choices"][0]["message"]
    assert len(message["tool_calls"]) == 1
    assert message["content"] is None


def test_a_call_left_in_the_reasoning_is_found() -> None:
    stream = chunk({"reasoning_content": HERMES}) + chunk({}, "stop") + b"data: [DONE]\n\n"
    message = Playbook().ask(body()).answer(stream).message
    assert [c["name"] for c in message["calls"]] == ["get_weather"]
    assert message["reasoning"] == HERMES


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("text", "finish", "called"),
    [
        (f"<think>{HERMES}</think>", "stop", ["get_weather"]),
        (f"<think>{HERMES}", "stop", ["get_weather"]),
        (f"<think>{HERMES}</think>\n<|im_end|>", "stop", ["get_weather"]),
        (f"<think>{HERMES} But wait", "length", []),
        (f"<think>{HERMES}? It was not asked for.</think>I did nothing.", "stop", []),
        (f"<think>{HERMES}?</think>{HERMES.replace('Paris', 'Rome')}", "stop", ["get_weather"]),
    ],
    ids=["alone", "open", "leftover", "cut off", "words", "another call"],
)
def test_what_a_model_considers_in_its_reasoning_is_not_called_beside_an_answer(
    text: str, finish: str, called: list[str], stream: bool
) -> None:
    sent = text_stream(*text, finish=finish) if stream else whole(text, finish=finish)
    book = Playbook().ask(body(stream)).answer(sent, None if stream else JSON)
    message = book.message if stream else json.loads(book.out)["choices"][0]["message"]
    calls = message["calls"] if stream else [c["function"] for c in message.get("tool_calls", ())]
    assert [c["name"] for c in calls] == called
    assert all("Rome" in c["arguments"] for c in calls) or "Rome" not in text
    said = message["text"] if stream else message["content"]
    assert said.startswith(f"<think>{HERMES}"), "reasoning is not touched"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    ("text", "called"),
    [
        (f"I could do {HERMES}.</think>I did nothing.", []),
        (f"I do {HERMES} now.</think>\n{HERMES}", ["get_weather"]),
        (f"I do {HERMES}</think>\n", ["get_weather"]),
        (f"Hm.</think>{HERMES}", ["get_weather"]),
    ],
    ids=["words", "the same call", "nothing", "no call"],
)
def test_reasoning_that_the_template_began_calls_nothing_beside_an_answer(
    text: str, called: list[str], stream: bool
) -> None:
    """Templates of reasoning models write the opening tag themselves: a reply only closes it. A
    write that was thought out and then made would be made twice.
    """
    sent = text_stream(*text) if stream else whole(text)
    book = Playbook().ask(body(stream)).answer(sent, None if stream else JSON)
    message = book.message if stream else json.loads(book.out)["choices"][0]["message"]
    calls = message["calls"] if stream else [c["function"] for c in message.get("tool_calls", ())]
    assert [c["name"] for c in calls] == called
    said = message["text"] if stream else message["content"]
    assert said.count(HERMES) == text.count(HERMES) - len(called) or text.endswith("</think>\n")
    assert "</think>" in said


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_call_of_the_upstreams_own_that_was_cut_off_passes_to_the_byte(stream: bool) -> None:
    """A model that was asked for its arguments would write the rest of a file from nothing."""
    cut = '{"to":"ann@example.org","text":"Dear A'
    sent = (
        native_stream(("c1", "send_mail", cut), finish="length")
        if stream
        else whole(None, [call("send_mail", cut)], "length")
    )
    book = Playbook().ask(body(stream)).answer(sent, None if stream else JSON)
    assert len(book.asked) == 1
    assert book.out == sent


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_reasoning_beside_a_refusal_calls_nothing(stream: bool) -> None:
    said = {"content": None, "refusal": "No.", "reasoning_content": HERMES}
    document = json.loads(whole(None))
    document["choices"][0]["message"] |= said
    sent = chunk(said) + chunk({}, "stop") + b"data: [DONE]\n\n"
    sent = sent if stream else json.dumps(document).encode()
    book = Playbook().ask(body(stream)).answer(sent, None if stream else JSON)
    assert book.out == sent


def test_reasoning_that_was_cut_off_calls_nothing() -> None:
    stream = chunk({"reasoning_content": HERMES}) + chunk({}, "length") + b"data: [DONE]\n\n"
    assert Playbook().ask(body()).answer(stream).message["calls"] == []


# tool_choice, parallel calls, loops


def test_no_parallel_calls_keeps_the_first() -> None:
    stream = native_stream(
        ("c1", "get_weather", '{"city":"Rome"}'), ("c2", "get_weather", '{"city":"Oslo"}')
    )
    book = Playbook().ask(body(parallel_tool_calls=False)).answer(stream)
    assert [c["id"] for c in book.message["calls"]] == ["c1"]
    assert [e.rule for e in book.record.edits] == ["no_parallel_calls"]


def test_tool_choice_none_drops_calls_and_asks_for_words() -> None:
    book = (
        Playbook()
        .ask(body(tool_choice="none"))
        .answer(native_stream(("c1", "get_weather", '{"city":"Rome"}')))
    )
    assert len(book.asked) == 2
    book.answer(whole("It rains."), JSON)
    assert book.message == {"text": "It rains.", "reasoning": "", "calls": [], "finish": "stop"}


def test_a_call_that_the_list_of_allowed_tools_does_not_hold_is_not_sent() -> None:
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "send_mail"}}]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    rome = native_stream(("c1", "get_weather", '{"city":"Rome"}'))
    book = Playbook().ask(body(tool_choice=choice)).answer(rome)
    assert book.message["calls"] == []
    assert [e.rule for e in book.record.edits] == ["unknown_tool"]
    assert json.loads(book.asked[0].body)["tool_choice"] == choice
    mail = native_stream(("c1", "send_mail", '{"to":"a","text":"b"}'))
    assert Playbook().ask(body(tool_choice=choice)).answer(mail).out == mail


def test_a_named_tool_choice_drops_other_calls() -> None:
    chosen = {"type": "function", "function": {"name": "send_mail"}}
    stream = native_stream(
        ("c1", "get_weather", '{"city":"Rome"}'), ("c2", "send_mail", '{"to":"a","text":"b"}')
    )
    book = Playbook().ask(body(tool_choice=chosen)).answer(stream)
    assert [c["name"] for c in book.message["calls"]] == ["send_mail"]


def test_a_required_call_is_asked_for_once_more_and_its_id_says_so() -> None:
    book = Playbook().ask(body(tool_choice="required")).answer(text_stream("It ", "rains."))
    assert book.message["finish"] is None, "the finish waits"
    again = json.loads(book.asked[1].body)
    assert again["stream"] is False
    assert again["messages"][-2] == {"role": "assistant", "content": "It rains."}
    assert "must call" in again["messages"][-1]["content"]
    book.answer(whole(HERMES), JSON)
    (made,) = book.message["calls"]
    assert made["id"].startswith("cwr")
    assert book.message["finish"] == "tool_calls"
    assert book.message["text"] == "It rains."


def test_without_budget_nothing_is_asked_again() -> None:
    stream = text_stream("It rains.")
    book = (
        Playbook(Settings(guided="off", reasks=0)).ask(body(tool_choice="required")).answer(stream)
    )
    assert book.out == stream
    assert len(book.asked) == 1


def test_the_budget_of_a_conversation_is_counted_from_its_history() -> None:
    history = [USER]
    for n in range(4):
        history.append(
            {
                "role": "assistant",
                "tool_calls": [call("get_weather", {"city": str(n)}, f"cwr00000{n}")],
            }
        )
        history.append({"role": "tool", "tool_call_id": f"cwr00000{n}", "content": "rain"})
    book = (
        Playbook()
        .ask(body(tool_choice="required", messages=history))
        .answer(text_stream("It rains."))
    )
    assert len(book.asked) == 1
    fewer = history[:-2]
    book = (
        Playbook()
        .ask(body(tool_choice="required", messages=fewer))
        .answer(text_stream("It rains."))
    )
    assert len(book.asked) == 2


def test_a_refused_call_is_repaired_by_one_question() -> None:
    stream = native_stream(("c1", "send_mail", '{"to": "bob"}'))
    book = Playbook().ask(body()).answer(stream)
    assert len(book.asked) == 2
    assert "send_mail" in json.loads(book.asked[1].body)["messages"][-1]["content"]
    book.answer(
        whole('{"tool_calls":[{"name":"send_mail","arguments":{"to":"bob","text":"Rain?"}}]}'), JSON
    )
    (made,) = book.message["calls"]
    assert json.loads(made["arguments"]) == {"to": "bob", "text": "Rain?"}
    assert made["id"].startswith("cwr")


def test_a_refused_call_that_cannot_be_repaired_goes_out_as_it_came_with_a_warning() -> None:
    stream = native_stream(("c1", "send_mail", '{"to": "bob"}'))
    book = Playbook(Settings(guided="off", reasks=0)).ask(body()).answer(stream)
    assert book.out == stream
    assert book.record.violations


def test_a_refused_call_is_said_in_words_where_that_is_set() -> None:
    stream = native_stream(("c1", "send_mail", '{"to": "bob"}'))
    book = Playbook(Settings(guided="off", reasks=0, refused="text")).ask(body()).answer(stream)
    assert book.message["calls"] == []
    assert "was refused" in book.message["text"]
    assert book.message["finish"] == "stop"


def test_a_tool_that_nobody_offered_is_refused_clearly() -> None:
    stream = native_stream(("c1", "launch_rocket", '{"now": true}'))
    book = Playbook(Settings(guided="off", reasks=0)).ask(body()).answer(stream)
    assert book.message["calls"] == []
    assert "'launch_rocket'" in book.message["text"]
    assert "get_weather" in book.message["text"]


def test_unknown_tools_pass_where_some_offered_tools_cannot_be_read() -> None:
    tools = [*body()["tools"], {"type": "web_search"}]
    stream = native_stream(("c1", "web_search", '{"q": "x"}'))
    book = Playbook(Settings(guided="off", reasks=0)).ask(body(tools=tools)).answer(stream)
    assert book.out == stream


def _failing(times: int) -> list[dict[str, object]]:
    history: list[dict[str, object]] = [USER]
    for n in range(times):
        history.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [call("get_weather", {"city": "X"}, f"c{n}")],
            }
        )
        history.append({"role": "tool", "tool_call_id": f"c{n}", "content": "Error: no such city"})
    return history


def test_a_call_that_failed_three_times_is_not_sent_a_fourth_time() -> None:
    stream = native_stream(("c9", "get_weather", '{"city":"X"}'))
    book = Playbook(Settings(guided="off", reasks=0)).ask(body(messages=_failing(3))).answer(stream)
    assert book.message["calls"] == []
    assert "failed 3 times" in book.message["text"]
    assert [e.rule for e in book.record.edits] == ["loop"]
    book = Playbook().ask(body(messages=_failing(2))).answer(stream)
    assert book.out == stream


def test_a_loop_is_broken_with_a_question_where_there_is_budget() -> None:
    stream = native_stream(("c9", "get_weather", '{"city":"X"}'))
    book = Playbook().ask(body(messages=_failing(3))).answer(stream)
    assert "Do something else" in json.loads(book.asked[1].body)["messages"][-1]["content"]
    book.answer(whole(None, [call("get_weather", {"city": "Y"})], "tool_calls"), JSON)
    assert [json.loads(c["arguments"]) for c in book.message["calls"]] == [{"city": "Y"}]


def test_unpaired_history_is_repaired_on_the_way() -> None:
    history = [
        USER,
        {"role": "assistant", "tool_calls": [call("get_weather", {"city": "X"})]},
        USER,
    ]
    book = Playbook().ask(body(messages=history))
    sent = json.loads(book.asked[0].body)["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    assert sent[2]["tool_call_id"] == "c1"


# guided mode


def test_guided_mode_asks_by_schema_and_leaves_out_what_nobody_said() -> None:
    book = Playbook(Settings(guided="on")).ask(body())
    asked = json.loads(book.asked[0].body)
    assert asked["response_format"]["type"] == "json_schema"
    assert "tools" not in asked
    reply = {"calls": [{"name": "get_weather", "arguments": {"city": "Paris", "days": 4}}]}
    book.answer(whole(json.dumps(reply)), JSON)
    (made,) = book.message["calls"]
    assert json.loads(made["arguments"]) == {"city": "Paris"}
    assert [e.rule for e in book.record.edits] == ["drop_unsourced"]
    assert book.out.endswith(b"data: [DONE]\n\n")


def test_guided_mode_without_a_call_answers_in_words_that_flow() -> None:
    raw = json.dumps(body()).encode()
    book = Playbook(Settings(guided="on")).ask(raw)
    book.answer(whole('{"no_call": "chat"}'), JSON)
    asked, again = json.loads(raw), json.loads(book.asked[1].body)
    assert again == {k: v for k, v in asked.items() if k != "tools"}, "as the client did"
    stream = text_stream("Hello")
    assert book.answer(stream).out == stream


def test_guided_mode_falls_back_where_the_upstream_refuses_it() -> None:
    raw = json.dumps(body()).encode()
    book = (
        Playbook(Settings(guided="on"))
        .ask(raw)
        .answer(b'{"error": "response_format"}', JSON, status=400)
    )
    assert book.asked[1].body == raw


WRITES = Probed(native=False, schema=True)


def test_an_upstream_that_writes_its_calls_is_asked_as_the_client_did_and_words_flow() -> None:
    raw = json.dumps(body()).encode()
    book = Playbook(Settings(guided="text")).ask(raw)
    book.tell(WRITES)
    assert book.asked[0].body == raw
    stream = text_stream("Good ", "morning.")
    assert book.answer(stream).out == stream
    assert len(book.asked) == 1


def test_a_greeting_answered_with_a_call_becomes_an_answer_in_words() -> None:
    asked = body(messages=[{"role": "user", "content": "Say hello in one word."}])
    book = Playbook(Settings(guided="text")).ask(asked)
    book.tell(WRITES)
    book.answer(
        text_stream('```json\n{"name": "get_weather", "arguments": {"city": "world"}}\n```')
    )
    second = json.loads(book.asked[1].body)
    assert "tools" not in second
    assert second["messages"] == asked["messages"]
    book.answer(whole("Hello"), JSON)
    assert (book.message["text"], book.message["calls"], book.message["finish"]) == (
        "Hello",
        [],
        "stop",
    )


def test_a_request_with_two_wishes_is_read_again_by_schema() -> None:
    asked = body(messages=[{"role": "user", "content": "The weather in Paris and in Rome?"}])
    book = Playbook(Settings(guided="text")).ask(asked)
    book.tell(WRITES)
    book.answer(text_stream(HERMES))
    assert json.loads(book.asked[1].body)["response_format"]["type"] == "json_schema"
    calls = [{"name": "get_weather", "arguments": {"city": c}} for c in ("Paris", "Rome")]
    book.answer(whole(json.dumps({"wishes": ["Paris", "Rome"], "calls": calls})), JSON)
    assert [json.loads(c["arguments"]) for c in book.message["calls"]] == [
        {"city": "Paris"},
        {"city": "Rome"},
    ]
    assert book.record.guided


BROKE = Failure("unavailable", "the connection broke", outcome_unknown=True)


def test_a_question_of_ours_is_sent_once_more_if_its_connection_breaks() -> None:
    book = Playbook(Settings(guided="text")).ask(
        body(messages=[{"role": "user", "content": "Say hello in one word."}])
    )
    book.tell(WRITES)
    book.answer(
        text_stream('```json\n{"name": "get_weather", "arguments": {"city": "world"}}\n```')
    )
    book.tell(UpstreamFailed(BROKE))
    assert book.asked[2] == book.asked[1]
    book.tell(UpstreamFailed(BROKE))
    assert len(book.asked) == 3
    assert book.finished is not None


def test_a_chat_request_is_sent_once_more_if_its_connection_breaks_before_an_answer_came() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamFailed(BROKE))
    assert book.asked[1] == book.asked[0]
    book.tell(UpstreamFailed(BROKE))
    assert book.head is not None
    assert book.head.status == 502
    begun = Playbook().ask(body())
    begun.tell(UpstreamHead(200, SSE))
    begun.tell(UpstreamFailed(BROKE))
    assert len(begun.asked) == 1


def test_a_demanded_call_is_asked_by_schema_at_once() -> None:
    book = Playbook(Settings(guided="text")).ask(body(tool_choice="required"))
    book.tell(WRITES)
    assert (
        "no_call"
        not in json.loads(book.asked[0].body)["response_format"]["json_schema"]["schema"][
            "properties"
        ]
    )


def test_an_upstream_that_refuses_tools_is_asked_by_schema_and_else_without_them() -> None:
    book = Playbook(Settings(guided="text")).ask(body())
    book.tell(WRITES)
    book.answer(b'{"error": "this model does not support tools"}', JSON, status=400)
    assert "response_format" in json.loads(book.asked[1].body)
    book.answer(whole('{"no_call": "chat"}'), JSON)
    last = json.loads(book.asked[2].body)
    assert "tools" not in last
    assert last["stream"] is True
    stream = text_stream("Hello")
    assert book.answer(stream).out == stream


def test_an_error_that_has_nothing_to_do_with_tools_reaches_the_client() -> None:
    book = Playbook(Settings(guided="text")).ask(body())
    book.tell(WRITES)
    for _ in range(3):
        book.answer(b'{"error": "no such model"}', JSON, status=404)
    assert book.head is not None
    assert book.head.status == 404
    assert book.out == b'{"error": "no such model"}'


# what goes wrong


def test_an_error_of_the_upstream_passes_as_it_is() -> None:
    book = Playbook().ask(body()).answer(b'{"error": {"message": "no"}}', JSON, status=429)
    assert book.head is not None
    assert book.head.status == 429
    assert book.out == b'{"error": {"message": "no"}}'


def test_an_upstream_that_cannot_be_reached_is_a_502() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamFailed(Failure("unavailable", "cannot connect to http://x")))
    assert book.head is not None
    assert book.head.status == 502
    assert "cannot connect" in json.loads(book.out)["error"]["message"]


def test_a_stream_that_breaks_off_gives_what_it_held_and_an_error() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(chunk({"content": "Well <tool_call>"})))
    book.tell(UpstreamFailed(Failure("unavailable", "the connection broke")))
    assert book.out.startswith(chunk({"content": "Well <tool_call>"}))
    assert b'"error"' in book.out
    assert assembled(book.out)["finish"] is None


def test_a_client_that_goes_closes_the_upstream() -> None:
    book = Playbook().ask(body())
    book.tell(UpstreamHead(200, SSE))
    commands = book.tell(ClientGone())
    assert isinstance(commands[0], CloseUpstream)
    assert isinstance(commands[1], Log)
    assert book.record.outcome == "gone"


def test_no_header_is_ever_in_a_record() -> None:
    book = Playbook().ask(
        body(), [("authorization", "Bearer sk-canary"), ("x-api-key", "sk-canary")]
    )
    book.answer(text_stream(HERMES))
    assert "sk-canary" not in json.dumps(book.record.to_dict())
    assert "sk-canary" not in repr(book.session.record) + repr(book.asked) + repr(
        Request("GET", "/", "", (("a", "sk-canary"),))
    )


def test_a_stream_under_another_content_type_is_read_as_one() -> None:
    book = Playbook().ask(body())
    stream = text_stream(
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    )
    book.answer(stream, {"content-type": "text/plain"}, cut=0)
    assert [c["name"] for c in book.message["calls"]] == ["get_weather"]


def test_a_whole_answer_too_long_to_be_read_passes_byte_for_byte() -> None:
    answer = whole("x" * 5000)
    book = Playbook(Settings(guided="off", budget=Budget(read_bytes=3000))).ask(body(False))
    book.answer(answer, {**JSON, "content-length": str(len(answer))}, cut=4000)
    assert book.out == answer
    assert book.head is not None
    assert dict(book.head.headers)["content-length"] == str(len(answer))


def test_an_answer_that_never_ends_behind_its_finish_is_settled_by_the_clock() -> None:
    book = Playbook().ask(body())
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(text_stream(text, done=False)))
    assert book.session.wake == book.now + 2
    book.now += 2
    book.tell(Tick())
    assert [c["name"] for c in book.message["calls"]] == ["get_weather"]


def test_each_cookie_of_the_upstream_keeps_its_own_line() -> None:
    book = Playbook().ask(body(False))
    book.tell(UpstreamHead(200, {**JSON, "set-cookie": "a=1, b=2"}, ("a=1", "b=2")))
    book.tell(UpstreamData(whole("Hello.")))
    book.tell(UpstreamEnd())
    assert book.head is not None
    assert [v for k, v in book.head.headers if k == "set-cookie"] == ["a=1", "b=2"]
    assert "a=1" not in str(book.record)


def test_an_answer_with_more_calls_than_anybody_makes_passes_untouched() -> None:
    settings = Settings(guided="off", budget=Budget(calls=3))
    for count, outcome in ((3, "edited"), (4, "passed")):
        answer = whole(HERMES * count)
        book = Playbook(settings).ask(body(False)).answer(answer, JSON)
        assert book.record.outcome == outcome
        assert (book.out == answer) == (outcome == "passed")


@pytest.mark.parametrize("annotations", [None, {"readOnlyHint": True}, {"readOnlyHint": False}])
def test_equal_calls_that_an_upstream_makes_natively_all_reach_the_client(annotations: Any) -> None:
    function = {"name": "look", "parameters": {"properties": {"q": {"type": "string"}}}}
    tool = {"type": "function", "function": {**function, "annotations": annotations}}
    asked = {**body(tools=[tool]), "messages": [{"role": "user", "content": "Look for bolts."}]}
    twice = [call("look", {"q": "bolts"}, f"c{n}") for n in (1, 2)]
    book = (
        Playbook(Settings(guided="off")).ask(asked).answer(whole(None, twice, "tool_calls"), JSON)
    )
    sent = json.loads(book.out)["choices"][0]["message"]["tool_calls"]
    assert [one["id"] for one in sent] == ["c1", "c2"]
    assert book.record.edits == []


DRAFT = '{"name": "send_mail", "arguments": {"to": "ann@example.org", "text": "Hi"}}'


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("before", ["", "<think>"], ids=["template", "tag"])
@pytest.mark.parametrize(
    ("thoughts", "called"),
    [
        (f"I could send {DRAFT}. But I must ask first.", []),
        (f"I send it.\n```json\n{DRAFT}\n```\n", ["send_mail"]),
        (f"I could send {DRAFT}. No: {HERMES}", ["get_weather"]),
        (f"{HERMES}\n<tool_call>{DRAFT}</tool_call>", ["get_weather", "send_mail"]),
    ],
    ids=["draft", "end", "another", "both"],
)
def test_a_draft_of_a_write_in_thoughts_alone_is_not_made(
    thoughts: str, called: list[str], before: str, stream: bool
) -> None:
    text = f"{before}{thoughts}</think>\n"
    sent = text_stream(*text) if stream else whole(text)
    book = Playbook().ask(body(stream)).answer(sent, None if stream else JSON)
    message = book.message if stream else json.loads(book.out)["choices"][0]["message"]
    calls = message["calls"] if stream else [c["function"] for c in message.get("tool_calls", ())]
    assert [c["name"] for c in calls] == called
