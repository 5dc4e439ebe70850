from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.context import Context, Toolsets, read_context
from callwright.proxy.session.decide import Decision, Found, Sent, decide_calls
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import body

RIGHT = ToolCall("c1", "get_weather", {"city": "Paris"})


def context(reasks: int = 1, **more: Any) -> Context:
    found = read_context(body(**more), b"x", Toolsets(), Settings(reasks=reasks))
    assert found is not None
    return found


def settled(found: list[Found], given: Context, *replies: Reply) -> tuple[Decision, int]:
    work = decide_calls(found, "", "tool_calls", given)
    left = list(replies)
    asked = 0
    try:
        next(work)
        while True:
            asked += 1
            work.send(left.pop(0))
    except StopIteration as end:
        return end.value, asked


def test_a_right_native_call_is_untouched() -> None:
    made, asked = settled([Found(RIGHT, 0)], context())
    assert made.untouched
    assert not asked
    assert made.calls[0].same


def test_a_call_from_text_gets_an_id_of_ours() -> None:
    made, _ = settled([Found(RIGHT, dialect="hermes")], context())
    assert made.calls[0].call.id.startswith("cwp")
    assert not made.untouched
    assert made.dialect == "hermes"


def test_nothing_is_asked_beyond_the_budget() -> None:
    _, asked = settled([], context(0, tool_choice="required"))
    assert asked == 0
    _, asked = settled([], context(1, tool_choice="required"), Reply("no"))
    assert asked == 1


def test_a_second_answer_is_taken_only_if_the_gate_lets_it_through() -> None:
    bad = Reply("", (ToolCall("a", "send_mail", {"to": "x"}),))
    made, _ = settled([], context(tool_choice="required"), bad)
    assert made.calls == []
    good = Reply("", (RIGHT,))
    made, _ = settled([], context(tool_choice="required"), good)
    assert [c.call.tool for c in made.calls] == ["get_weather"]


def test_text_that_is_no_json_object_never_goes_out_as_a_call_from_text() -> None:
    made, _ = settled(
        [Found(ToolCall("", "get_weather", '{"city": "Par'), dialect="hermes")], context(0)
    )
    assert made.calls == []
    assert "refused" in made.text[0]


WRITTEN = Found(RIGHT, dialect="fenced")
BOTH = Reply(
    '{"wishes": ["a", "b"], "calls": [{"name": "get_weather", "arguments": {"city": "Paris",'
    ' "days": 9}}, {"name": "get_weather", "arguments": {"city": "Rome"}}]}'
)


def weak(content: str, **more: Any) -> Context:
    """A request to an upstream that writes its calls into the text and follows a schema."""
    made = context(messages=[{"role": "user", "content": content}], **more)
    made.native, made.schema = False, True
    return made


