"""The loops of real clients, led by the engine: through the real proxy, over all four APIs, whole
and streamed. The upstream is hasty: it orders as soon as it may, with whatever code comes to mind.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, get_args

import anthropic
import openai
import pytest

from callwright.http import Egress, HttpClient, HttpResponse
from callwright.nouns.errors import Failure
from callwright.proxy.server.app import UpstreamFacts
from callwright.proxy.session.events import Probed
from callwright.proxy.session.settings import GuidedPart, Settings
from tests.proxy.playbook import JSON, call, chunk, native_stream, text_stream, whole
from tests.proxy.session.leading.test_lead import FIND, ORDER
from tests.proxy.upstream import Asked, Reply, proxy, upstream

QUERY = "Order 200 hex bolts"
CODE, PLACED = '{"code": "HB-8"}', '{"order": "O-1"}'
SAID = "The order is O-1."
OWN = Settings(guided="native")
BY_SCHEMA = Settings(guided="on")


class Shop:
    """What a client's calls do."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Any]] = []

    def run(self, name: str, arguments: Any) -> str:
        self.done.append((name, arguments))
        return CODE if name == "find_part" else PLACED


def hasty(asked: Asked) -> Reply:
    """Calls natively."""
    body = asked.json
    offered = {entry["function"]["name"] for entry in body["tools"]}
    results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    code = "HB-8" if CODE in results else "BOLT-200"
    if PLACED in results:
        return said(body, SAID)
    if "create_order" in offered:
        return called(body, "create_order", {"part_code": code, "quantity": 200})
    return called(body, "find_part", {"name": "hex bolts"})


def called(body: Any, name: str, arguments: Any) -> Reply:
    if body.get("stream"):
        return Reply([native_stream(("n1", name, json.dumps(arguments)))])
    return Reply([whole(None, [call(name, arguments, "n1")], "tool_calls")], headers=JSON)


def said(body: Any, text: str) -> Reply:
    return Reply([text_stream(text)]) if body.get("stream") else Reply([whole(text)], headers=JSON)


def follows_schemas(asked: Asked) -> Reply:
    """The same where calls are asked for by schema."""
    body = asked.json
    schema = json.dumps(body["response_format"])
    if '"final_answer"' in schema:
        return said(body, json.dumps({"final_answer": SAID, "missing": []}))
    wrote = {
        "part_code": "HB-8" if "HB-8" in json.dumps(body["messages"]) else "X",
        "quantity": 200,
    }
    name, arguments = "find_part", {"name": "hex bolts"}
    if '"part_code"' in schema:
        name, arguments = "create_order", wrote
    calls = [{"name": name, "arguments": arguments}]
    return said(body, json.dumps({"wishes": ["order"], "calls": calls}))


def theirs(entry: Any) -> Any:
    """A tool as Anthropic's clients send it."""
    function = entry["function"]
    rest = {"name": function["name"], "description": function["description"]}
    return {**rest, "input_schema": function["parameters"], "annotations": function["annotations"]}


async def completions(address: str, shop: Shop, stream: bool) -> str:
    messages: list[Any] = [{"role": "user", "content": QUERY}]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        for _ in range(5):
            asked: Any = {"model": "m", "messages": messages, "tools": [FIND, ORDER]}
            if stream:
                async with client.chat.completions.stream(**asked) as events:
                    message = (await events.get_final_completion()).choices[0].message
            else:
                message = (await client.chat.completions.create(**asked)).choices[0].message
            if not message.tool_calls:
                return message.content or ""
            messages.append(message.model_dump(exclude_none=True))
            for made in message.tool_calls:
                result = shop.run(made.function.name, json.loads(made.function.arguments))
                messages.append({"role": "tool", "tool_call_id": made.id, "content": result})
    raise AssertionError("no end")


