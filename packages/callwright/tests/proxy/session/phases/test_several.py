"""Requests for several choices: nothing passes in any that would not pass alone."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.proxy.server.budget import Budget
from callwright.proxy.session.answers.choices import StreamedChoices, WholeChoices
from callwright.proxy.session.events import (
    SendBody,
    Tick,
    UpstreamData,
    UpstreamEnd,
    UpstreamFailed,
    UpstreamHead,
)
from callwright.proxy.session.phases.answering import CUT_OFF
from callwright.proxy.session.settings import GuardSetting, Settings
from tests.proxy.playbook import JSON, SSE, WEATHER, Playbook, body, call, cut_at, whole
from tests.proxy.session.answers.test_choices import DONE, document, event
from tests.proxy.session.test_guarding import AGAIN, MADE, ORDER, UNSTATED, USER
from tests.proxy.upstream import Asked, Reply, proxy, upstream

WEATHER_CALL = call("get_weather", {"city": "Paris"}, "w1")
REPEATED = call("place_order", MADE, "c7")
INVENTED = call("place_order", UNSTATED, "c8")
SETTINGS = Settings(guided="off", guard="on", reasks=0)
WRITTEN = f'<tool_call>{{"name": "place_order", "arguments": {json.dumps(MADE)}}}</tool_call>'


def message(entry: Any) -> dict[str, Any]:
    """A message with this text or this call."""
    said = {"content": entry} if isinstance(entry, str) else {"tool_calls": [entry]}
    return {"role": "assistant", "content": None, **said}


def stream(*entries: Any, together: bool = False) -> bytes:
    """The same as a stream: the choices take turns, in events of their own or together."""
    starts: list[Any] = [
        (n, {"role": "assistant", "content": entry[:9] if isinstance(entry, str) else None}, None)
        for n, entry in enumerate(entries)
    ]
    rests: list[Any] = [
        (n, {"content": e[9:]} if isinstance(e, str) else {"tool_calls": [{"index": 0, **e}]}, None)
        for n, e in enumerate(entries)
    ]
    ends: list[Any] = [
        (n, {}, "stop" if isinstance(entry, str) else "tool_calls")
        for n, entry in enumerate(entries)
    ]
    rounds = (starts, rests, ends)
    if together:
        return b"".join(event(*choices) for choices in rounds) + DONE
    return b"".join(event(one) for choices in rounds for one in choices) + DONE


def whole_of(*entries: Any) -> bytes:
    return document(*map(message, entries))


async def ask(
    address: str, messages: list[Any], streams: bool, **more: Any
) -> list[dict[str, Any]]:
    """Each choice as the client has it."""
    asked: Any = {"model": "m", "messages": messages, "tools": [ORDER, WEATHER], "n": 3, **more}
    url = f"{address}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0) as client:
        if streams:
            async with client.chat.completions.stream(**asked) as events:
                answer: Any = await events.get_final_completion()
        else:
            answer = await client.chat.completions.create(**asked)
    return [
        {
            "text": one.message.content,
            "calls": [
                (c.function.name, c.function.arguments) for c in one.message.tool_calls or ()
            ],
            "end": one.finish_reason,
        }
        for one in sorted(answer.choices, key=lambda one: one.index)
    ]


def answer_with(*entries: Any, together: bool = False) -> Any:
    def answer(asked: Asked) -> Reply:
        assert asked.json["n"] == 3
        if asked.json.get("stream"):
            return Reply(cut_at(stream(*entries, together=together), 500))
        return Reply([whole_of(*entries)], headers=JSON)

    return answer


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize(
    ("messages", "bad", "rule"),
    [(AGAIN, REPEATED, "repeated_write"), ([USER], INVENTED, "unstated_value")],
)
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_what_is_held_alone_is_held_in_every_choice(
    place: int, messages: list[Any], bad: Any, rule: str, together: bool, streams: bool
) -> None:
    entries: list[Any] = ["It rains.", WEATHER_CALL]
    entries.insert(place, bad)
    answer = answer_with(*entries, together=together)
    async with upstream(answer) as up, proxy(up.url, SETTINGS) as (address, made):
        found = await ask(address, messages, streams)
        record = made.counters.records[0]
    assert (found[place]["calls"], found[place]["end"]) == ([], "stop")
    assert found[place]["text"]
    words, called = [one for n, one in enumerate(found) if n != place]
    assert (words["text"], words["calls"]) == ("It rains.", [])
    assert [(name, json.loads(text)) for name, text in called["calls"]] == [
        ("get_weather", {"city": "Paris"})
    ]
    assert called["end"] == "tool_calls"
    assert [one.rule for one in record.guarding.kept_back] == [rule]
    assert record.outcome == "edited"
    assert [e.path.rpartition("/")[0] for e in record.edits] == [f"/choices/{place}"]
    assert [one.tool for one in record.sent] == ["get_weather"]
    assert sorted(one.tool for one in record.parsed) == ["get_weather", "place_order"]
    assert len(up.asked) == 1


@pytest.mark.parametrize("guard", ["on", "report", "off"])
@pytest.mark.parametrize("streams", [False, True])
def test_right_choices_pass_to_the_byte(streams: bool, guard: GuardSetting) -> None:
    entries = ("It {x} rains.", WEATHER_CALL, REPEATED)
    answer = stream(*entries) if streams else whole_of(*entries)
    book = Playbook(Settings(guided="off", guard=guard))
    asked = {**body(streams, tools=[ORDER, WEATHER]), "messages": [USER], "n": 3}
    raw = json.dumps(asked, indent=1).encode()
    book.ask(raw).answer(answer, SSE if streams else JSON)
    assert book.out == answer
    assert book.asked[0].body == raw
    assert book.record.outcome == "untouched"


def judged(
    answer: bytes, settings: Settings = SETTINGS, headers: Any = None, **more: Any
) -> Playbook:
    streams = answer.startswith(b"data:")
    asked = {**body(streams, tools=[ORDER, WEATHER]), "messages": AGAIN, "n": 2, **more}
    return Playbook(settings).ask(asked).answer(answer, headers or (SSE if streams else JSON))


@pytest.mark.parametrize("answer", [whole_of("Hi", REPEATED), stream("Hi", REPEATED)])
def test_only_reported_calls_pass_to_the_byte(answer: bytes) -> None:
    book = judged(answer, Settings(guided="off", guard="report"))
    assert book.out == answer
    assert [one.is_sent for one in book.record.guarding.held] == [True]


@pytest.mark.parametrize("answer", [whole_of(WRITTEN, WRITTEN), stream(WRITTEN, WRITTEN)])
def test_calls_in_the_text_of_a_choice_are_calls_and_have_ids_of_their_own(answer: bytes) -> None:
    book = judged(answer, messages=[USER])
    assert b"<tool_call>" not in book.out
    assert [one.tool for one in book.record.sent] == ["place_order"] * 2
    assert len({one.id for one in book.record.sent}) == 2
    assert judged(answer).record.sent == (), "and are judged as such"


@pytest.mark.parametrize("wrong", ["1", 0, 2.0, [], "two"])
@pytest.mark.parametrize("streams", [False, True])
def test_whatever_n_is_the_answer_is_judged(wrong: Any, streams: bool) -> None:
    answer = stream(REPEATED) if streams else whole_of(REPEATED)
    book = judged(answer, n=wrong)
    assert [one.rule for one in book.record.guarding.kept_back] == ["repeated_write"]
    assert b"tool_calls" not in book.out


def test_events_under_another_content_type_are_a_stream() -> None:
    book = judged(stream("Hi", REPEATED), headers=JSON)
    assert book.head is not None
    assert dict(book.head.headers)["content-type"].startswith("text/event-stream")
    assert [one.rule for one in book.record.guarding.kept_back] == ["repeated_write"]


def test_questions_come_out_of_one_budget_and_ask_for_one_answer() -> None:
    for streams in (False, True):
        answer = stream(REPEATED, REPEATED) if streams else whole_of(REPEATED, REPEATED)
        book = judged(answer, Settings(guided="off", guard="on", reasks=1))
        assert len(book.asked) == 2
        asked = json.loads(book.asked[1].body)
        assert "n" not in asked
        assert asked["stream"] is False
        book.answer(whole("It is ordered."), JSON)
        assert len(book.asked) == 2
        assert book.out.count(b"It is ordered.") == 1
        assert b"was not called again" in book.out
        assert b"tool_calls" not in book.out
        assert book.finished is not None


def test_a_client_with_functions_gets_several_choices_in_their_form() -> None:
    entries = (REPEATED, WEATHER_CALL)
    functions = [ORDER["function"], WEATHER["function"]]
    for answer in (whole_of(*entries), stream(*entries)):
        book = judged(answer, tools=None, functions=functions)
        assert b"tool_calls" not in book.out
        assert book.out.count(b'"function_call":{') == 1
        assert b"c7" not in book.out
        assert len(book.record.guarding.kept_back) == 1


def test_an_error_of_the_upstream_is_the_answer() -> None:
    error = b'{"error": {"message": "no"}}'
    streams = {**body(True), "n": 2}
    book = Playbook(SETTINGS).ask(streams).answer(error, JSON, status=400)
    assert book.out == error
    assert book.head is not None
    assert book.head.status == 400
    event_of_it = b"data: " + error + b"\n\n"
    cut = stream(REPEATED, REPEATED).removesuffix(DONE)
    book = judged(cut + event_of_it)
    assert book.out == event_of_it, "choices that were not judged do not go out"
    for book in (judged(cut.rpartition(b"data:")[0]), Playbook(SETTINGS).ask(streams)):
        if book.finished is None:
            book.tell(UpstreamHead(200, SSE))
            book.tell(UpstreamData(cut.rpartition(b"data:")[0]))
            book.tell(UpstreamFailed(CUT_OFF))
        assert b"place_order" not in book.out
        assert b"ended before its answer did" in book.out
        assert book.record.outcome == "failed"
    book = Playbook(SETTINGS).ask(streams)
    book.tell(UpstreamFailed(CUT_OFF))
    assert book.head is not None
    assert book.head.status == 502


def test_choices_that_are_complete_are_not_lost_with_the_connection() -> None:
    book = Playbook(SETTINGS).ask({**body(True, tools=[ORDER]), "messages": AGAIN, "n": 2})
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(stream("It rains.", REPEATED).removesuffix(DONE)))
    assert book.out == b""
    book.tell(UpstreamFailed(CUT_OFF))
    assert read_choices(book.out)[0][0] == "It rains."
    assert [one.rule for one in book.record.guarding.kept_back] == ["repeated_write"]
    assert (book.record.outcome, book.finished is not None) == ("edited", True)


def test_badly_numbered_calls_are_written_again_in_every_choice() -> None:
    bare = event((0, {"tool_calls": [WEATHER_CALL]}, None), (1, {"content": "Hi"}, None))
    book = judged(bare + event((0, {}, "tool_calls"), (1, {}, "stop")) + DONE, messages=[USER])
    events = [json.loads(e[6:]) for e in book.out.decode().split("\n\n") if e.startswith("data: {")]
    found = [p for e in events for c in e["choices"] for p in c["delta"].get("tool_calls") or ()]
    assert [(one["index"], one["function"]["name"]) for one in found] == [(0, "get_weather")]
    assert found[0]["id"]


def test_a_client_that_waits_for_a_stream_is_kept_alive() -> None:
    book = Playbook(SETTINGS).ask({**body(True), "n": 2})
    book.tell(UpstreamHead(200, SSE))
    assert book.head is not None
    book.tell(UpstreamData(stream("It rains.", "It snows.")[:300]))
    assert book.out == b""
    wake = book.session.wake
    assert wake is not None
    book.now = wake
    assert book.tell(Tick()) == [SendBody(b": keep-alive\n\n")]


@pytest.mark.parametrize("bad", [REPEATED, "It snows."])
def test_the_end_of_the_connection_is_not_waited_for(bad: Any) -> None:
    book = Playbook(SETTINGS).ask({**body(True, tools=[ORDER]), "messages": AGAIN, "n": 2})
    book.tell(UpstreamHead(200, SSE))
    book.tell(UpstreamData(stream("It rains.", bad)))
    assert book.out.endswith(DONE)
    assert book.finished is None
    book.tell(UpstreamData(b": bye\n\n"))
    book.tell(UpstreamEnd())
    assert book.out.endswith(DONE + b": bye\n\n")
    assert book.finished is not None
    assert len(book.logs) == 1


def test_what_is_too_long_passes_as_it_comes_and_is_marked() -> None:
    answer = whole_of("x" * 2_000, REPEATED)
    small = Settings(guided="off", guard="report", budget=Budget(read_bytes=1_000))
    book = judged(answer, small)
    assert book.out == answer
    assert book.record.fault == "over-budget"


def test_with_the_guard_on_no_choice_passes_that_was_too_long_to_be_read() -> None:
    small = Settings(guided="off", guard="on", budget=Budget(read_bytes=1_000))
    book = judged(whole_of("x" * 2_000, REPEATED), small)
    assert b"tool_calls" not in book.out
    assert (book.record.outcome, book.record.fault) == ("failed", "over-budget")


def test_json_of_a_form_is_repaired_in_each_choice() -> None:
    form = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    book = judged(whole_of("```json\n{}\n```", "{}"), messages=[USER], response_format=form)
    found = [c["message"]["content"] for c in json.loads(book.out)["choices"]]
    assert found == ["{}", "{}"]
    assert [e.path for e in book.record.edits] == ["/choices/0/content"]


def test_what_is_no_completion_passes() -> None:
    for answer in (b"<html>", document(None)):
        book = judged(answer, headers=JSON)
        assert book.out == answer
        assert book.record.outcome == "passed"


def test_where_the_engine_would_lead_each_choice_is_the_upstreams_own() -> None:
    book = Playbook(Settings(guided="on", guard="on", reasks=0))
    book.ask({**body(False, tools=[ORDER]), "messages": AGAIN, "n": 2})
    book.answer(whole_of(WRITTEN, "Done."), JSON)
    assert [one.rule for one in book.record.guarding.kept_back] == ["repeated_write"]
    assert not book.record.guided


def test_nothing_of_it_is_stored_as_training_data() -> None:
    book = Playbook(Settings(guided="off", keep=True))
    book.ask({**body(False), "n": 2})
    book.tell(UpstreamHead(200, JSON))
    book.tell(UpstreamData(whole_of("Hi", "Ho")))
    commands = book.tell(UpstreamEnd())
    assert not any(type(one).__name__ == "Keep" for one in commands)


ENTRIES = ("It rains.", WEATHER_CALL, REPEATED, INVENTED, WRITTEN, f"Sure. {WRITTEN} Done.")


def read_choices(out: bytes) -> list[tuple[Any, ...]]:
    """Text, calls and end of each choice of an answer, streamed or whole."""
    parts = WholeChoices(out).parts
    if not parts:
        streamed = StreamedChoices()
        streamed.feed(out)
        parts = streamed.parts
    found = []
    for part in parts.values():
        (choice,) = json.loads(part)["choices"]
        said = choice["message"]
        functions = [entry["function"] for entry in said.get("tool_calls") or ()]
        calls = [(one["name"], json.loads(one["arguments"])) for one in functions]
        found.append(((said.get("content") or "").strip(), calls, choice["finish_reason"]))
    return found


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
    st.booleans(),
    st.booleans(),
)
def test_each_choice_becomes_what_it_becomes_alone(
    entries: list[Any], order: Any, streams: bool, together: bool
) -> None:
    alone = [read_choices(judged(whole_of(entry), n=1).out)[0] for entry in entries]
    answer = stream(*entries, together=together) if streams else whole_of(*entries)
    if streams and not together:  # the events of one choice keep their order
        events = answer.removesuffix(DONE).split(b"\n\n")[:-1]
        turns = [n % len(entries) for n in range(len(events))]
        order.shuffle(turns)
        mine = {n: iter(events[n :: len(entries)]) for n in range(len(entries))}
        answer = b"".join(next(mine[n]) + b"\n\n" for n in turns) + DONE
    assert read_choices(judged(answer, n=len(entries) + 1).out) == alone