ORDER: dict[str, Any] = {
    "name": "create_order",
    "description": "Orders pieces of a part.",
    "parameters": {
        "type": "object",
        "properties": {"part": {"type": "string"}, "quantity": {"type": "integer"}},
        "required": ["part", "quantity"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": False},
}


def order(quantity: int) -> ToolCall:
    return ToolCall("", "create_order", {"part": "D-415", "quantity": quantity})


def test_a_number_in_words_is_asked_about_by_schema() -> None:
    tools = [{"type": "function", "function": ORDER}]
    given = weak("Please order four dozen of D-415 for us.", tools=tools)
    again = Reply(
        json.dumps({"calls": [{"name": "create_order", "arguments": order(48).arguments}]})
    )
    nothing = Reply('{"no_call": "all is there"}')  # to the second reading
    made, asked = settled([Found(order(16), dialect="fenced")], given, nothing, again)
    assert asked == 2
    assert [c.call.arguments for c in made.calls] == [{"part": "D-415", "quantity": 48}]


def test_in_the_place_of_a_write_that_is_kept_back_stands_a_question() -> None:
    tools = [{"type": "function", "function": ORDER}]
    given = weak("Please order some more of D-415 for us.", tools=tools)
    question = Reply('{"question": "Which quantity do you need?"}')
    made, asked = settled([Found(order(16), dialect="fenced")], given, question)
    assert asked == 1
    assert (made.calls, made.text) == ([], ["Which quantity do you need?"])


def test_a_single_wish_is_read_once() -> None:
    made, asked = settled([WRITTEN], weak("What is the weather in Paris?"))
    assert asked == 0
    assert [c.call.arguments for c in made.calls] == [{"city": "Paris"}]


def test_several_wishes_are_read_again_by_schema_and_the_first_call_stays_as_it_was() -> None:
    made, asked = settled([WRITTEN], weak("What is the weather in Paris and in Rome?"), BOTH)
    assert asked == 1
    assert [c.call.arguments for c in made.calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert [(e.path, e.rule) for e in made.edits] == [("/1", "guided_call")]


def test_a_second_reading_that_cannot_be_read_changes_nothing() -> None:
    for reply in (Reply(""), Reply('{"no_call": "x"}'), Reply("Rome?")):
        made, _ = settled([WRITTEN], weak("What is the weather in Paris and in Rome?"), reply)
        assert [c.call.arguments for c in made.calls] == [{"city": "Paris"}]
        assert made.edits == []


def _weather_of(*cities: str) -> Reply:
    calls = [{"name": "get_weather", "arguments": {"city": c}} for c in cities]
    return Reply(json.dumps({"wishes": ["weather"], "calls": calls}))


LISTED = "Send me the weather of these: 'Paris', 'Rome', 'Oslo'."


def test_a_second_reading_that_stops_too_early_is_asked_for_one_call_more() -> None:
    work = decide_calls([WRITTEN], "", "stop", weak(LISTED))
    assert next(work).kind == "guided"
    more = work.send(_weather_of("Paris", "Rome"))
    assert more.kind == "more"
    assert '"minItems": 3' in json.dumps(more.body["response_format"])
    with pytest.raises(StopIteration) as end:
        work.send(_weather_of("Paris", "Rome", "Oslo"))
    assert [c.call.arguments["city"] for c in end.value.value.calls] == ["Paris", "Rome", "Oslo"]
    assert [(e.path, e.rule) for e in end.value.value.edits] == [
        ("/1", "guided_call"),
        ("/2", "guided_call"),
    ]


def test_a_call_that_was_only_made_up_to_have_one_more_is_not_taken() -> None:
    made, asked = settled(
        [WRITTEN], weak(LISTED), _weather_of("Paris", "Rome"), _weather_of("Paris", "Rome", "Bonn")
    )
    assert asked == 2
    assert [c.call.arguments["city"] for c in made.calls] == ["Paris", "Rome"]


def test_what_the_second_reading_has_stays_where_the_third_is_of_no_use() -> None:
    made, asked = settled([WRITTEN], weak(LISTED), _weather_of("Paris", "Rome"), Reply(""))
    assert asked == 2
    assert [c.call.arguments["city"] for c in made.calls] == ["Paris", "Rome"]


def test_no_third_reading_where_every_number_and_quotation_has_its_call() -> None:
    _, asked = settled([WRITTEN], weak(LISTED), _weather_of("Paris", "Rome", "Oslo"))
    assert asked == 1


def test_no_second_reading_where_only_one_call_is_allowed_or_the_native_calls_work() -> None:
    query = "What is the weather in Paris and in Rome?"
    assert settled([WRITTEN], weak(query, parallel_tool_calls=False))[1] == 0
    strong = weak(query)
    strong.native = True
    assert settled([Found(RIGHT, 0)], strong)[1] == 0


def test_a_refused_call_gives_way_to_the_second_reading() -> None:
    bad = Found(ToolCall("", "get_weather", {"city": {"in": "Italy"}}), dialect="fenced")
    made, _ = settled([bad], weak("The weather in Rome, please"), BOTH)
    assert [c.call.arguments for c in made.calls] == [{"city": "Rome"}]
    (one,) = made.repaired
    assert (one.id, one.wrong) == (made.calls[0].call.id, bad.call)
    assert "city" in one.refusal


def test_a_repaired_call_is_noted_as_it_was_written_and_one_that_stays_refused_is_not() -> None:
    bad = Found(ToolCall("c1", "send_mail", {"to": "bob"}), 0)
    repaired = Reply(
        '{"tool_calls":[{"name":"send_mail","arguments":{"to":"bob","text":"Rain?"}}]}'
    )
    made, _ = settled([bad, Found(RIGHT, 1)], context(), repaired)
    (one,) = made.repaired
    assert (one.id, one.wrong) == (made.calls[0].call.id, bad.call)
    assert "text" in one.refusal
    for reply in (
        Reply("no"),
        Reply('{"tool_calls":[{"name":"send_mail","arguments":{"to":"bob"}}]}'),
    ):
        assert settled([bad], context(), reply)[0].repaired == []
    assert settled([Found(RIGHT, 0)], context())[0].repaired == []


def test_a_call_that_nobody_asked_for_becomes_an_answer_in_words() -> None:
    invented = Found(ToolCall("", "get_weather", {"city": "London"}), dialect="fenced")
    made, asked = settled([invented], weak("Say hello in one word."), Reply("Hello"))
    assert asked == 1
    assert made.calls == []
    assert made.text == ["Hello"]
    assert [e.rule for e in made.edits] == ["unasked_call"]


def test_words_beside_a_call_that_nobody_asked_for_are_answer_enough() -> None:
    invented = Found(ToolCall("", "get_weather", {"city": "London"}), dialect="fenced")
    work = decide_calls([invented], "Hello!", "stop", weak("Say hello in one word."))
    with pytest.raises(StopIteration) as end:
        next(work)
    assert end.value.value.calls == []


def test_a_demanded_call_is_never_unasked() -> None:
    invented = Found(ToolCall("", "get_weather", {"city": "London"}), dialect="fenced")
    made, asked = settled([invented], weak("Say hello in one word.", tool_choice="required"))
    assert asked == 0
    assert [c.call.tool for c in made.calls] == ["get_weather"]


def _token_tools() -> list[dict[str, Any]]:
    def offered(name: str, *keys: str) -> dict[str, Any]:
        schema = {
            "type": "object",
            "properties": {k: {"type": "string"} for k in keys},
            "required": list(keys),
        }
        return {
            "type": "function",
            "function": {"name": name, "description": name, "parameters": schema},
        }

    return [offered("GetUserToken", "username", "password"), offered("SetAlarm", "token", "time")]


def test_a_call_that_must_wait_gives_way_to_the_one_that_provides_for_it() -> None:
    given = weak("An alarm at 06:00, please. I am JohnDoe, password pass123.", tools=_token_tools())
    early = Found(ToolCall("", "SetAlarm", {"token": "abc123", "time": "06:00"}), dialect="fenced")
    first = {"name": "GetUserToken", "arguments": {"username": "JohnDoe", "password": "pass123"}}
    work = decide_calls([early], "", "stop", given)
    asked = json.dumps(next(work).body["response_format"])
    assert "GetUserToken" in asked
    assert "SetAlarm" not in asked
    with pytest.raises(StopIteration) as end:
        work.send(Reply(json.dumps({"wishes": ["token"], "calls": [first]})))
    assert [c.call.tool for c in end.value.value.calls] == ["GetUserToken"]
    assert [(e.path, e.rule) for e in end.value.value.edits] == [("/0", "guided_call")] * 2


@pytest.mark.parametrize(
    ("calls", "said", "truncated", "told"),
    [
        (1, "stop", False, "tool_calls"),
        (1, "length", False, "tool_calls"),
        (1, "length", True, "length"),
        (0, "tool_calls", False, "stop"),
        (0, "length", True, "length"),
        (0, "", False, "stop"),
    ],
)
def test_the_finish_reason_suits_the_calls(
    calls: int, said: str, truncated: bool, told: str
) -> None:
    made = Decision(calls=[Sent(ToolCall("c", "get_weather", {}), "{}")] * calls)
    assert made.finish_reason(said, truncated=truncated) == told
