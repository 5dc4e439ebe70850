"""The scripted expert hands its calls out in whatever form it is asked, never before it could know
their values.
"""

from __future__ import annotations

from typing import Any

import pytest

from callwright.agent.bind import View, build_bind_request
from callwright.agent.select import build_request
from callwright.jsontext import parse
from callwright.nouns.plan import Plan
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, Tool, ToolCall
from callwright.planning.dag import Asked
from callwright.planning.dag import build_question as plan_question
from callwright_lab.benchmarks.makespan.expert import Expert, collect_schema_tools
from callwright_lab.benchmarks.makespan.gold_plan import Made, gold_plan

TEXT = {"type": "string"}
TOOLS = tuple(
    Tool(name, "", {"type": "object", "properties": {key: TEXT}, "required": [key]}, effects=READ)
    for name, key in (("find", "city"), ("sun", "place"), ("moon", "place"))
)
MADE = [
    Made(ToolCall("1", "find", {"city": "Oslo"}), {"place": "NO-0301"}),
    Made(ToolCall("2", "sun", {"place": "NO-0301"}), {"set": "21:18"}),
]
PLAN = gold_plan("The sun in Oslo?", MADE)


def expert(**pace: float) -> Expert:
    return Expert(PLAN, [one.call for one in MADE], "At 21:18.", **pace)


async def said(model: Expert, request: ChatRequest) -> Any:
    return parse((await model.complete(request)).text)


async def test_a_layer_is_given_what_can_be_known_and_named_what_cannot() -> None:
    model, asked = expert(), build_bind_request(View("", TOOLS[:2], ()), "schema", "layer")
    first, second, third = [await said(model, asked) for _ in range(3)]
    assert first == {
        "useful": ["find", "sun"],
        "calls": [{"tool": "find", "arguments": {"city": "Oslo"}}],
    }
    assert second == {
        "useful": ["sun"],
        "calls": [{"tool": "sun", "arguments": {"place": "NO-0301"}}],
    }
    assert third["useful"] == ["none"]


async def test_a_loop_is_given_one_call_at_a_time_and_an_end() -> None:
    model, asked = (
        expert(),
        build_bind_request(View("", TOOLS, (), may_finish=True), "schema", "react"),
    )
    assert [(await said(model, asked))["action"]["tool"] for _ in range(3)] == [
        "find",
        "sun",
        "finish",
    ]


async def test_a_plan_holds_references_and_a_second_one_only_what_is_left() -> None:
    model, asked = expert(), plan_question(Asked("", TOOLS, ""))
    steps = (await said(model, asked))["steps"]
    assert steps[1] == {
        "step": 2,
        "tool": "sun",
        "after": [1],
        "arguments": {"place": "${1.place}"},
    }
    assert (await said(model, asked))["steps"] == []


async def test_it_chooses_the_tools_of_its_calls() -> None:
    assert await said(expert(), build_request("", TOOLS, "schema")) == {"needed": ["find", "sun"]}


async def test_pieces_make_up_the_reply() -> None:
    pieces: list[str] = []

    def watch(piece: str) -> bool:
        pieces.append(piece)
        return False

    reply = await expert().complete(plan_question(Asked("", TOOLS, "")), watch)
    assert "".join(pieces) == reply.text
    assert len(pieces) > 1


def test_the_tools_of_a_schema_are_its_constants() -> None:
    assert collect_schema_tools(
        build_bind_request(View("", TOOLS, ()), "schema", "layer").schema
    ) == [
        "find",
        "sun",
        "moon",
    ]


async def test_it_gives_its_answer_in_the_form_that_is_asked_for() -> None:
    plain = await expert().complete(ChatRequest((), "words"))
    assert plain.text == "At 21:18."
    form: Any = {"anyOf": [{"properties": {"question": TEXT}}, {"properties": {"reply": TEXT}}]}
    asked = ChatRequest((), "question", schema=form)
    assert await said(expert(), asked) == {"reply": "At 21:18."}
    asking = Expert(PLAN, [one.call for one in MADE], "Which city?")
    assert await said(asking, asked) == {"question": "Which city?"}


@pytest.mark.parametrize("prompt", ["first", "layer", "react"])
async def test_who_has_nothing_to_call_asks_where_the_answer_is_a_question(prompt: str) -> None:
    view = View("", TOOLS, (), may_finish=prompt == "react")
    reply = await said(
        Expert(Plan(()), [], "Which city?"), build_bind_request(view, "schema", prompt)
    )
    assert "Which city?" in (reply.get("reason"), reply.get("action", {}).get("reason"))
