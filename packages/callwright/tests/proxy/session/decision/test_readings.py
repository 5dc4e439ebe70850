"""A second reading by schema: when one is asked for, and what it may add."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.nouns.types import Reply, ToolCall
from callwright.proxy.session.decision.decide import decide_calls
from callwright.proxy.session.decision.decision import Found
from tests.proxy.session.decision.test_decide import RIGHT, WRITTEN, context, settled, weak

BOTH = Reply(
    '{"wishes": ["a", "b"], "calls": [{"name": "get_weather", "arguments": {"city": "Paris",'
    ' "days": 9}}, {"name": "get_weather", "arguments": {"city": "Rome"}}]}'
)


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


PAY = {"to": "Ann", "amount": 50}
DECLARED = {"readOnlyHint": False, "destructiveHint": False}


def _paying(content: str, annotations: Any) -> Any:
    schema = {
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "amount": {"type": "number"},
            "note": {"type": ["string", "null"], "default": ""},
        },
        "required": ["to", "amount"],
    }
    function = {"name": "send_payment", "description": "Pay.", "parameters": schema}
    tool = {"type": "function", "function": function | {"annotations": annotations}}
    return context(messages=[{"role": "user", "content": content}], tools=[tool])


def _written(arguments: Any, dialect: str, name: str = "send_payment") -> Found:
    return Found(ToolCall("", name, arguments), raw=f"{dialect} {arguments}", dialect=dialect)


@pytest.mark.parametrize("annotations", [DECLARED, None], ids=["declared", "undeclared"])
@pytest.mark.parametrize(
    "text",
    [
        _written(PAY | {"amount": "50"}, "json"),
        _written(PAY | {"amount": 50.0}, "json"),
        _written(PAY | {"note": ""}, "hermes"),
        _written(PAY, "fenced", "sendPayment"),
    ],
    ids=lambda one: one.raw,
)
def test_the_text_of_a_delivered_call_is_no_second_call_however_it_is_written(
    text: Found, annotations: Any
) -> None:
    own = Found(ToolCall("c1", "send_payment", PAY), 0)
    made, _ = settled([own, text], _paying("Send Ann 50.", annotations))
    assert [(c.call.id, c.call.arguments) for c in made.calls] == [("c1", PAY)]
    assert made.edits[-1].before == text.raw or made.edits[-1].rule == "duplicate_call"


def test_a_delivered_call_that_is_repaired_is_not_made_again_by_its_text() -> None:
    own = Found(ToolCall("c1", "sendPayment", PAY | {"amount": "50"}), 0)
    made, _ = settled([own, _written(PAY, "json")], _paying("Send Ann 50.", DECLARED))
    assert [c.call.arguments for c in made.calls] == [PAY]


def test_one_call_in_two_formats_is_made_once() -> None:
    both = [_written(PAY, "hermes"), _written(PAY | {"amount": "50"}, "fenced")]
    made, _ = settled(both, _paying("Send Ann 50.", DECLARED))
    assert [c.call.arguments for c in made.calls] == [PAY]
    assert [(e.before, e.rule) for e in made.edits if e.rule == "repeated_call"] == [
        (both[1].raw, "repeated_call")
    ]


def test_equal_calls_that_may_be_meant_are_all_made() -> None:
    same = [_written(PAY, "hermes"), _written(PAY, "hermes")]
    assert len(settled(same, _paying("Send Ann 50.", DECLARED))[0].calls) == 2
    both = [_written(PAY, "hermes"), _written(PAY, "fenced")]
    assert len(settled(both, _paying("Send Ann 50 twice.", DECLARED))[0].calls) == 2
    other = [_written(PAY, "hermes"), _written(PAY | {"amount": 60}, "fenced")]
    assert len(settled(other, _paying("Send Ann 50 and 60.", DECLARED))[0].calls) == 2
