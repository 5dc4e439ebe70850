"""Conversations with a repaired call, kept where that was asked for."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.errors import ConfigError
from callwright.nouns.types import ToolCall
from callwright.proxy.server.training_log import Keeper
from callwright.proxy.session.decision.decision import Repaired
from callwright.proxy.session.events import Keep
from tests.proxy.playbook import JSON, WEATHER, body, call, native_stream, text_stream, whole
from tests.proxy.upstream import Asked, Reply, proxy, upstream

WRONG, RIGHT = '{"city": "Paris", "days": "a few"}', {"city": "Paris", "days": 3}
REPAIR = '{"tool_calls":[{"name":"get_weather","arguments":{"city":"Paris","days":3}}]}'
RAIN = '{"sky": "drizzle"}'


def model(asked: Asked) -> Reply:
    """Gets the number of days wrong, repairs it when it is asked, and answers with what came back."""
    said = asked.json["messages"]
    if not asked.json.get("tools"):
        return Reply([whole(REPAIR)], headers=JSON)
    streams = asked.json["stream"]
    if said[-1]["role"] == "tool":
        text = "There is drizzle in Paris."
        return Reply([text_stream(text)]) if streams else Reply([whole(text)], headers=JSON)
    if "thank you" in said[-1]["content"]:
        return (
            Reply([text_stream("Gladly.")]) if streams else Reply([whole("Gladly.")], headers=JSON)
        )
    if streams:
        return Reply([native_stream(("c1", "get_weather", WRONG))])
    return Reply([whole(None, [call("get_weather", WRONG)], "tool_calls")], headers=JSON)


async def conversation(address: str, stream: bool) -> list[dict[str, Any]]:
    """What a client that came back with the call's result, and then with thanks, knows of its
    conversation.
    """
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "What is the weather in Paris for 3 days?"}
    ]
    async with HttpClient(Egress.any()) as client:
        for turn in range(3):
            asked = json.dumps(body(stream, messages=messages)).encode()
            given = {
                "authorization": "Bearer sk-canary-5fd1c0ffee",
                "content-type": "application/json",
            }
            made = await client.request(
                "POST", f"{address}/v1/chat/completions", headers=given, data=asked
            )
            assert isinstance(made, HttpResponse)
            messages += answered(made.body, stream)
            if turn == 0:
                (entry,) = messages[-1]["tool_calls"]
                messages.append({"role": "tool", "tool_call_id": entry["id"], "content": RAIN})
            else:
                messages.append({"role": "user", "content": "thank you, token=abcdef123456"})
    return messages


def answered(data: bytes, stream: bool) -> list[dict[str, Any]]:
    from tests.proxy.playbook import assembled

    if not stream:
        return [json.loads(data)["choices"][0]["message"]]
    said = assembled(data)
    calls = [call(c["name"], c["arguments"], c["id"]) for c in said["calls"]]
    return [
        {"role": "assistant", "content": said["text"], **({"tool_calls": calls} if calls else {})}
    ]


def kept(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_conversation_with_a_repaired_call_is_kept_with_the_error_in_its_place(
    tmp_path: Path, stream: bool
) -> None:
    file = tmp_path / "deep" / "kept.jsonl"
    async with upstream(model) as up, proxy(up.url, keeper=Keeper(file)) as (address, _):
        messages = await conversation(address, stream)
    first, second = kept(file)
    question, wrong, refused, right, result, answer = first["messages"]
    assert question == messages[0]
    (entry,) = wrong["tool_calls"]
    assert entry["function"]["name"] == "get_weather"
    assert json.loads(entry["function"]["arguments"]) == json.loads(WRONG)
    assert refused["tool_call_id"] == entry["id"]
    assert "days" in json.loads(refused["content"])["error"]
    assert json.loads(right["tool_calls"][0]["function"]["arguments"]) == RIGHT
    assert (result["content"], answer["content"]) == (RAIN, "There is drizzle in Paris.")
    assert second["messages"][:6] == first["messages"]
    assert second["messages"][-1]["content"] == "Gladly."
    assert [tool["function"]["name"] for tool in first["tools"]] == ["get_weather", "send_mail"]
    told = file.read_text()
    assert "canary" not in told, "no header is kept"
    assert "abcdef123456" not in told, "nor what looks like a credential"
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_client_of_another_api_comes_back_with_the_same_call(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    function = WEATHER["function"]
    tools = [
        {"name": "get_weather", "description": "Weather.", "input_schema": function["parameters"]}
    ]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "What is the weather in Paris for 3 days?"}
    ]
    async with (
        upstream(model) as up,
        proxy(up.url, keeper=Keeper(file)) as (address, _),
        HttpClient(Egress.any()) as c,
    ):
        for _turn in range(2):
            asked = {
                "model": "m",
                "max_tokens": 99,
                "messages": messages,
                "tools": tools,
                "stream": False,
            }
            made = await c.request(
                "POST", f"{address}/v1/messages", data=json.dumps(asked).encode()
            )
            assert isinstance(made, HttpResponse)
            content = json.loads(made.body)["content"]
            came = [
                {"type": "tool_result", "tool_use_id": p["id"], "content": RAIN}
                for p in content
                if "id" in p
            ]
            messages += [
                {"role": "assistant", "content": content},
                {"role": "user", "content": came},
            ]
    (record,) = kept(file)
    assert [m["role"] for m in record["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]


async def test_nothing_is_kept_of_others_nor_without_being_asked(tmp_path: Path) -> None:
    def right(asked: Asked) -> Reply:
        if asked.json["messages"][-1]["role"] == "tool":
            return Reply([whole("Drizzle.")], headers=JSON)
        return Reply([whole(None, [call("get_weather", RIGHT)], "tool_calls")], headers=JSON)

    file = tmp_path / "kept.jsonl"
    async with upstream(right) as up, proxy(up.url, keeper=Keeper(file)) as (address, _):
        await conversation(address, False)
    assert kept(file) == []
    async with upstream(model) as up, proxy(up.url) as (address, made):
        await conversation(address, False)
        assert not made.settings.keep


def exchange(id: str = "", repaired: str = "") -> Keep:
    messages = [{"role": "user", "content": "Weather?"}]
    if id:
        messages += [{"role": "assistant", "tool_calls": [call("get_weather", RIGHT, id)]}]  # type: ignore[list-item]
    wrong = (
        (Repaired(repaired, ToolCall("", "get_weather", "{days"), "no JSON"),) if repaired else ()
    )
    return Keep({"messages": messages, "tools": []}, {"role": "assistant", "content": "x"}, wrong)


def test_a_file_that_cannot_be_written_is_said_at_once_or_where_it_happens(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing can be kept"):
        Keeper(tmp_path)
    said: list[str] = []
    keeper = Keeper(tmp_path / "file", said.append)
    (tmp_path / "file").unlink()
    (tmp_path / "file").mkdir()
    keeper.take(exchange(repaired="cwr000001"))
    for _ in range(2):
        keeper.take(exchange("cwr000001"))
    (line,) = said
    assert "any more" in line


def test_arguments_that_are_no_json_are_kept_as_they_were_written(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path / "file")
    keeper.take(exchange(repaired="cwr000001"))
    keeper.take(exchange("cwr000002"))
    assert kept(tmp_path / "file") == []
    keeper.take(exchange("cwr000001"))
    (record,) = kept(tmp_path / "file")
    assert record["messages"][1]["tool_calls"][0]["function"]["arguments"] == "{days"
