"""Images, audio and files: they pass as they came, in every API and mode, and are read as nothing."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.agent.fold import fold_entries, read_messages
from callwright.http import Egress, HttpClient, HttpResponse
from callwright.proxy.apis.anthropic import Anthropic, count_tokens
from callwright.proxy.apis.responses import Responses
from callwright.proxy.apis.translated import BadRequest
from callwright.proxy.server.app import UpstreamFacts
from callwright.proxy.server.budget import Budget
from callwright.proxy.session.events import Probed
from callwright.proxy.session.media import (
    TOKENS,
    holds_media,
    list_media,
    measure_media,
    move_result_media,
    name_image_type,
)
from callwright.proxy.session.settings import Settings
from callwright.proxy.session.turns import arrange_messages
from callwright.tools.lists import chat_messages as chat
from tests.proxy.playbook import JSON, WEATHER, body, call, whole
from tests.proxy.upstream import Asked, Reply, proxy, upstream

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + random.Random(1).randbytes(3_000)).decode()
JPEG = base64.b64encode(b"\xff\xd8\xff\xe0" + random.Random(2).randbytes(3_000)).decode()
SOUND = base64.b64encode(b"RIFF" + random.Random(3).randbytes(3_000)).decode()
URL = f"data:image/png;base64,{PNG}"
HERMES = '<tool_call>{"name": "getWeather", "arguments": {"city": "Paris"}}</tool_call>'
QUESTION = "What is the weather in Paris?"
ORDER = {
    "type": "function",
    "function": {
        "name": "place_order",
        "description": "Orders an article.",
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
        "parameters": {
            "type": "object",
            "properties": {"article": {"type": "string"}, "count": {"type": "integer"}},
            "required": ["article", "count"],
        },
    },
}
NATIVE, SCHEMA = Probed(native=True, schema=False), Probed(native=False, schema=True)
MODES = [
    ("off", NATIVE),
    ("on", SCHEMA),
    ("native", NATIVE),
    ("text", SCHEMA),
]


def answers(asked: Asked) -> Reply:
    """What a small model says: calls by schema where it has to, else a call in the text."""
    if "response_format" in asked.json:
        calls = {"wishes": [], "calls": [{"name": "get_weather", "arguments": {"city": "Paris"}}]}
        return Reply([whole(json.dumps(calls))], headers=JSON)
    return Reply([whole(f"Sure. {HERMES}")], headers=JSON)


async def ask_chat(address: str, stream: bool) -> list[str]:
    parts: Any = [
        {"type": "text", "text": QUESTION},
        {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": SOUND, "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:x/y;base64,{JPEG}"}},
    ]
    tools: Any = [WEATHER]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        answer: Any = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": parts}], tools=tools, stream=stream
        )
        if stream:
            _ = [piece async for piece in answer]
    return [PNG, SOUND, JPEG, '"low"']


async def ask_responses(address: str, stream: bool) -> list[str]:
    tools: Any = [{"type": "function", **WEATHER["function"]}]  # type: ignore[dict-item]
    said: Any = [
        {"type": "input_text", "text": QUESTION},
        {"type": "input_image", "image_url": URL, "detail": "high"},
        {"type": "input_file", "filename": "a.pdf", "file_data": f"data:x/y;base64,{JPEG}"},
    ]
    items: Any = [
        {"role": "user", "content": "Look at it."},
        {"type": "function_call", "call_id": "c0", "name": "get_weather", "arguments": "{}"},
        {
            "type": "function_call_output",
            "call_id": "c0",
            "output": [
                {"type": "input_image", "image_url": f"data:image/jpeg;base64,{JPEG[::-1]}"}
            ],
        },
        {"role": "user", "content": said},
    ]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        answer: Any = await client.responses.create(
            model="m", input=items, tools=tools, stream=stream
        )
        if stream:
            _ = [piece async for piece in answer]
    return [PNG, JPEG, JPEG[::-1], '"high"']


async def ask_anthropic(address: str, stream: bool) -> list[str]:
    function: Any = WEATHER["function"]
    tools: Any = [{"name": "get_weather", "input_schema": function["parameters"]}]
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/jpeg", "data": JPEG},
    }
    shown = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    paper = {"type": "base64", "media_type": "application/pdf", "data": SOUND}
    turns: Any = [
        {"role": "user", "content": "Look at it."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t0", "name": "get_weather", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t0", "content": [shown]},
                {"type": "text", "text": QUESTION},
                image,
                {"type": "document", "source": paper, "title": "a.pdf"},
            ],
        },
    ]
    async with anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client:
        if stream:
            async with client.messages.stream(
                model="m", max_tokens=99, messages=turns, tools=tools
            ) as streamed:
                await streamed.get_final_message()
        else:
            await client.messages.create(model="m", max_tokens=99, messages=turns, tools=tools)
    return [PNG, JPEG, SOUND]


async def ask_ollama(address: str, stream: bool) -> list[str]:
    """The body of the ``ollama`` package 0.6.3, which sends base64 without a media type."""
    request = {
        "model": "m",
        "stream": stream,
        "messages": [
            {"role": "user", "content": "Look at it.", "images": [PNG]},
            {
                "role": "assistant",
                "tool_calls": [{"function": {"name": "get_weather", "arguments": {}}}],
            },
            {"role": "tool", "content": "ok", "images": [JPEG], "tool_name": "get_weather"},
            {"role": "user", "content": QUESTION},
        ],
        "tools": [WEATHER],
    }
    async with HttpClient(Egress.any()) as client:
        given = await client.request("POST", f"{address}/api/chat", json=request)
    assert isinstance(given, HttpResponse)
    assert given.status == 200
    return [f"data:image/png;base64,{PNG}", f"data:image/jpeg;base64,{JPEG}"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("guided", "known"), MODES, ids=[one[0] for one in MODES])
@pytest.mark.parametrize("ask", [ask_chat, ask_responses, ask_anthropic, ask_ollama])
async def test_real_clients_media_reach_the_upstream_in_every_mode(
    ask: Callable[[str, bool], Any], guided: Any, known: Probed, stream: bool
) -> None:
    settings = Settings(guided=guided, reasks=2)
    async with (
        upstream(answers) as up,
        proxy(up.url, settings, facts=UpstreamFacts(known)) as (address, made),
    ):
        sent = await ask(address, stream)
    for asked in up.asked:
        for media in sent:
            assert media in asked.body.decode(), (guided, len(up.asked))
    (record,) = made.counters.records
    assert (record.outcome, record.fault) == ("edited", "")
    assert [one.tool for one in record.sent] == ["get_weather"]
    assert PNG not in json.dumps(record.to_dict())


async def test_a_chat_request_with_media_passes_byte_for_byte() -> None:
    raw = json.dumps({**body(False), "messages": [user(image())]}, indent=3).encode()
    async with (
        upstream(lambda _: Reply([whole("A cat.")], headers=JSON)) as up,
        proxy(up.url) as (address, _),
        HttpClient(Egress.any()) as client,
    ):
        headers = {"content-type": "application/json"}
        await client.request("POST", f"{address}/v1/chat/completions", data=raw, headers=headers)
    assert up.asked[0].body == raw


def image() -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": URL}}


def user(*parts: dict[str, Any], text: str = "Order what the picture shows.") -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}, *parts]}


@pytest.mark.parametrize("shows", [True, False])
async def test_a_value_that_an_image_may_show_is_no_unstated_one(shows: bool) -> None:
    """Without the image the guard keeps the order back and asks for words, with the message as it
    is.
    """
    order = whole(None, [call("place_order", {"article": "BOLT-8", "count": 12})], "tool_calls")
    messages = [user(*([image()] if shows else []))]
    request = {**body(False, tools=[ORDER]), "messages": messages}
    async with (
        upstream(lambda _: Reply([order], headers=JSON)) as up,
        proxy(up.url, Settings(guided="off", guard="on")) as (address, made),
        HttpClient(Egress.any()) as client,
    ):
        await client.request("POST", f"{address}/v1/chat/completions", json=request)
    held = [one.rule for one in made.counters.records[0].guarding.held]
    assert held == ([] if shows else ["unstated_value"])
    assert len(up.asked) == (1 if shows else 2)


async def test_a_repeated_write_is_kept_back_beside_an_image_and_the_question_shows_it() -> None:
    order = whole(None, [call("place_order", {"article": "BOLT-8", "count": 12})], "tool_calls")
    done = [
        {"role": "assistant", "content": None, "tool_calls": [
            call("place_order", {"article": "BOLT-8", "count": 12}, "c0")]},
        {"role": "tool", "tool_call_id": "c0", "content": '{"order": 1, "status": "done"}'},
    ]  # fmt: skip
    request = {**body(False, tools=[ORDER]), "messages": [user(image()), *done]}
    async with (
        upstream(lambda _: Reply([order], headers=JSON)) as up,
        proxy(up.url, Settings(guided="off", guard="on")) as (address, made),
        HttpClient(Egress.any()) as client,
    ):
        await client.request("POST", f"{address}/v1/chat/completions", json=request)
    held = [one.rule for one in made.counters.records[0].guarding.held]
    assert held[0] == "repeated_write"
    assert len(up.asked) >= 2
    assert all(PNG in asked.body.decode() for asked in up.asked)


async def test_a_long_image_costs_no_repair() -> None:
    """Of a body that is longer than the worker process reads, all but the image is short."""
    budget = Budget(worker_bytes=400_000, worker_wait_seconds=60, worker_seconds=30)
    big = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG * 150}"}}
    request = {**body(False), "messages": [user(big, text=QUESTION)]}
    settings = Settings(guided="off", budget=budget)
    async with (
        upstream(answers) as up,
        proxy(up.url, settings) as (address, made),
        HttpClient(Egress.any()) as client,
    ):
        given = await client.request("POST", f"{address}/v1/chat/completions", json=request)
    assert isinstance(given, HttpResponse)
    assert len(up.asked[0].body) > budget.worker_bytes
    assert made.counters.records[0].outcome == "edited", made.counters.records[0].fault


def test_an_estimate_counts_an_image_as_an_image() -> None:
    said = {"role": "user", "content": [{"type": "text", "text": "x" * 400}]}
    source = {"type": "base64", "media_type": "image/png", "data": PNG * 100}
    shown = {"role": "user", "content": [*said["content"], {"type": "image", "source": source}]}
    plain, more = (
        json.loads(count_tokens({"messages": [message]}))["input_tokens"]
        for message in (said, shown)
    )
    assert TOKENS <= more - plain < TOKENS + 100


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (Responses(), {"type": "input_image", "file_id": "file_1"}, "'input_image' with file_id"),
    (Responses(), {"type": "input_file", "file_url": "https://x"}, "'input_file' with file_url"),
    (Responses(), {"type": "video"}, "'video'"),
    (Anthropic(), {"type": "image", "source": {"type": "file", "file_id": "f"}}, "type 'file'"),
    (Anthropic(), {"type": "document", "source": {"type": "url", "url": "x"}}, "type 'url'"),
    (Anthropic(), {"type": "search_result"}, "'search_result'"),
]


@pytest.mark.parametrize(("front", "part", "said"), REFUSED, ids=[one[2] for one in REFUSED])
def test_what_chat_completions_have_no_part_for_is_refused(
    front: Any, part: dict[str, Any], said: str
) -> None:
    messages = [{"role": "user", "content": [part]}]
    with pytest.raises(BadRequest, match="cannot be passed on") as caught:
        front.request({"model": "m", "messages": messages, "input": messages})
    assert said in str(caught.value)


def test_the_media_of_results_follow_them_and_are_no_words_of_the_user() -> None:
    said: list[Any] = [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [
            call("read", "{}", "a"), call("read", "{}", "b")]},
        {"role": "tool", "tool_call_id": "a", "content": [image()]},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "B"}, image()]},
    ]  # fmt: skip
    made: Any = move_result_media(said)
    assert [m["role"] for m in made] == ["user", "assistant", "tool", "tool", "user"]
    assert [m["content"] for m in made[2:4]] == ["[image_url]", "B"]
    assert list_media(made[4]["content"]) == [image(), image()]
    state = fold_entries(read_messages(chat.read_messages({"messages": made})))
    assert (state.asked.query, len(state.results)) == ("Look.", 2)
    more: Any = arrange_messages([*said, {"role": "user", "content": "And now?"}])
    assert [m["role"] for m in more] == ["user", "assistant", "tool", "tool", "user"]
    state = fold_entries(read_messages(chat.read_messages({"messages": more})))
    assert state.asked.query.startswith("And now?")
    assert not state.results


@given(st.lists(st.sampled_from(["text", "image", "none"]), max_size=8))
def test_moving_media_loses_none_and_adds_none(kinds: list[str]) -> None:
    content: dict[str, Any] = {
        "text": "ok",
        "image": [{"type": "text", "text": "ok"}, image()],
        "none": [],
    }
    said: list[Any] = [
        {"role": "tool", "tool_call_id": str(n), "content": content[kind]}
        for n, kind in enumerate(kinds)
    ]
    made = move_result_media(said)
    assert sum(len(list_media(m["content"])) for m in made) == kinds.count("image")  # type: ignore[index, call-overload]
    assert [m for m in made if m["role"] == "tool"] == [  # type: ignore[index, call-overload]
        {**m, "content": "ok"} if list_media(m["content"]) else m for m in said
    ]
    assert holds_media(made) is ("image" in kinds)
    assert move_result_media(made) == made


@given(st.binary(min_size=48, max_size=4_000), st.text(max_size=200), st.sampled_from(range(4)))
def test_base64_of_media_is_measured_and_nothing_else(data: bytes, text: str, api: int) -> None:
    encoded = base64.b64encode(data + b"." * 48).decode()
    bodies: list[dict[str, Any]] = [
        {"text": text, "image_url": {"url": f"data:image/png;base64,{encoded}"}},
        {"text": text, "source": {"type": "base64", "data": encoded}},
        {"text": text, "images": [encoded]},
        {"text": text, "file": {"file_data": f"data:application/pdf;base64,{encoded}"}},
    ]
    written = json.dumps(bodies[api]).encode()
    measured = measure_media(written)
    assert len(encoded) <= measured <= len(encoded) + 40
    assert measure_media(json.dumps({"data": f"{text} {text}", "text": text}).encode()) <= len(text)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (JPEG, "image/jpeg"),
        ("R0lGODlh", "image/gif"),
        ("UklGRxx", "image/webp"),
    ],
)
def test_an_image_s_type_is_read_from_its_first_bytes(data: str, kind: str) -> None:
    assert name_image_type(data) == kind
