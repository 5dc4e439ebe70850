"""The gateway's refiner: asked once about a call, and never anew about one that was approved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from callwright.gateway.server.refiner import Refiner
from callwright.gateway.session.commands import AskRefiner, Refined
from callwright.nouns.errors import ModelError
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import Message, Reply
from callwright.repair.by_model.refiner_settings import RefinerSettings
from callwright.testing import ScriptedModel
from tests.gateway.doors import build_gateway, connect, world

SETTINGS = RefinerSettings("short")


def question(text: str) -> AskRefiner:
    return AskRefiner(ChatRequest((Message("user", text),), purpose="refine"))


async def test_a_question_is_asked_once_and_an_error_is_no_answer() -> None:
    failures = [ModelError("nobody is there"), ValueError("a fault of ours")]
    model = ScriptedModel([Reply("one"), *failures, Reply("two")])
    refiner = Refiner(model, SETTINGS)
    first = await refiner.answer(question("a"))
    assert first.reply is not None
    assert first.reply.text == "one"
    assert await refiner.answer(question("a")) == first
    for _ in failures:
        assert await refiner.answer(question("b")) == Refined(None)
    again = await refiner.answer(question("b"))
    assert again.reply is not None
    assert again.reply.text == "two"
    await refiner.aclose()
    assert model.closed


async def test_a_call_that_goes_on_gets_the_answer_from_before_or_none() -> None:
    refiner = Refiner(ScriptedModel([Reply("one")]), SETTINGS)
    assert await refiner.answer(question("a"), is_resumed=True) == Refined(None)
    first = await refiner.answer(question("a"))
    assert await refiner.answer(question("a"), is_resumed=True) == first


async def test_old_answers_are_forgotten() -> None:
    refiner = Refiner(ScriptedModel(lambda asked: asked.messages[0].content), SETTINGS)
    for number in range(300):
        await refiner.answer(question(str(number)))
    assert await refiner.answer(question("0"), is_resumed=True) == Refined(None)
    assert (await refiner.answer(question("299"), is_resumed=True)).reply is not None


async def test_a_call_that_its_schema_refuses_is_refined_on_its_way_to_a_real_server() -> None:
    meant = '<func_call>[{"name": "world__add", "arguments": {"a": 2, "b": 3}}]</func_call>'
    model = ScriptedModel([meant])
    gateway = build_gateway({"world": world(approve=["*"])}, refiner=Refiner(model, SETTINGS))
    wrong: dict[str, Any] = {"first": {"value": 2}, "second": {"value": 3}}
    async with gateway.running(), connect(gateway) as client:
        right = await client.call_tool("world__add", {"a": 2, "b": 3})
        assert not model.requests  # nobody is asked about a call that its schema accepts
        made = await client.call_tool("world__add", wrong)
    assert made.content == right.content
    assert not right.is_error
    assert not made.is_error
    assert len(model.requests) == 1


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_write_is_approved_as_it_was_refined_and_leaves_so(
    tmp_path: Path, mode: str
) -> None:
    orders, asked = tmp_path / "orders", []
    meant = '<func_call>[{"name": "world__order", "arguments": {"a": 2, "b": 3}}]</func_call>'
    other = meant.replace('"a": 2, "b": 3', '"a": 3, "b": 2')
    model = ScriptedModel([meant, other])
    server = world(env={"WORLD_ORDERS": str(orders)})
    gateway = build_gateway({"world": server}, refiner=Refiner(model, SETTINGS))

    async def agree(_: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={})

    wrong: dict[str, Any] = {"first": {"value": 2}, "second": {"value": 3}}
    async with (
        gateway.running(),
        connect(gateway, mode, elicitation_callback=agree) as client,
    ):
        made = await client.call_tool("world__order", wrong)
    assert not made.is_error
    assert len(asked) == 1
    assert asked[0].endswith('Arguments: {"a":2,"b":3}')
    assert orders.read_text(encoding="utf-8") == "{'a': 2, 'b': 3}\n"
    assert len(model.requests) == 1