async def responses(address: str, shop: Shop, stream: bool) -> str:
    items: list[Any] = [{"role": "user", "content": QUERY}]
    tools = [{"type": "function", **entry["function"]} for entry in (FIND, ORDER)]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        for _ in range(5):
            asked: Any = {"model": "m", "input": items, "tools": tools}
            if stream:
                async with client.responses.stream(**asked) as events:
                    answer: Any = await events.get_final_response()
            else:
                answer = await client.responses.create(**asked)
            calls = [one for one in answer.output if one.type == "function_call"]
            if not calls:
                return str(answer.output_text)
            for made in calls:
                result = shop.run(made.name, json.loads(made.arguments))
                items.append(
                    {
                        "type": "function_call",
                        "call_id": made.call_id,
                        "name": made.name,
                        "arguments": made.arguments,
                    }
                )
                items.append(
                    {"type": "function_call_output", "call_id": made.call_id, "output": result}
                )
    raise AssertionError("no end")


async def messages(address: str, shop: Shop, stream: bool) -> str:
    turns: list[Any] = [{"role": "user", "content": QUERY}]
    asked: Any = {"model": "m", "max_tokens": 99, "tools": [theirs(FIND), theirs(ORDER)]}
    async with anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client:
        for _ in range(5):
            if stream:
                async with client.messages.stream(**asked, messages=turns) as events:
                    answer: Any = await events.get_final_message()
            else:
                answer = await client.messages.create(**asked, messages=turns)
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                return "".join(block.text for block in answer.content if block.type == "text")
            uses = [
                {"type": "tool_use", "id": made.id, "name": made.name, "input": made.input}
                for made in calls
            ]
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": made.id,
                    "content": shop.run(made.name, made.input),
                }
                for made in calls
            ]
            turns += [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
    raise AssertionError("no end")


async def ollama(address: str, shop: Shop, stream: bool) -> str:
    turns: list[Any] = [{"role": "user", "content": QUERY}]
    async with HttpClient(Egress.any()) as client:
        for _ in range(5):
            asked = {"model": "m", "stream": stream, "tools": [FIND, ORDER], "messages": turns}
            given = await client.request("POST", f"{address}/api/chat", json=asked)
            assert isinstance(given, HttpResponse)
            lines = [json.loads(line)["message"] for line in given.body.splitlines()]
            calls = [made["function"] for line in lines for made in line.get("tool_calls", ())]
            if not calls:
                return "".join(line["content"] for line in lines)
            turns.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"function": made} for made in calls],
                }
            )
            for made in calls:
                result = shop.run(made["name"], made["arguments"])
                turns.append({"role": "tool", "tool_name": made["name"], "content": result})
    raise AssertionError("no end")


CLIENTS = [completions, responses, messages, ollama]
RIGHT = [
    ("find_part", {"name": "hex bolts"}),
    ("create_order", {"part_code": "HB-8", "quantity": 200}),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("settings", "answer", "known"),
    [
        (OWN, hasty, Probed(native=True, schema=False)),
        (BY_SCHEMA, follows_schemas, Probed(native=False, schema=True)),
    ],
    ids=["natively", "by schema"],
)
async def test_a_loop_looks_the_code_up_orders_once_and_ends_in_words(
    settings: Settings, answer: Callable[[Asked], Reply], known: Probed, client: Any, stream: bool
) -> None:
    shop, facts = Shop(), UpstreamFacts(known)
    async with upstream(answer) as up, proxy(up.url, settings, facts=facts) as (address, made):
        assert await client(address, shop, stream) == SAID
    assert shop.done == RIGHT
    (parts,) = {record.led.parts for record in made.counters.records if record.led}
    own = ("select", "layers", "prerequisites", "wishes", "answer")
    assert parts == (own if known.native else get_args(GuidedPart))
    assert len(made.counters.records) == 3


