"""The official clients of other APIs, through the real proxy, against an upstream that speaks chat
completions.
"""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest
from pydantic import BaseModel

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.proxy.apis.adapters import ANSWERS, FRONTS
from tests.proxy.playbook import JSON, WEATHER, chunk, cut_at, native_stream, text_stream, whole
from tests.proxy.upstream import Asked, Reply, Upstream, proxy, upstream

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
SCHEMA = WEATHER["function"]["parameters"]  # type: ignore[index]
THEIRS: Any = {"name": "get_weather", "description": "The weather.", "input_schema": SCHEMA}
TURN: list[Any] = [{"role": "user", "content": "Weather in Paris?"}]


def always(reply: Reply) -> Any:
    return lambda asked: reply


def streamed(*pieces: str) -> Reply:
    usage = chunk({}, None, usage={"prompt_tokens": 11, "completion_tokens": 5})
    stream = text_stream(*pieces, done=False) + usage + b"data: [DONE]\n\n"
    return Reply(cut_at(stream, 400))


def test_every_front_and_answer_has_a_path() -> None:
    assert set(FRONTS) == {"/v1/messages", "/v1/responses", "/responses", "/api/chat"}
    assert set(ANSWERS) == {"/v1/messages/count_tokens"}


async def ask_anthropic(address: str, **more: Any) -> Any:
    async with anthropic.AsyncAnthropic(base_url=address, api_key="sk-k", max_retries=0) as client:
        return await client.messages.create(
            model="m", max_tokens=100, messages=TURN, tools=[THEIRS], **more
        )


async def test_the_anthropic_client_gets_a_call_that_was_written_as_text() -> None:
    reply = Reply([whole(f"Sure. {HERMES}")], headers=JSON)
    async with upstream(always(reply)) as up, proxy(up.url) as (address, _):
        answer = await ask_anthropic(address, system="Be brief.", tool_choice={"type": "any"})
    assert [b.type for b in answer.content] == ["text", "tool_use"]
    assert answer.content[1].input == {"city": "Paris"}
    assert answer.stop_reason == "tool_use"
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (5, 7)
    asked = up.asked[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer sk-k"
    assert "x-api-key" not in asked.headers
    assert asked.json["tool_choice"] == "required"
    assert asked.json["messages"][0] == {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize("call", [True, False])
async def test_the_anthropic_client_assembles_a_stream(call: bool) -> None:
    reply = streamed("Let me ", "see. ", *([HERMES[:20], HERMES[20:]] if call else []))
    async with (
        upstream(always(reply)) as up,
        proxy(up.url) as (address, _),
        anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=100, messages=TURN, tools=[THEIRS]) as stream,
    ):
        answer = await stream.get_final_message()
    assert answer.content[0].type == "text"
    assert answer.content[0].text.strip() == "Let me see."
    assert answer.stop_reason == ("tool_use" if call else "end_turn")
    assert answer.usage.output_tokens == 5
    if call:
        assert answer.content[1].type == "tool_use"
        assert answer.content[1].input == {"city": "Paris"}
        assert answer.content[1].name == "get_weather"


async def test_an_anthropic_conversation_goes_upstream_whole() -> None:
    turns = [
        *TURN,
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Paris"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
             "content": [{"type": "text", "text": "down"}]},
            {"type": "text", "text": "And now?"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}},
        ]},
    ]  # fmt: skip
    reply = Reply([whole("Down.")], headers=JSON)
    given: Any = turns
    async with (
        upstream(always(reply)) as up,
        proxy(up.url) as (address, _),
        anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client,
    ):
        await client.messages.create(model="m", max_tokens=9, messages=given, tools=[THEIRS])
    sent = up.asked[0].json["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "user"]
    assert sent[1]["tool_calls"][0]["function"] == {
        "name": "get_weather",
        "arguments": '{"city":"Paris"}',
    }
    assert sent[2] == {"role": "tool", "tool_call_id": "t1", "content": "Error: down"}
    assert sent[3]["content"][1]["image_url"]["url"] == "data:image/png;base64,QQ=="


async def test_anthropic_errors_keep_their_kind() -> None:
    reply = Reply([b'{"error": {"message": "slow down"}}'], 429, JSON)
    async with upstream(always(reply)) as up, proxy(up.url) as (address, _):
        with pytest.raises(anthropic.RateLimitError, match="slow down"):
            await ask_anthropic(address)
        broken = Reply([chunk({"content": "x"})], cut=True)
        async with upstream(always(broken)) as other, proxy(other.url) as (second, _):
            with pytest.raises(anthropic.APIStatusError, match="upstream"):
                await _read_all(second)


async def _read_all(address: str) -> None:
    async with (
        anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=10, messages=TURN, tools=[THEIRS]) as stream,
    ):
        await stream.get_final_message()


async def test_tokens_are_counted_by_estimate() -> None:
    async with (
        proxy("http://127.0.0.1:9/v1") as (address, _),
        anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client,
    ):
        counted = await client.messages.count_tokens(model="m", messages=TURN, tools=[THEIRS])
    assert 20 < counted.input_tokens < 200


