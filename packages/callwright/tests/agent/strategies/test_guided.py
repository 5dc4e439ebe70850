"""The proxy's engine over calls of our own."""

from __future__ import annotations

from typing import Any

import pytest

from callwright import Orchestrator, Run
from callwright.agent.options import Safety
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, WRITE, Message, ToolOutput
from callwright.testing import FakeTool, ScriptedModel, fake_source

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
ORDER = {"part_code": TEXT, "quantity": NUMBER}
BOTH = "Order 5 pieces of A-100 and 7 pieces of C-330."


def order_tool(**options: Any) -> FakeTool:
    options.setdefault("output", lambda part_code, quantity: {"order_id": f"O-{quantity}"})
    return FakeTool("create_order", ORDER, effects=WRITE, **options)


def find_tool() -> FakeTool:
    about = "Finds the code of a part by its name."
    return FakeTool(
        "find_part", {"name": TEXT}, description=about, output={"code": "HB-8"}, effects=READ
    )


def wishes(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    named = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return {"wishes": ["it"], "calls": named}


def ordered(part_code: str, quantity: int) -> tuple[str, dict[str, Any]]:
    return "create_order", {"part_code": part_code, "quantity": quantity}


DONE = {"no_call": "done"}


async def ask(
    query: str, script: dict[str, list[Any]], *tools: FakeTool
) -> tuple[Run, list[ChatRequest]]:
    model = ScriptedModel(script)
    setup = Orchestrator(
        [fake_source(*tools)], model=model, strategy="guided", safety=Safety(allow=("*",))
    )
    return await setup.run(query), model.requests


async def test_each_wish_has_its_call_and_the_answer_is_in_words() -> None:
    tool = order_tool()
    script = {
        "bind": [wishes(ordered("A-100", 5), ordered("C-330", 7)), DONE],
        "answer": [{"final_answer": "The orders are O-5 and O-7."}],
    }
    done, asked = await ask(BOTH, script, tool)
    assert [call["quantity"] for call in tool.calls] == [5, 7]
    assert (done.status, done.answer.text) == ("answered", "The orders are O-5 and O-7.")
    assert [slot.tool for slot in done.plan.slots] == ["create_order"] * 2
    shared = len(asked[0].messages)
    assert all(one.messages[:shared] == asked[0].messages for one in asked)
    assert [message.role for message in asked[-1].messages[shared:-1]] == ["assistant", "tool"] * 2


async def test_a_code_is_looked_up_before_it_is_ordered() -> None:
    find, order = find_tool(), order_tool()
    script = {
        "bind": [
            wishes(ordered("BOLT-200", 200)),
            wishes(("find_part", {"name": "hex bolts"})),
            wishes(ordered("HB-8", 200)),
            DONE,
        ],
        "answer": [{"final_answer": "The order is O-200."}],
    }
    done, _ = await ask("Order 200 hex bolts", script, find, order)
    assert [call["part_code"] for call in order.calls] == ["HB-8"]
    assert [result.tool for result in done.results] == ["find_part", "create_order"]


async def test_a_refused_call_is_asked_for_once_more_with_the_reason() -> None:
    tool = order_tool()
    script = {"bind": [wishes(ordered("A-100", 90)), wishes(ordered("A-100", 5)), DONE]}
    script["answer"] = [{"final_answer": "The order is O-5."}]
    _, asked = await ask("Order 5 pieces of A-100.", script, tool)
    assert [call["quantity"] for call in tool.calls] == [5]
    assert "quantity" in asked[1].messages[-1].content


async def test_a_model_that_insists_on_a_made_up_value_is_not_asked_forever() -> None:
    tool = order_tool()
    script = {"bind": [wishes(ordered("A-100", 90))] * 2, "*": [DONE]}
    done, asked = await ask("Order some pieces of A-100.", script, tool)
    assert not tool.calls
    assert len(asked) == 2
    assert "quantity" in done.answer.text


async def test_a_write_that_failed_is_told_as_such() -> None:
    """Asked for words, a small model tells of it as if it were done."""
    tool = order_tool(output=ToolOutput({"error": "only 0 pieces in stock"}))
    script = {"bind": [wishes(ordered("A-100", 5)), DONE, DONE], "answer": []}
    done, asked = await ask("Order 5 pieces of A-100.", script, tool)
    assert "only 0 pieces" in done.answer.text
    assert {one.purpose for one in asked} == {"bind"}


@pytest.mark.parametrize("reply", ["no idea", '{"wishes": ["x"]}', {"no_call": "hello"}])
async def test_a_reply_without_a_call_ends_the_run(reply: Any) -> None:
    done, asked = await ask("Good morning!", {"bind": [reply, reply]}, order_tool())
    assert not done.results
    assert len(asked) <= 2


async def test_any_known_notation_is_read() -> None:
    tool = order_tool()
    text = 'Action: create_order\nAction Input: {"part_code": "A-100", "quantity": 5}'
    script = {"bind": [text, DONE], "answer": [{"final_answer": "The order is O-5."}]}
    await ask("Order 5 pieces of A-100.", script, tool)
    assert len(tool.calls) == 1


async def test_the_conversation_stands_before_the_request() -> None:
    tool = order_tool()
    model = ScriptedModel({"bind": [wishes(ordered("A-100", 5)), DONE], "*": "The order is O-5."})
    setup = Orchestrator(
        [fake_source(tool)], model=model, strategy="guided", safety=Safety(allow=("*",))
    )
    talk = [Message("user", "Is A-100 there?"), Message("assistant", "It is.")]
    await setup.run("Then order 5.", talk)
    assert [one.content for one in model.requests[0].messages[1:4]] == [
        "Is A-100 there?",
        "It is.",
        "Then order 5.",
    ]
