"""Earlier turns in a run: their results are sources and can be cited, their writes are not made
again unasked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from callwright import Orchestrator, Run
from callwright.agent.earlier_turns import read_turns
from callwright.agent.options import Safety
from callwright.nouns.types import READ_LOCAL, UNKNOWN, WRITE, Message, Tool, ToolCall
from callwright.testing import FakeTool, ScriptedModel, fake_source

ORDER = {"article": {"type": "string"}, "pieces": {"type": "integer"}}
MADE = {"article": "hammer", "pieces": 3}
BEFORE = (
    Message("user", "Order 3 hammers"),
    Message("assistant", "", (ToolCall("r1", "order", MADE),)),
    Message("tool", '{"number":"A-17"}', tool_call_id="r1", name="order"),
    Message("assistant", "It is ordered."),
)


def order() -> FakeTool:
    return FakeTool("order", ORDER, output={"number": "B-18"}, effects=WRITE)


def track() -> FakeTool:
    text = {"number": {"type": "string"}}
    return FakeTool("track", text, output={"place": "Oslo"}, effects=READ_LOCAL)


async def follow(query: str, call: dict[str, Any], said: dict[str, Any], *tools: FakeTool) -> Run:
    model = ScriptedModel({
        "bind": {"calls": [call]},
        "answer": {"statements": [said], "missing": []},
    })  # fmt: skip
    orchestrator = Orchestrator([fake_source(*tools)], model=model)
    return await orchestrator.run(query, BEFORE)


async def test_a_value_of_an_earlier_result_is_no_made_up_value() -> None:
    call = {"tool": "track", "arguments": {"number": "A-17"}}
    said = {"text": "A-17 is in Oslo.", "results": ["r1", "r2"]}
    run = await follow("Where is it?", call, said, track())
    assert [(r.id, r.arguments) for r in run.results] == [("r2", {"number": "A-17"})]
    assert (run.status, run.assumed) == ("answered", ())
    assert run.answer.statements[0].support == "supported"


async def test_what_earlier_turns_brought_answers_without_a_call() -> None:
    said = {"text": "The number is A-17.", "results": ["r1"]}
    run = await follow("What is its number?", {"tool": "order", "arguments": MADE}, said, order())
    assert run.results == ()
    assert run.status == "answered"
    assert run.answer.text == "The number is A-17."


async def test_a_write_is_not_made_again_unasked() -> None:
    said = {"text": "The number is A-17.", "results": ["r1"]}
    tool = order()
    run = await follow("What is its number?", {"tool": "order", "arguments": MADE}, said, tool)
    assert run.results == ()
    assert any("the same call was already made as r1" in skip.reason for skip in run.skips)


@pytest.mark.parametrize("strategy", ["layered", "react", "guided"])
async def test_a_message_that_only_thanks_is_answered_in_words(strategy: str) -> None:
    tool = order()
    model = ScriptedModel({"words": "You are welcome!"})
    run = await Orchestrator([fake_source(tool)], model=model, strategy=strategy).run(
        "Thanks a lot!", BEFORE
    )
    assert (tool.calls, run.answer.text, run.status) == ([], "You are welcome!", "answered")
    assert [request.purpose for request in model.requests] == ["words"]


async def test_a_write_that_is_asked_for_again_is_made_again() -> None:
    said = {"text": "The number is B-18.", "results": ["r2"]}
    run = await follow("Order 3 hammers", {"tool": "order", "arguments": MADE}, said, order())
    assert [result.content for result in run.results] == [{"number": "B-18"}]


def test_a_write_without_a_result_may_have_been_made() -> None:
    tool = Tool("order", input_schema={"properties": ORDER}, effects=WRITE)
    turns = read_turns((*BEFORE[:2], BEFORE[3]), (tool,))
    assert [one.arguments for one in turns.list_unasked("Thanks a lot!", (tool,))] == [MADE]
    assert turns.results == ()
    assert turns.numbered == 1
    assert [message.role for message in turns.words] == ["user", "assistant"]


def test_no_word_of_the_user_keeps_a_call_from_being_of_an_earlier_turn() -> None:
    tool = Tool("order", input_schema={"properties": ORDER}, effects=WRITE)
    said = replace(BEFORE[0], content="Do this:\nnext\nOrder 3 hammers.")
    turns = read_turns((said, *BEFORE[1:3]), (tool,))
    assert [one.tool for one in turns.written] == ["order"]


def test_words_alone_are_taken_as_they_are() -> None:
    said = (Message("user", "Hello"), Message("assistant", "Good morning."))
    assert read_turns(said).words == said


@pytest.mark.parametrize(
    "query",
    [
        "Once more, please.",
        "Another three for Bob.",
        "Bob needs the very same thing. Please place it.",
        "Noch einmal, bitte.",
        "Bitte bestelle 3 Stück Hammer für Bob.",
        "Pide otros tres, por favor.",
        "Pide 3 martillos para Bob.",
        "Commande 3 marteaux pour Bob.",
        "再订三个",
        "给Bob订3把锤子",
    ],
)
async def test_who_asks_once_more_gets_it_once_more_in_any_language(query: str) -> None:
    said = {"text": "The number is B-18.", "results": ["r2"]}
    run = await follow(query, {"tool": "order", "arguments": MADE}, said, order())
    assert [result.content for result in run.results] == [{"number": "B-18"}]


@pytest.mark.parametrize("query", ["What was the number again?", "Is it on its way?"])
async def test_a_question_for_what_was_said_makes_no_write_again(query: str) -> None:
    said = {"text": "The number is A-17.", "results": ["r1"]}
    run = await follow(query, {"tool": "order", "arguments": MADE}, said, order())
    assert run.results == ()


@pytest.mark.parametrize(
    ("query", "is_made"), [("And now?", True), ("Und jetzt?", True), ("Thanks a lot!", False)]
)
async def test_what_nobody_says_that_it_writes_is_called_anew(query: str, is_made: bool) -> None:
    tool = FakeTool("order", ORDER, output={"number": "B-18"}, effects=UNKNOWN)
    model = ScriptedModel({
        "bind": {"calls": [{"tool": "order", "arguments": MADE}]},
        "*": {"statements": [{"text": "It is B-18.", "results": ["r2"]}], "missing": []},
    })  # fmt: skip
    safety = Safety(allow=["*"])
    run = await Orchestrator([fake_source(tool)], model=model, safety=safety).run(query, BEFORE)
    assert bool(run.results) is is_made
