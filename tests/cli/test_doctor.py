"""The doctor against endpoints that do, and do not do, what they should."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.proxy.playbook import JSON, call, native_stream, text_stream, whole
from tests.proxy.upstream import Asked, Reply, upstream

from callwright.cli import doctor
from callwright.errors import ConfigError

HERMES = '<tool_call>{"name": "switch_lamp", "arguments": {"room": "kitchen", "on": true}}</tool_call>'
LAMP = {"room": "kitchen", "on": True}


def good(asked: Asked) -> Reply:
    if asked.method == "GET":
        return Reply([b'{"data": [{"id": "big"}]}'], headers=JSON)
    body = asked.json
    assert body["model"] == "big"
    text = body["messages"][0]["content"]
    if body.get("stream"):
        return Reply([native_stream(("c1", "switch_lamp", json.dumps(LAMP)))])
    if "response_format" in body:
        return Reply([whole('{"zq": "k7"}')], headers=JSON)
    if "password" in text:
        return Reply([whole("heliotrope")], headers=JSON)
    if "tools" in body and body.get("tool_choice") != "none":
        return Reply([whole(None, [call("switch_lamp", LAMP)], "tool_calls")], headers=JSON)
    return Reply([whole("Hello.")], headers=JSON)


def poor(asked: Asked) -> Reply:
    body = asked.json
    if body.get("stream"):
        return Reply([text_stream(HERMES)])
    if "response_format" in body:
        return Reply([b'{"error": "unknown field"}'], 400, JSON)
    if "tools" in body:
        calls = [call("switch_lamp", LAMP, f"c{n}") for n in range(2)] if "parallel" in str(body.keys()) else []
        return Reply([whole(HERMES, calls)], headers=JSON)
    short = json.loads(whole("<think>hm</think>I saw no password."))
    short["usage"]["prompt_tokens"] = 2048
    return Reply([json.dumps(short).encode()], headers=JSON)


async def found(answer: Any, model: str | None = None) -> dict[str, doctor.Finding]:
    async with upstream(answer) as up:
        return {f.about: f for f in await doctor._examine(up.url, model)}


async def test_an_endpoint_that_does_everything_right_gets_no_advice() -> None:
    findings = await found(good)
    assert {f.verdict for f in findings.values()} == {"good"}
    assert not [f for f in findings.values() if f.advice]


async def test_what_is_wrong_is_named_with_what_the_proxy_or_a_setting_does_about_it() -> None:
    findings = await found(poor, "small")
    verdicts = {about: f.verdict for about, f in findings.items()}
    assert verdicts == {
        "tool calls": "mended",
        "tool_choice required": "mended",
        "tool_choice none": "good",
        "parallel_tool_calls false": "mended",
        "streaming": "good",
        "json_schema": "setting",
        "guided mode": "good",
        "thinking": "setting",
        "long context": "setting",
    }
    assert "hermes" in findings["tool calls"].said
    assert "2048" in findings["long context"].said
    assert "num_ctx" in findings["long context"].advice
    assert "--reasoning-parser" in findings["thinking"].advice


def test_an_endpoint_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="does not answer"):
        doctor.examine("http://127.0.0.1:9/v1", "m")


async def test_it_says_how_calls_will_be_asked() -> None:
    def with_schema(text: str) -> Any:
        def answer(asked: Asked) -> Reply:
            if "response_format" in asked.json:
                return Reply([whole('{"zq": "k7"}')], headers=JSON)
            if asked.json.get("stream"):
                return Reply([text_stream(text)])
            return Reply([whole(text if "tools" in asked.json else "Hello.")], headers=JSON)

        return answer

    assert "not needed" in (await found(good))["guided mode"].said
    assert "not possible" in (await found(poor, "m"))["guided mode"].said
    assert "a second time" in (await found(with_schema(HERMES), "m"))["guided mode"].said
    assert "schema first" in (await found(with_schema("I would."), "m"))["guided mode"].said
