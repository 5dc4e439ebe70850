from __future__ import annotations

import pytest

from callwright.proxy.apis.responses import Responses
from callwright.proxy.apis.translated import BadRequest


def test_settings_have_their_names_in_chat_completions() -> None:
    form = {
        "format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}, "strict": True}
    }
    made = Responses().request(
        {
            "model": "m",
            "input": "x",
            "max_output_tokens": 5,
            "reasoning": {"effort": "low"},
            "text": form,
            "stream": True,
        }
    )
    assert made["max_tokens"] == 5
    assert made["reasoning_effort"] == "low"
    assert made["response_format"]["json_schema"]["name"] == "n"
    assert made["stream_options"] == {"include_usage": True}


def test_tools_of_the_vendors_own_servers_are_left_out() -> None:
    tools = [
        {"type": "web_search"},
        {"type": "function", "name": "f"},
        {"type": "custom", "name": "c"},
    ]
    made = Responses().request(
        {"input": "x", "tools": tools, "tool_choice": {"type": "function", "name": "f"}}
    )
    assert [t["function"]["name"] for t in made["tools"]] == ["f", "c"]
    assert made["tool_choice"]["function"] == {"name": "f"}


def test_calls_and_choices_of_a_namespace_keep_their_flat_name() -> None:
    call = {
        "type": "function_call",
        "namespace": "mcp__time",
        "name": "now",
        "call_id": "c1",
        "arguments": "{}",
    }
    tools = [
        {"type": "namespace", "name": "mcp__time", "tools": [{"type": "function", "name": "now"}]}
    ]
    choice = {"type": "function", "namespace": "mcp__time", "name": "now"}
    made = Responses().request({"input": [call], "tools": tools, "tool_choice": choice})
    assert made["messages"][0]["tool_calls"][0]["function"]["name"] == "mcp__time__now"
    assert made["tool_choice"]["function"] == {"name": "mcp__time__now"}


def test_only_allowed_tools_are_offered() -> None:
    tools = [{"type": "function", "name": name} for name in ("pay", "look")]
    tools.append(
        {"type": "namespace", "name": "mcp__t", "tools": [{"type": "function", "name": "now"}]}
    )
    named = [{"type": "function", "name": "look"}, {"namespace": "mcp__t", "name": "now"}]
    for mode in ("auto", "required"):
        choice = {"type": "allowed_tools", "mode": mode, "tools": named}
        made = Responses().request({"input": "x", "tools": tools, "tool_choice": choice})
        assert [t["function"]["name"] for t in made["tools"]] == ["look", "mcp__t__now"]
        assert made["tool_choice"] == mode


@pytest.mark.parametrize(
    "items",
    [
        3,
        [3],
        [{"type": "computer_call"}],
        [{"type": ["message"]}],
        [{"role": "user", "content": [{"type": "x"}]}],
    ],
)
def test_what_cannot_be_passed_on_is_refused(items: object) -> None:
    with pytest.raises(BadRequest):
        Responses().request({"input": items})


@pytest.mark.parametrize("key", ["previous_response_id", "conversation", "prompt"])
def test_what_a_server_would_have_to_remember_is_refused(key: str) -> None:
    with pytest.raises(BadRequest, match="send the whole input"):
        Responses().request({"input": "x", key: "id_1"})


def test_a_reference_to_an_item_is_refused_unless_it_is_a_thought() -> None:
    """A call that is only referred to would be missing, and be made again."""
    said = {"role": "user", "content": "hi"}
    thought = {"type": "item_reference", "id": "rs_1"}
    assert len(Responses().request({"input": [said, thought]})["messages"]) == 1
    for id_ in ("fc_1", "msg_1", None):
        with pytest.raises(BadRequest, match="store: false"):
            Responses().request({"input": [said, {"type": "item_reference", "id": id_}]})