RESPONSES_TOOL: Any = {
    "type": "function",
    "name": "get_weather",
    "parameters": SCHEMA,
    "strict": False,
}


async def test_the_responses_client_gets_a_call_that_was_written_as_text() -> None:
    reply = Reply([whole(f"Sure. {HERMES}")], headers=JSON)
    async with (
        upstream(always(reply)) as up,
        proxy(up.url) as (address, _),
        openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client,
    ):
        answer = await client.responses.create(
            model="m", input="Weather in Paris?", instructions="Be brief.", tools=[RESPONSES_TOOL]
        )
    assert answer.output_text.strip() == "Sure."
    call = answer.output[1]
    assert call.type == "function_call"
    assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Paris"})
    assert answer.usage is not None
    assert answer.usage.total_tokens == 12
    assert up.asked[0].json["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_the_responses_client_assembles_a_stream() -> None:
    reply = streamed("Sure. ", HERMES[:9], HERMES[9:])
    async with (
        upstream(always(reply)) as up,
        proxy(up.url) as (address, _),
        openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client,
        client.responses.stream(
            model="m", input="Weather in Paris?", tools=[RESPONSES_TOOL]
        ) as stream,
    ):
        kinds = [event.type async for event in stream]
        answer = await stream.get_final_response()
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert answer.output_text.strip() == "Sure."
    call = answer.output[1]
    assert call.type == "function_call"
    assert json.loads(call.arguments) == {"city": "Paris"}


async def test_a_responses_conversation_goes_upstream_whole_and_custom_tools_carry_text() -> None:
    items: Any = [
        {
            "type": "message",
            "role": "developer",
            "content": [{"type": "input_text", "text": "Be brief."}],
        },
        {"role": "user", "content": "Patch it."},
        {"type": "reasoning", "summary": []},
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "get_weather",
            "arguments": '{"city":"X"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "old"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "no"},
    ]
    custom: Any = {"type": "custom", "name": "patch", "description": "Applies a patch."}
    stream = Reply([native_stream(("c3", "patch", '{"input": "*** new"}'))])
    async with (
        upstream(always(stream)) as up,
        proxy(up.url) as (address, _),
        openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client,
        client.responses.stream(
            model="m", input=items, tools=[RESPONSES_TOOL, custom]
        ) as streamed_answer,
    ):
        answer = await streamed_answer.get_final_response()
    sent = up.asked[0].json["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "tool", "assistant", "tool"]
    assert answer.output[0].type == "custom_tool_call"
    assert answer.output[0].input == "*** new"


async def ask_ollama(up: Upstream, **more: Any) -> list[Any]:
    body = {"model": "m", "messages": TURN, "tools": [WEATHER], **more}
    async with proxy(up.url) as (address, _), HttpClient(Egress.any()) as client:
        given = await client.request("POST", f"{address}/api/chat", json=body)
    assert isinstance(given, HttpResponse)
    assert given.status == 200
    return [json.loads(line) for line in given.body.decode().splitlines()]


async def test_ollama_clients_get_lines_with_the_call() -> None:
    async with upstream(always(streamed("Sure. ", HERMES))) as up:
        lines = await ask_ollama(up, options={"num_predict": 50, "temperature": 0})
    assert lines[0]["message"]["content"].strip() == "Sure."
    assert lines[-2]["message"]["tool_calls"] == [
        {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}
    ]
    assert lines[-1]["done"] is True
    assert lines[-1]["eval_count"] == 5
    assert up.asked[0].json["max_tokens"] == 50


async def test_ollama_results_are_paired_by_order_and_name() -> None:
    turns = [
        *TURN,
        {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "get_weather", "arguments": {"city": "A"}}},
            {"function": {"name": "other", "arguments": {}}},
        ]},
        {"role": "tool", "tool_name": "other", "content": "2"},
        {"role": "tool", "tool_name": "get_weather", "content": "1"},
    ]  # fmt: skip
    async with upstream(always(Reply([whole("Done.")], headers=JSON))) as up:
        (line,) = await ask_ollama(up, stream=False, messages=turns)
    assert line["message"]["content"] == "Done."
    sent = up.asked[0].json["messages"]
    calls = {c["function"]["name"]: c["id"] for c in sent[1]["tool_calls"]}
    assert [(m["tool_call_id"], m["content"]) for m in sent[2:]] == [
        (calls["other"], "2"),
        (calls["get_weather"], "1"),
    ]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/v1/messages", {"model": "m"}, "messages"),
        (
            "/v1/messages",
            {"messages": [{"role": "user", "content": [{"type": "search_result"}]}]},
            "search_result",
        ),
        ("/v1/responses", {"model": "m", "input": 3}, "input"),
        (
            "/v1/responses",
            {"model": "m", "input": "x", "previous_response_id": "r"},
            "remembers nothing",
        ),
        ("/api/chat", {"model": "m"}, "messages"),
    ],
)
async def test_requests_that_cannot_be_passed_on_are_refused_clearly(
    path: str, body: Any, said: str
) -> None:
    def never(asked: Asked) -> Reply:
        raise AssertionError(asked)

    async with (
        upstream(never) as up,
        proxy(up.url) as (address, _),
        HttpClient(Egress.any()) as client,
    ):
        given = await client.request("POST", address + path, json=body)
    assert isinstance(given, HttpResponse)
    assert given.status == 400
    assert said in given.text


