from __future__ import annotations

import json

from callwright.proxy.apis.responses_out import Output, render_error
from callwright.proxy.apis.responses_tools import Names
from callwright.proxy.apis.translated import Delta


def kinds(data: bytes) -> list[str]:
    return [line[7:].decode() for line in data.splitlines() if line.startswith(b"event: ")]


def test_the_events_of_a_message_come_in_their_order() -> None:
    out = Output({"stream": True})
    made = (
        out.delta(Delta(text="a", id="chatcmpl-1"))
        + out.delta(Delta(text="b", finish="stop"))
        + out.close()
    )
    assert kinds(made) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    numbers = [
        json.loads(line[6:])["sequence_number"]
        for line in made.splitlines()
        if line.startswith(b"data: ")
    ]
    assert numbers == list(range(10))


def test_an_answer_that_was_cut_off_is_incomplete() -> None:
    made = json.loads(Output({}).render_completion(Delta(text="a", finish="length")))
    assert made["status"] == "incomplete"
    assert made["incomplete_details"] == {"reason": "max_output_tokens"}


def test_a_call_that_was_cut_off_is_incomplete() -> None:
    calls = ((0, "a", "look", "{}"), (1, "b", "pay", '{"to":"An'))
    for finish, second in (("length", "incomplete"), ("stop", "completed")):
        made = json.loads(Output({}).render_completion(Delta(calls=calls, finish=finish)))
        assert [item["status"] for item in made["output"]] == ["completed", second]


def test_thoughts_are_an_item_of_their_own_before_what_is_said() -> None:
    out = Output({"stream": True})
    made = out.delta(Delta(reasoning="h", id="chatcmpl-1")) + out.delta(Delta(reasoning="m"))
    made += out.delta(Delta(text="a", finish="stop")) + out.close()
    assert kinds(made)[2:10] == [
        "response.output_item.added",
        "response.content_part.added",
        "response.reasoning_text.delta",
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
    ]
    whole = json.loads(Output({}).render_completion(Delta(reasoning="hm", text="a")))
    assert [i["type"] for i in whole["output"]] == ["reasoning", "message"]
    assert whole["output"][0]["content"] == [{"type": "reasoning_text", "text": "hm"}]


def test_a_call_of_a_grouped_tool_names_its_namespace() -> None:
    out = Output({}, Names(grouped={"mcp__time__now": ("mcp__time", "now")}))
    (item,) = json.loads(out.render_completion(Delta(calls=((0, "c1", "mcp__time__now", "{}"),))))[
        "output"
    ]
    assert (item["namespace"], item["name"], item["call_id"]) == ("mcp__time", "now", "c1")


def test_errors_have_openais_shape() -> None:
    assert json.loads(render_error(500, "x"))["error"]["type"] == "server_error"
    assert kinds(Output({}).broken("x")) == ["response.failed"]


def test_a_refusal_is_a_part_of_its_own() -> None:
    made = json.loads(Output({}).render_completion(Delta(refusal="No.", finish="stop")))
    (item,) = made["output"]
    assert (made["status"], item["status"]) == ("completed", "completed")
    assert item["content"] == [{"type": "refusal", "refusal": "No."}]
    out = Output({"stream": True})
    stream = out.delta(Delta(refusal="N", id="chatcmpl-1")) + out.delta(Delta(refusal="o."))
    stream += out.delta(Delta(finish="stop")) + out.close()
    assert kinds(stream)[2:] == [
        "response.output_item.added",
        "response.content_part.added",
        "response.refusal.delta",
        "response.refusal.delta",
        "response.refusal.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert b'"refusal":"No."' in stream


def test_a_refusal_behind_text_is_the_second_part() -> None:
    out = Output({"stream": True})
    stream = out.delta(Delta(text="Well.")) + out.delta(Delta(refusal="No.", finish="stop"))
    stream += out.close()
    places = [
        (event["type"].removeprefix("response."), event["content_index"])
        for line in stream.splitlines()
        if line.startswith(b"data: ") and "content_index" in (event := json.loads(line[6:]))
    ]
    assert places == [
        ("content_part.added", 0),
        ("output_text.delta", 0),
        ("output_text.done", 0),
        ("content_part.done", 0),
        ("content_part.added", 1),
        ("refusal.delta", 1),
        ("refusal.done", 1),
        ("content_part.done", 1),
    ]
    whole = json.loads(Output({}).render_completion(Delta(text="Well.", refusal="No.")))
    assert [part["type"] for part in whole["output"][0]["content"]] == ["output_text", "refusal"]


def test_an_answer_that_a_filter_ended_is_incomplete() -> None:
    delta = Delta(text="a", finish="content_filter")
    made = json.loads(Output({}).render_completion(delta))
    assert made["status"] == "incomplete"
    assert made["incomplete_details"] == {"reason": "content_filter"}
    out = Output({"stream": True})
    assert kinds(out.delta(delta) + out.close())[-1] == "response.incomplete"
