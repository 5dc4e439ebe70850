"""The proxy's engine over calls of our own."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from callwright import Orchestrator, Run
from callwright.agent.options import Interaction, Safety
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, WRITE, Message, Reply, ToolCall, ToolOutput
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


async def test_a_held_call_is_asked_for_once_more_where_the_request_names_a_number() -> None:
    tool = order_tool()
    script = {"bind": [wishes(ordered("A-100", 90)), wishes(ordered("A-100", 5)), DONE]}
    script["answer"] = [{"final_answer": "The order is O-5."}]
    _, asked = await ask("Order 5 pieces of A-100.", script, tool)
    assert [call["quantity"] for call in tool.calls] == [5]
    assert "quantity" in asked[1].messages[-1].content


async def test_a_day_is_asked_for_once_more_and_can_only_be_the_one_that_is_meant() -> None:
    read = FakeTool("list_events", {"date": {**TEXT, "format": "date"}}, output=[], effects=READ)
    one, other = ("list_events", {"date": "2024-01-01"}), ("list_events", {"date": "2026-03-26"})
    script = {"bind": [wishes(one), wishes(other), DONE], "*": [{"final_answer": "Nothing."}] * 3}
    setup = Orchestrator(
        [fake_source(read)],
        model=(model := ScriptedModel(script)),
        strategy="guided",
        interaction=Interaction(today=lambda: date(2026, 3, 12)),
    )
    await setup.run("What is planned two weeks from today?")
    assert [call["date"] for call in read.calls] == ["2026-03-26"]
    assert "'enum': ['2026-03-26', '2026-02-26']" in str(model.requests[1].schema)


async def test_what_only_the_user_can_know_is_asked_in_a_question() -> None:
    tool, question = order_tool(), "Which quantity do you need?"
    script = {
        "bind": [wishes(ordered("A-100", 90)), DONE],
        "question": [{"question": question}],
    }
    done, asked = await ask("Order some pieces of A-100.", script, tool)
    assert not tool.calls
    assert (done.status, done.answer.text) == ("abstained", question)
    assert "create_order: 'create_order' was not called" in done.answer.missing[0]
    assert [one.purpose for one in asked].count("question") == 1
    assert "quantity" in asked[-1].messages[-1].content


async def test_a_question_stands_behind_what_was_done() -> None:
    tool = order_tool()
    script = {
        "bind": [
            wishes(ordered("A-100", 5), ordered("C-330", 90)),
            *[wishes(ordered("C-330", 90))] * 2,  # asked about what is open, and once more
        ],
        "answer": [{"final_answer": "The order of A-100 is O-5."}],
        "question": [{"question": "Which quantity of C-330?"}],
        "*": [DONE],
    }
    done, _ = await ask("Order 5 pieces of A-100 and some of C-330.", script, tool)
    assert [call["quantity"] for call in tool.calls] == [5]
    assert done.answer.text == "The order of A-100 is O-5.\n\nWhich quantity of C-330?"
    assert done.status == "partial"


async def test_a_read_of_what_nobody_spoke_of_is_held_as_well() -> None:
    find = FakeTool("get_user", {"user_id": TEXT}, output={"name": "x"}, effects=READ)
    script = {"bind": [wishes(("get_user", {"user_id": "U-12345"})), DONE], "*": ["Which user?"]}
    await ask("Is the user there?", script, find)
    assert not find.calls


async def test_what_was_done_is_not_done_for_the_same_wish_again() -> None:
    tool = order_tool()
    script = {
        "bind": [wishes(ordered("A-100", 5)), wishes(("find_part", {"name": "A-100"}))],
        "answer": [{"final_answer": "The order is O-5."}],
    }
    find = find_tool()
    done, _ = await ask("Order 5 pieces of A-100.", script, tool, find)
    assert (len(tool.calls), len(find.calls)) == (1, 0)
    assert done.status == "answered"


async def test_equal_orders_are_made_as_often_as_they_are_asked_for() -> None:
    tool = order_tool()
    script = {"bind": [wishes(*[ordered("B-220", 2)] * 3), DONE], "*": [{"final_answer": "Done."}]}
    await ask("Place three separate orders of 2 pieces of B-220 each.", script, tool)
    assert len(tool.calls) == 3
    once = order_tool()
    script["bind"] = [wishes(*[ordered("B-220", 2)] * 3), DONE]
    await ask("Order 2 pieces of B-220.", script, once)
    assert len(once.calls) == 1


async def test_a_write_that_failed_is_told_as_such() -> None:
    """Asked for words, a small model tells of it as if it were done."""
    tool = order_tool(output=ToolOutput({"error": "only 0 pieces in stock"}))
    script = {"bind": [wishes(ordered("A-100", 5)), DONE, DONE], "answer": []}
    done, asked = await ask("Order 5 pieces of A-100.", script, tool)
    assert "only 0 pieces" in done.answer.text
    assert {one.purpose for one in asked} == {"bind"}


async def test_what_is_read_behind_a_write_is_read_behind_it() -> None:
    """The calls of one reply would go out at the same time, and equal reads once."""
    stock = [40]

    def order(part_code: str, quantity: int) -> dict[str, Any]:
        stock[0] -= quantity
        return {"order_id": part_code}

    read = FakeTool(
        "get_part", {"part_code": TEXT}, output=lambda part_code: {"stock": stock[0]}, effects=READ
    )
    look = "get_part", {"part_code": "A-100"}
    script = {"bind": [wishes(look, ordered("A-100", 15), look), DONE], "*": ["25 are left."]}
    query = "How many A-100 are there? Order 15 and look how many are left."
    done, _ = await ask(query, script, read, order_tool(output=order))
    assert [result.content for result in done.results] == [
        {"stock": 40},
        {"order_id": "A-100"},
        {"stock": 25},
    ]


async def test_of_two_days_that_may_be_meant_one_is_taken() -> None:
    day = {**TEXT, "format": "date"}
    enter = FakeTool("create_event", {"date": day}, output={"id": "E-1"}, effects=WRITE)
    both = [("create_event", {"date": one}) for one in ("2026-03-26", "2026-02-26")]
    script = {
        "bind": [wishes(("create_event", {"date": "2024-01-01"})), wishes(*both), DONE],
        "*": [{"final_answer": "Entered."}],
    }
    setup = Orchestrator(
        [fake_source(enter)],
        model=ScriptedModel(script),
        strategy="guided",
        safety=Safety(allow=("*",)),
        interaction=Interaction(today=lambda: date(2026, 3, 12)),
    )
    await setup.run("Enter an event two weeks from today.")
    assert [call["date"] for call in enter.calls] == ["2026-03-26"]


@pytest.mark.parametrize("reply", ["no idea", '{"wishes": ["x"]}', {"no_call": "hello"}])
async def test_a_reply_without_a_call_ends_the_run(reply: Any) -> None:
    done, asked = await ask("A fine day!", {"bind": [reply, reply]}, order_tool())
    assert not done.results
    assert (done.status, len(asked)) == ("abstained", 1)


@pytest.mark.parametrize("said", ["Good morning!", "¡Buenos días!", "早上好"])
async def test_a_greeting_is_answered_in_words_and_offers_no_tool(said: str) -> None:
    done, asked = await ask(said, {"words": ["Good morning to you!"]}, order_tool())
    assert (done.status, done.answer.text) == ("answered", "Good morning to you!")
    assert [message.content for message in asked[0].messages] == [said]


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


GIFT = {"part_code": TEXT, "gift": {"type": "boolean"}, "speed": {"enum": ["slow", "express"]}}
LETTERS = {"A": 0.4, "B": 0.3, "C": 0.3}


def order_with_options(implied: bool) -> tuple[ScriptedModel, FakeTool]:
    """A model that fills in all options, and whether the conversation makes one likelier."""

    def reply(request: ChatRequest) -> Any:
        if request.purpose == "option":
            is_told = any("A-100" in message.content for message in request.messages[1:2])
            is_likelier = implied and is_told and "gift" in request.messages[-1].content
            return Reply("A", first_token={"A": 0.98, "C": 0.02} if is_likelier else LETTERS)
        if request.purpose == "answer":
            return {"final_answer": "It is ordered."}
        if any(message.role == "tool" for message in request.messages):
            return DONE
        given = {"part_code": "A-100", "gift": True, "speed": "slow"}
        return wishes(("create_order", given))

    tool = FakeTool(
        "create_order", GIFT, output={"id": "O-1"}, effects=WRITE, required=["part_code"]
    )
    return ScriptedModel(reply), tool


@pytest.mark.parametrize("implied", [True, False])
@pytest.mark.parametrize(
    "query",
    [
        "Order a part A-100 for my aunt's birthday.",
        "Bestelle ein Teil A-100 zum Geburtstag meiner Tante.",
        "Pide una pieza A-100 para el cumpleaños de mi tía.",
        "为我阿姨的生日订一个A-100。",
        "اطلب قطعة A-100 لعيد ميلاد خالتي.",
    ],
)
async def test_an_option_that_nobody_asked_for_is_left_out(query: str, *, implied: bool) -> None:
    """In any language: by how likely the model holds it with the conversation and without."""
    model, tool = order_with_options(implied)
    safety = Safety(allow=("*",))
    await Orchestrator([fake_source(tool)], model=model, strategy="guided", safety=safety).run(
        query
    )
    expected = {"part_code": "A-100", **({"gift": True} if implied else {})}
    assert tool.calls == [expected]


async def test_earlier_calls_and_results_stand_in_the_conversation() -> None:
    tool = order_tool()
    made = ToolCall("c1", "create_order", {"part_code": "A-100", "quantity": 3})
    talk = [
        Message("user", "Order 3 pieces of A-100."),
        Message("assistant", "", (made,)),
        Message("tool", '{"order_id": "O-3"}', tool_call_id="c1"),
        Message("assistant", "The order is O-3."),
    ]
    script = {"bind": [wishes(ordered("A-100", 3)), DONE], "*": [{"final_answer": "It is O-3."}]}
    model, safety = ScriptedModel(script), Safety(allow=("*",))
    setup = Orchestrator([fake_source(tool)], model=model, strategy="guided", safety=safety)
    await setup.run("Please place exactly the same order once more.", talk)
    assert model.requests[0].messages[1:5] == tuple(talk)
    assert tool.calls == [made.arguments]