async def test_without_layers_the_hasty_upstream_is_offered_the_order_at_once() -> None:
    settings = Settings(guided="native", guard="off", without=frozenset({"layers"}))
    shop, facts = Shop(), UpstreamFacts(Probed(native=True, schema=False))
    async with upstream(hasty) as up, proxy(up.url, settings, facts=facts) as (address, _):
        await completions(address, shop, False)
    assert shop.done == [("create_order", {"part_code": "BOLT-200", "quantity": 200})]


# The answer of a led turn, as it arrives: the upstream waits until its first sentence is there.

WRITTEN = json.dumps({"final_answer": "The code is HB-8. It is a bolt.", "missing": []})
FOUND = '{"code": "HB-8", "kind": "bolt"}'
GIVEN = {"name": "hex bolts"}


async def read_completions(address: str) -> AsyncIterator[str]:
    turns = [
        {"role": "user", "content": QUERY},
        {"role": "assistant", "content": None, "tool_calls": [call("find_part", GIVEN)]},
        {"role": "tool", "tool_call_id": "c1", "content": FOUND},
    ]
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
        asked: Any = {"model": "m", "messages": turns, "tools": [FIND]}
        async for event in await client.chat.completions.create(**asked, stream=True):
            yield event.choices[0].delta.content or ""


async def read_responses(address: str) -> AsyncIterator[str]:
    shown = {"call_id": "c1", "name": "find_part", "arguments": json.dumps(GIVEN)}
    items = [
        {"role": "user", "content": QUERY},
        {"type": "function_call", **shown},
        {"type": "function_call_output", "call_id": "c1", "output": FOUND},
    ]
    tools: Any = [{"type": "function", **FIND["function"]}]
    async with (
        openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client,
        client.responses.stream(model="m", input=items, tools=tools) as events,  # type: ignore[arg-type]
    ):
        async for event in events:
            yield event.delta if event.type == "response.output_text.delta" else ""


async def read_messages(address: str) -> AsyncIterator[str]:
    use = {"type": "tool_use", "id": "c1", "name": "find_part", "input": GIVEN}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": FOUND}
    turns: Any = [
        {"role": "user", "content": QUERY},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    async with (
        anthropic.AsyncAnthropic(base_url=address, api_key="k", max_retries=0) as client,
        client.messages.stream(
            model="m", max_tokens=99, messages=turns, tools=[theirs(FIND)]
        ) as events,
    ):
        async for text in events.text_stream:
            yield text


async def read_ollama(address: str) -> AsyncIterator[str]:
    turns = [
        {"role": "user", "content": QUERY},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "find_part", "arguments": GIVEN}}],
        },
        {"role": "tool", "tool_name": "find_part", "content": FOUND},
    ]
    asked = {"model": "m", "stream": True, "tools": [FIND], "messages": turns}
    async with (
        HttpClient(Egress.any()) as client,
        client.stream("POST", f"{address}/api/chat", json=asked) as given,
    ):
        assert not isinstance(given, Failure)
        async for line in given.lines():
            assert isinstance(line, str)
            yield json.loads(line)["message"]["content"] if line else ""


@pytest.mark.parametrize("read", [read_completions, read_responses, read_messages, read_ollama])
async def test_a_client_has_the_first_sentence_while_the_second_is_written(read: Any) -> None:
    first = asyncio.Event()

    def answer(asked: Asked) -> Reply:
        if '"final_answer"' not in json.dumps(asked.json["response_format"]):
            return Reply([whole('{"no_call": "it is known"}')], headers=JSON)
        middle = WRITTEN.index("is a bolt")
        pieces = [chunk({"content": WRITTEN[:middle]}), text_stream(WRITTEN[middle:])]
        return Reply(pieces, hold=first)

    said = ""
    facts = UpstreamFacts(Probed(native=False, schema=True))
    async with (
        asyncio.timeout(20),
        upstream(answer) as up,
        proxy(up.url, BY_SCHEMA, facts=facts) as (address, _),
    ):
        async for text in read(address):
            said += text
            if said == "The code is HB-8.":
                first.set()
    assert said == "The code is HB-8. It is a bolt."
