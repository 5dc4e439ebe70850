from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.proxy.apis.anthropic import Anthropic, Messages, count_tokens, render_error
from callwright.proxy.apis.translated import BadRequest, Delta


def request(**more: Any) -> Any:
    return Anthropic().request(
        {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], **more}
    )


def test_settings_have_their_names_in_chat_completions() -> None:
    made = request(stop_sequences=["x"], stream=True, top_k=3, metadata={"user_id": "u"})
    assert made["stop"] == ["x"]
    assert made["stream_options"] == {"include_usage": True}
    assert made["top_k"] == 3
    assert "metadata" not in made


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"type": "any"}, "required"),
        ({"type": "none"}, "none"),
        ({"type": "tool", "name": "t"}, {"type": "function", "function": {"name": "t"}}),
    ],
)
def test_tool_choice_is_said_in_the_other_words(choice: Any, said: Any) -> None:
    tools = [
        {"name": "t", "input_schema": {}},
        {"type": "web_search_20250305", "name": "web_search"},
    ]
    made = request(tools=tools, tool_choice={**choice, "disable_parallel_tool_use": True})
    assert made["tool_choice"] == said
    assert made["parallel_tool_calls"] is False
    assert len(made["tools"]) == 1


def test_what_is_no_conversation_is_refused() -> None:
    for messages in (
        None,
        [3],
        [{"role": "robot", "content": "x"}],
        [{"role": "user", "content": 3}],
    ):
        with pytest.raises(BadRequest):
            request(messages=messages)


@pytest.mark.parametrize(
    "tool",
    [{}, {"input_schema": None}, {"type": "custom"}, {"type": "custom", "input_schema": None}],
)
def test_a_tool_of_the_client_without_a_schema_takes_no_parameters(tool: dict[str, Any]) -> None:
    (made,) = request(tools=[{"name": "now", "description": "The time.", **tool}])["tools"]
    assert made["function"]["parameters"] == {"type": "object"}
    for kind in ("web_search_20250305", "bash_20250124"):
        own = {"name": "own", **tool, "type": kind}
        assert "tools" not in request(tools=[own])
    given = {"type": "bash_20250124", "name": "own", "input_schema": {}}
    assert request(tools=[given])["tools"][0]["function"]["parameters"] == {}


def test_tools_that_are_no_list_are_refused() -> None:
    with pytest.raises(BadRequest, match="tools"):
        request(tools=1.5)


def test_thoughts_are_shown_to_those_who_asked_for_them() -> None:
    delta = Delta(text="a", reasoning="hm")
    asked = json.loads(Messages({"thinking": {"type": "enabled"}}).render_completion(delta))
    assert [b["type"] for b in asked["content"]] == ["thinking", "text"]
    assert [b["type"] for b in json.loads(Messages({}).render_completion(delta))["content"]] == [
        "text"
    ]


def test_errors_and_counts_have_anthropics_shape() -> None:
    assert json.loads(render_error(429, "slow"))["error"]["type"] == "rate_limit_error"
    assert (
        json.loads(count_tokens({"messages": [{"role": "user", "content": "x" * 400}]}))[
            "input_tokens"
        ]
        > 100
    )


def test_the_line_for_the_bill_is_no_prompt() -> None:
    bill = {
        "type": "text",
        "text": "x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli;",
    }
    made = request(system=[bill, {"type": "text", "text": "Be brief."}])
    assert made["messages"][0] == {"role": "system", "content": "Be brief."}


def test_what_the_system_says_between_the_turns_comes_first() -> None:
    turns = [{"role": "user", "content": "hi"}, {"role": "system", "content": "Agents: none."}]
    made = request(messages=turns, system="Be brief.")
    assert [m["role"] for m in made["messages"]] == ["system", "user"]
    assert made["messages"][0]["content"] == "Be brief.\n\nAgents: none."


