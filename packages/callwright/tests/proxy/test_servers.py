"""The proxy before Ollama, LM Studio, vLLM and llama.cpp's server, each answering in its own
documented shape.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.proxy.server.app import UpstreamFacts
from callwright.proxy.session.settings import Settings
from tests.proxy.playbook import JSON, assembled, body, call, cut_at, events
from tests.proxy.servers import LMSTUDIO_REST, OLLAMA, REFUSED, SERVERS, Server
from tests.proxy.upstream import Answer, Asked, Reply, proxy, upstream

PARIS = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
LEFT = {  # as each server leaves it in the text: another family's format, its own gone wrong, or its own unread
    "ollama": f"```json\n{PARIS}\n```",
    "lmstudio": f"[TOOL_REQUEST]{PARIS[:-1]}[END_TOOL_REQUEST]",
    "vllm": f"<tool_call>\n{PARIS}\n</tool_call>",
    "vllm_before": f"[TOOL_CALLS] [{PARIS}]",
    "llamacpp": (
        "<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>"
    ),
}
OURS = {"choices", "finish_reason", "message", "content", "tool_calls", "delta"}


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient(Egress.any()) as client:
        yield client


async def through(
    http: HttpClient,
    answer: Answer,
    asked: Any,
    settings: Settings | None = None,
    path: str = "/v1/chat/completions",
    memory: Path | None = None,
) -> tuple[HttpResponse, list[Asked]]:
    """What the client gets for a request, and what the upstream was asked."""
    async with (
        upstream(answer) as up,
        proxy(up.url, settings, facts=UpstreamFacts(memory=memory)) as (address, _),
    ):
        given = await http.request("POST", address + path, json=asked)
    assert isinstance(given, HttpResponse)
    return given, up.asked


def beside(value: dict[str, Any]) -> dict[str, Any]:
    """All fields of a document, its choice and its message that the proxy has no business with, in
    their order.
    """
    (choice,) = value["choices"]
    said = choice.get("message", choice.get("delta"))
    return {name: [(k, v) for k, v in part.items() if k not in OURS] for name, part in
            (("document", value), ("choice", choice), ("message", said))}  # fmt: skip


@pytest.mark.parametrize("name", SERVERS)
async def test_a_call_left_in_the_text_arrives_and_the_servers_own_fields_stay(
    name: str, http: HttpClient
) -> None:
    before = SERVERS[name].answer(f"Let me see.\n{LEFT[name]}")
    given, _ = await through(http, lambda asked: Reply([before], headers=JSON), body(False))
    after = json.loads(given.body)
    (choice,) = after["choices"]
    (made,) = choice["message"]["tool_calls"]
    assert (made["function"]["name"], json.loads(made["function"]["arguments"])) == (
        "get_weather",
        {"city": "Paris"},
    )
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"].strip() == "Let me see."
    assert beside(after) == beside(json.loads(before))
    assert list(after) == list(json.loads(before))


@pytest.mark.parametrize("cut", [0, 700])
@pytest.mark.parametrize("name", SERVERS)
async def test_the_same_streamed(name: str, cut: int, http: HttpClient) -> None:
    left = LEFT[name]
    sent = SERVERS[name].stream(
        "Let me ", "see.\n", *[left[i : i + 5] for i in range(0, len(left), 5)]
    )
    given, _ = await through(http, lambda asked: Reply(cut_at(b"".join(sent), cut)), body())
    message = assembled(given.body)
    (made,) = message["calls"]
    assert (made["name"], json.loads(made["arguments"])) == ("get_weather", {"city": "Paris"})
    assert (message["text"].strip(), message["finish"]) == ("Let me see.", "tool_calls")
    assert given.body.startswith(b"".join(sent[:2])), "what is no call goes on as it came"
    last = next(e for e in events(given.body) if e["choices"] and e["choices"][0]["finish_reason"])
    assert {**beside(last), "message": 0} == {**beside(SERVERS[name].last), "message": 0}
    rest = sent[-2:] if SERVERS[name].usage else sent[-1:]
    assert given.body.endswith(b"".join(rest)), (
        "usage and timings stand behind the calls as they came"
    )


@pytest.mark.parametrize("name", SERVERS)
async def test_a_clean_answer_passes_byte_for_byte(name: str, http: HttpClient) -> None:
    server = SERVERS[name]
    whole = server.answer("It rains.", "The user asks for the weather.")
    given, _ = await through(http, lambda asked: Reply([whole], headers=JSON), body(False))
    assert given.body == whole
    stream = b"".join(server.stream("It ", "rains", ".", thoughts=["The user ", "asks."]))
    given, _ = await through(http, lambda asked: Reply(cut_at(stream, 333)), body())
    assert given.body == stream


@pytest.mark.parametrize("name", SERVERS)
async def test_a_right_call_of_its_own_passes_byte_for_byte(name: str, http: HttpClient) -> None:
    whole = SERVERS[name].answer(
        "", calls=[{"index": 0, **call("get_weather", '{"city":"Paris"}', "365174485")}]
    )
    given, _ = await through(http, lambda asked: Reply([whole], headers=JSON), body(False))
    assert given.body == whole


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", SERVERS)
async def test_a_call_left_in_the_reasoning_arrives(
    name: str, stream: bool, http: HttpClient
) -> None:
    server = SERVERS[name]
    pieces = server.stream(thoughts=["I should look. ", LEFT[name]])
    reply = (
        Reply(pieces)
        if stream
        else Reply([server.answer("", f"I should look. {LEFT[name]}")], headers=JSON)
    )
    given, _ = await through(http, lambda asked: reply, body(stream))
    said = assembled(given.body)["calls"] if stream else _calls(given.body)
    assert [(c["name"], json.loads(c["arguments"])) for c in said] == [
        ("get_weather", {"city": "Paris"})
    ]


def _calls(whole: bytes) -> list[dict[str, Any]]:
    return [entry["function"] for entry in json.loads(whole)["choices"][0]["message"]["tool_calls"]]


async def test_ollamas_call_in_one_chunk_with_a_number_as_text_is_repaired(
    http: HttpClient,
) -> None:
    delta = {
        "tool_calls": [
            {"index": 0, **call("get_weather", '{"city":"Paris","days":"2"}', "call_lbcjwr0u")}
        ]
    }
    made = {
        **OLLAMA.delta,
        "choices": [
            {**OLLAMA.first["choices"][0], "delta": {"role": "assistant", "content": "", **delta}}
        ],
    }
    last = {
        **OLLAMA.last,
        "choices": [{**OLLAMA.last["choices"][0], "finish_reason": "tool_calls"}],
    }
    sent = [b"data: " + json.dumps(m).encode() + b"\n\n" for m in (made, last, OLLAMA.usage)]
    user = {"role": "user", "content": "What's the weather in Paris for the next 2 days?"}
    asked = body(messages=[user])
    given, _ = await through(http, lambda _: Reply([*sent, b"data: [DONE]\n\n"]), asked)
    (found,) = assembled(given.body)["calls"]
    assert (found["id"], json.loads(found["arguments"])) == (
        "call_lbcjwr0u",
        {"city": "Paris", "days": 2},
    )
    assert all(e["system_fingerprint"] == "fp_ollama" for e in events(given.body))


async def test_lm_studios_call_without_an_id_gets_one(http: HttpClient) -> None:
    """lmstudio-bug-tracker#830: an entry whose id is "", which LM Studio itself refuses in the next
    request.
    """
    whole = SERVERS["lmstudio"].answer("", calls=[call("get_weather", '{"city":"Paris"}', "")])
    given, _ = await through(http, lambda asked: Reply([whole], headers=JSON), body(False))
    (entry,) = json.loads(given.body)["choices"][0]["message"]["tool_calls"]
    assert entry["id"]
    assert beside(json.loads(given.body)) == beside(json.loads(whole))


async def test_lm_studios_own_api_passes_untouched(http: HttpClient) -> None:
    whole = json.dumps(LMSTUDIO_REST).encode()
    path = "/api/v0/chat/completions"
    given, asked = await through(
        http, lambda asked: Reply([whole], headers=JSON), body(False), path=path
    )
    assert (given.body, asked[0].path) == (whole, path)


def _without_parser(asked: Asked, follows: bool, server: Server) -> Reply:
    """vLLM without ``--enable-auto-tool-choice``: refuses tools, follows schemas (or not), says
    words else.
    """
    if asked.json.get("tools"):
        return Reply([json.dumps(REFUSED).encode()], 400, JSON)
    schema = asked.json.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is None or not follows:
        pieces = server.stream("It ", "rains.")
        return (
            Reply(pieces)
            if asked.json.get("stream")
            else Reply([server.answer("It rains.")], headers=JSON)
        )
    calls = (
        '{"wishes": ["weather"], "calls": [{"name": "get_weather", "arguments": {"city":'
        ' "Paris"}}]}'
    )
    probed = json.dumps(
        {k: v.get("enum", ["x"])[0] for k, v in schema.get("properties", {}).items()}
    )
    return Reply(
        [server.answer(calls if "get_weather" in json.dumps(schema) else probed)], headers=JSON
    )


@pytest.mark.parametrize("stream", [False, True])
async def test_vllm_that_refuses_tools_is_asked_by_schema(
    stream: bool, http: HttpClient, tmp_path: Path
) -> None:
    server, memory = SERVERS["vllm"], tmp_path / "m.json"
    given, asked = await through(
        http, lambda a: _without_parser(a, True, server), body(stream), Settings(), memory=memory
    )
    assert given.status == 200
    said = assembled(given.body)["calls"] if stream else _calls(given.body)
    assert [(c["name"], json.loads(c["arguments"])) for c in said] == [
        ("get_weather", {"city": "Paris"})
    ]
    assert "tools" not in asked[-1].json
    assert "response_format" in asked[-1].json


@pytest.mark.parametrize("guided", ["auto", "off"])
async def test_vllm_that_can_do_neither_says_so_in_its_own_words(
    guided: Any, http: HttpClient, tmp_path: Path
) -> None:
    server, settings = SERVERS["vllm"], Settings(guided=guided)
    given, _ = await through(
        http,
        lambda a: _without_parser(a, False, server),
        body(False),
        settings,
        memory=tmp_path / "m.json",
    )
    assert (given.status, json.loads(given.body)) == (400, REFUSED)


def test_every_shape_names_where_it_comes_from() -> None:
    assert all(server.source for server in SERVERS.values())
