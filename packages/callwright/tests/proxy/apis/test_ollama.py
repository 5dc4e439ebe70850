from __future__ import annotations

import json
from typing import Any

import pytest

from callwright.proxy.apis.ollama import Lines, Ollama
from callwright.proxy.apis.translated import BadRequest, Delta


def test_options_and_formats_have_their_names_in_chat_completions() -> None:
    options = {"num_predict": 9, "temperature": 0, "num_ctx": 4096}
    made = Ollama().request(
        {"model": "m", "messages": [], "options": options, "format": {"type": "object"}}
    )
    assert (made["max_tokens"], made["temperature"], made["stream"]) == (9, 0, True)
    assert made["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert "num_ctx" not in made
    assert Ollama().request({"messages": [], "format": "json"})["response_format"] == {
        "type": "json_object"
    }


def test_images_go_as_data_addresses() -> None:
    made = Ollama().request({"messages": [{"role": "user", "content": "x", "images": ["QQ=="]}]})
    assert made["messages"][0]["content"][1]["image_url"]["url"].endswith("base64,QQ==")


def test_what_is_no_conversation_is_refused() -> None:
    for messages in (None, [3]):
        with pytest.raises(BadRequest):
            Ollama().request({"messages": messages})


def test_thoughts_have_a_field_of_their_own() -> None:
    line = json.loads(Lines({"stream": True}).delta(Delta(reasoning="hm")))
    assert line["message"]["thinking"] == "hm"
    assert line["done"] is False


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


def assistant(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "tool_calls": list(calls)}


def paired(*messages: Any) -> list[tuple[str, Any]]:
    """Each result with the arguments of its call."""
    made = Ollama().request({"messages": list(messages)})["messages"]
    given = {
        c["id"]: json.loads(c["function"]["arguments"])
        for m in made
        for c in m.get("tool_calls", ())
    }
    return [(m["content"], given.get(m["tool_call_id"])) for m in made if m["role"] == "tool"]


def result(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": text, **more}


def test_results_belong_to_the_calls_whose_ids_they_name_whatever_their_order() -> None:
    calls = assistant(call("pay", {"to": "Ann"}, id="a"), call("pay", {"to": "Bob"}, id="b"))
    bob = result("Bob's", tool_name="pay", tool_call_id="b")
    ann = result("Ann's", tool_name="pay", tool_call_id="a")
    assert paired(calls, bob, ann) == [("Bob's", {"to": "Bob"}), ("Ann's", {"to": "Ann"})]


def test_results_without_ids_belong_to_the_oldest_open_call_of_their_tool() -> None:
    calls = assistant(call("look", {}), call("pay", {"to": "Ann"}), call("pay", {"to": "Bob"}))
    came = paired(calls, result("1", tool_name="pay"), result("2", tool_name="pay"), result("3"))
    assert came == [("1", {"to": "Ann"}), ("2", {"to": "Bob"}), ("3", {})]


def test_a_result_belongs_to_the_last_message_that_called_before_one_that_was_lost() -> None:
    lost, again = assistant(call("pay", {"to": "Ann"})), assistant(call("pay", {"to": "Bob"}))
    user = {"role": "user", "content": "Bob instead."}
    assert paired(lost, user, again, result("Bob's", tool_name="pay")) == [("Bob's", {"to": "Bob"})]
    assert paired(lost, user, again, result("1"), result("2"))[1] == ("2", {"to": "Ann"})
    assert paired(result("nobody's", tool_call_id="x")) == [("nobody's", None)]


def test_arguments_as_text_and_results_as_objects_stay_what_they_are() -> None:
    messages = [assistant(call("pay", '{"to":"Ann"}')), {"role": "tool", "content": {"ok": True}}]
    made = Ollama().request({"messages": messages})["messages"]
    assert made[0]["tool_calls"][0]["function"]["arguments"] == '{"to":"Ann"}'
    assert json.loads(made[1]["content"]) == {"ok": True}


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_was_cut_off_is_text(stream: bool) -> None:
    cut = Delta(calls=((0, "a", "look", "{}"), (1, "b", "pay", '{"to":"An')), finish="length")
    lines = Lines({"stream": stream})
    said = lines.delta(cut) + lines.close() if stream else lines.render_completion(cut)
    first, last = json.loads(said.splitlines()[0])["message"], json.loads(said.splitlines()[-1])
    assert [c["function"]["name"] for c in first["tool_calls"]] == ["look"]
    assert first["content"] == 'pay {"to":"An'
    assert last["done_reason"] == "length"


@pytest.mark.parametrize("calls", [" ", 3, [3], [{}], [{"function": "x"}]])
def test_calls_that_are_none_are_refused(calls: Any) -> None:
    with pytest.raises(BadRequest, match="tool_calls"):
        Ollama().request({"messages": [{"role": "assistant", "tool_calls": calls}]})


def test_a_refusal_is_the_text() -> None:
    delta = Delta(refusal="I cannot help.", finish="stop")
    for line in (Lines({"stream": False}).render_completion(delta), Lines({}).delta(delta)):
        assert json.loads(line)["message"]["content"] == "I cannot help."