def test_what_a_tool_says_it_may_do_is_kept() -> None:
    tool = {
        "name": "now",
        "input_schema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    }
    (made,) = request(tools=[tool])["tools"]
    assert made["function"]["annotations"] == {"readOnlyHint": True}


@pytest.mark.parametrize(
    "thread", [{"type": "create"}, {"type": "continue", "previous_message_id": "msg_1"}]
)
def test_a_thread_is_refused_so_that_the_client_sends_the_whole_conversation(thread: Any) -> None:
    """The SDK's tool runner reads ``error_code``, and goes on without a thread."""
    with pytest.raises(BadRequest, match="send the whole conversation") as caught:
        request(thread=thread)
    error = json.loads(caught.value.body)["error"]
    assert error["type"] == "invalid_request_error"
    assert error["details"]["error_code"] == "thread_unsupported_request"
    assert request(thread=None)["messages"]


def blocks_of(stream: bytes) -> list[list[Any]]:
    """Each block's name and input, with the rule asserted that one ends before the next begins."""
    made: list[list[Any]] = []
    is_open = False
    for line in stream.splitlines():
        event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
        if event.get("type") == "content_block_start":
            assert not is_open
            assert event["index"] == len(made)
            made.append([event["content_block"].get("name"), ""])
            is_open = True
        elif event.get("type") == "content_block_delta":
            assert event["index"] == len(made) - 1
            made[-1][1] += event["delta"].get("partial_json", event["delta"].get("text", ""))
        elif event.get("type") == "content_block_stop":
            is_open = False
    assert not is_open
    return made


def test_pieces_of_calls_that_come_side_by_side_stay_with_their_calls() -> None:
    out = Messages({"stream": True})
    made = out.delta(Delta(text="Now."))
    made += out.delta(Delta(calls=((0, "a", "pay", '{"to":'), (1, "b", "mail", '{"text":'))))
    made += out.delta(Delta(calls=((0, "", "", '"Ann"}'), (1, "", "", '"Hi"}'))))
    made += out.delta(Delta(text="Done.", finish="tool_calls")) + out.close()
    expected = [[None, "Now."], ["pay", '{"to":"Ann"}'], ["mail", '{"text":"Hi"}'], [None, "Done."]]
    assert blocks_of(made) == expected


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("stop", "tool_use"), ("tool_calls", "tool_use"), ("length", "max_tokens")],
)
def test_an_answer_with_a_call_ends_for_it_whatever_the_upstream_says(
    finish: str, reason: str
) -> None:
    """OpenAI ends an answer to a named tool_choice with "stop"; clients of this API go by the reason."""
    delta = Delta(calls=((0, "a", "pay", "{}"),), finish=finish)
    assert json.loads(Messages({}).render_completion(delta))["stop_reason"] == reason
    out = Messages({"stream": True})
    told = (out.delta(delta) + out.close()).decode()
    assert f'"stop_reason":"{reason}"' in told
    assert (
        json.loads(Messages({}).render_completion(Delta("a", finish="stop")))["stop_reason"]
        == "end_turn"
    )


FORM = {"type": "json_schema", "schema": {"type": "object"}}
ASKED_FORM = {
    "type": "json_schema",
    "json_schema": {"name": "output", "schema": {"type": "object"}},
}


@pytest.mark.parametrize(
    ("more", "made"),
    [
        ({"output_config": {"format": FORM}}, ASKED_FORM),
        ({"output_config": {"format": FORM, "effort": "low"}, "output_format": None}, ASKED_FORM),
        ({"output_format": FORM}, ASKED_FORM),
        ({"output_config": {"effort": "low"}}, None),
        ({"output_config": {"format": {"type": "json_schema"}}}, None),
        ({"output_config": {"format": {"type": "text", "schema": {}}}}, None),
        ({"output_config": "json"}, None),
        ({}, None),
    ],
)
def test_an_output_format_is_a_response_format(more: Any, made: Any) -> None:
    assert request(**more).get("response_format") == made


@pytest.mark.parametrize(
    ("delta", "reason"),
    [
        (Delta(refusal="I cannot help."), "refusal"),
        (Delta(refusal="I cannot help.", finish="stop"), "refusal"),
        (Delta(text="I cannot help.", finish="stop"), "end_turn"),
        (Delta(refusal="I cannot help.", finish="length"), "max_tokens"),
    ],
)
def test_a_refusal_is_text_and_the_reason_to_stop(delta: Delta, reason: str) -> None:
    whole = json.loads(Messages({}).render_completion(delta))
    assert whole["content"] == [{"type": "text", "text": "I cannot help."}]
    assert whole["stop_reason"] == reason
    messages = Messages({"stream": True})
    stream = messages.delta(delta) + messages.delta(Delta(finish=delta.finish)) + messages.close()
    assert b'"text_delta","text":"I cannot help."' in stream
    assert f'"stop_reason":"{reason}"'.encode() in stream