GIVEN: Any = {"city": "Paris"}
RAIN = '{"rain": true}'
PLAIN: list[Any] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "get_weather", "arguments": json.dumps(GIVEN)},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": RAIN},
]


async def anthropic_says(address: str, stream: bool) -> str:
    used = {"type": "tool_use", "id": "c1", "name": "get_weather", "input": GIVEN}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": RAIN}
    asked: Any = {
        "model": "m",
        "max_tokens": 100,
        "tools": [THEIRS],
        "messages": [
            *TURN,
            {"role": "assistant", "content": [used]},
            {"role": "user", "content": [result]},
        ],
    }
    async with anthropic.AsyncAnthropic(base_url=address, api_key="sk-k", max_retries=0) as client:
        if not stream:
            answer = await client.messages.create(**asked)
        else:
            async with client.messages.stream(**asked) as events:
                answer = await events.get_final_message()
    return "".join(block.text for block in answer.content if block.type == "text")


async def responses_says(address: str, stream: bool) -> str:
    call = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": RAIN}
    asked: Any = {
        "model": "m",
        "tools": [{"type": "function", "name": "get_weather", "parameters": SCHEMA}],
        "input": [*TURN, call, result],
    }
    url = f"{address}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key="sk-k", max_retries=0) as client:
        if not stream:
            return str((await client.responses.create(**asked)).output_text)
        async with client.responses.stream(**asked) as events:
            return str((await events.get_final_response()).output_text)


async def completions_says(address: str, stream: bool) -> str:
    asked: Any = {"model": "m", "messages": [*TURN, *PLAIN], "tools": [WEATHER]}
    url = f"{address}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key="sk-k", max_retries=0) as client:
        if not stream:
            answer = await client.chat.completions.create(**asked)
            return answer.choices[0].message.content or ""
        chunks = await client.chat.completions.create(**asked, stream=True)
        return "".join([c.choices[0].delta.content or "" async for c in chunks if c.choices])


async def ollama_says(address: str, stream: bool) -> str:
    called = {"function": {"name": "get_weather", "arguments": GIVEN}}
    result = {"role": "tool", "tool_name": "get_weather", "content": RAIN}
    said = [*TURN, {"role": "assistant", "content": "", "tool_calls": [called]}, result]
    asked = {"model": "m", "stream": stream, "tools": [WEATHER], "messages": said}
    async with HttpClient(Egress.any()) as client:
        answer = await client.request("POST", f"{address}/api/chat", json=asked)
    assert isinstance(answer, HttpResponse)
    lines = [json.loads(line) for line in answer.body.splitlines()]
    return "".join(line["message"]["content"] for line in lines)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wordless", ["{}", RAIN, "<tool_response>", ""])
@pytest.mark.parametrize("says", [completions_says, responses_says, anthropic_says, ollama_says])
async def test_after_results_every_client_gets_words(
    says: Any, wordless: str, stream: bool
) -> None:
    def answer(asked: Asked) -> Reply:
        if "tools" not in asked.json:
            return Reply([whole("Il pleut.<|im_end|>")], headers=JSON)
        return streamed(wordless) if stream else Reply([whole(wordless)], headers=JSON)

    async with upstream(answer) as up, proxy(up.url) as (address, _):
        assert await says(address, stream) == "Il pleut."
    assert ["tools" in asked.json for asked in up.asked] == [True, False]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("says", [completions_says, responses_says, anthropic_says, ollama_says])
async def test_no_client_sees_what_a_template_left_behind(says: Any, stream: bool) -> None:
    pieces = ("<tool_resp", "onse>\nIl ", "pleut `", "<s>`.", "</tool_response><|im", "_end|>")
    reply = streamed(*pieces) if stream else Reply([whole("".join(pieces))], headers=JSON)
    async with upstream(always(reply)) as up, proxy(up.url) as (address, _):
        assert await says(address, stream) == "Il pleut `<s>`."
    assert len(up.asked) == 1


class Person(BaseModel):
    name: str
    age: int


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_the_anthropic_client_gets_the_form_that_it_asks_for(stream: bool) -> None:
    text = '```json\n{"name": "Ann", "age": "3"}\n```'
    reply = streamed(*text) if stream else Reply([whole(text)], headers=JSON)
    async with upstream(always(reply)) as up, proxy(up.url) as (address, _):
        client = anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0)
        asked: Any = {"model": "m", "max_tokens": 100, "messages": TURN, "output_format": Person}
        async with client:
            if stream:
                async with client.messages.stream(**asked) as events:
                    answer: Any = await events.get_final_message()
            else:
                answer = await client.messages.parse(**asked)
    assert answer.parsed_output == Person(name="Ann", age=3)
    form = up.asked[0].json["response_format"]
    assert form["type"] == "json_schema"
    assert set(form["json_schema"]["schema"]["properties"]) == {"name", "age"}
