"""The facts of a turn that decide what is asked and said in it."""

from __future__ import annotations

import json
from typing import Any

from callwright.agent.leading.led_context import LedContext
from callwright.agent.run_facts import RunFacts
from callwright.agent.safety.held_call import HeldCall
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, BindStep, Replied
from callwright.nouns.types import READ, WRITE, Failure, Reply, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan

FIND = Tool("find_part", "Finds a part.", {"properties": {"name": {}}}, effects=READ)
ORDER = Tool("order", "Orders.", {"properties": {"code": {}, "pieces": {}}}, effects=WRITE)
TOOLS = (FIND, ORDER)
FOUND = ToolResult("r1", "find_part", {"name": "bolt"}, {"code": "HB-8"})
ORDERED = ToolResult("r2", "order", {"code": "HB-8"}, {"id": "O-1"})


def led(*results: ToolResult, query: str = "Order bolts", **more: Any) -> LedContext:
    facts = RunFacts(RunState(Asked(query), TOOLS, results=results))
    planner = FixedPlan(["find_part"], ["order"])
    more.setdefault("mode", "schema")
    return LedContext(query=query, tools=TOOLS, planner=planner, facts=facts, **more)


def ask(
    made: LedContext, step: BindStep, reply: str = '{"no_call": "x"}'
) -> tuple[Ask | None, Any]:
    """The question of one step, if one was asked, and what was decided on."""
    steps = made.bind(TOOLS, step)
    try:
        action = next(steps)
    except StopIteration as end:
        return None, end.value
    assert isinstance(action, Ask)
    try:
        steps.send(Replied(Reply(reply)))
        raise AssertionError("one question too many")
    except StopIteration as end:
        return action, end.value


def test_the_first_question_is_the_conversation_and_later_ones_say_what_may_be_called() -> None:
    first, bound = ask(led(), BindStep("layer"))
    assert first is not None
    assert first.request.messages == ()
    assert [skip.tool for skip in bound.skips] == ["find_part", "order"]
    later, _ = ask(led(FOUND), BindStep("layer"))
    assert later is not None
    assert "These tools may be called now: find_part, order" in later.request.messages[-1].content
    open_, _ = ask(led(FOUND), BindStep("layer", open_points=["5 bolts"], tried=["find_part(x)"]))
    assert open_ is not None
    assert "find_part(x). Nothing serves this part yet: 5 bolts" in (
        open_.request.messages[-1].content
    )


def test_replies_are_held_to_a_schema_or_given_tools() -> None:
    by_schema, _ = ask(led(), BindStep("layer"))
    native, _ = ask(led(mode="native"), BindStep("layer"))
    text, _ = ask(led(mode="text"), BindStep("layer"))
    assert by_schema is not None
    assert native is not None
    assert text is not None
    assert by_schema.request.schema is not None
    assert (native.request.tools, native.request.schema) == (TOOLS, None)
    assert (text.request.tools, text.request.schema) == ((), None)


def test_a_reply_that_states_the_served_wishes_again_ends_the_questions() -> None:
    made = led(FOUND, query="Find bolt", wishes=("find bolt",))
    again = '{"wishes": ["find bolt"], "calls": [{"name": "order", "arguments": {"code": "bolt"}}]}'
    _, bound = ask(made, BindStep("layer"), again)
    assert bound.calls == ()
    assert made.is_served
    silent, _ = ask(made, BindStep("layer"))
    assert silent is None
    open_, _ = ask(made, BindStep("layer", open_points=["x"]))
    assert open_ is not None, "what is open is asked about all the same"
    made.begin_round()
    assert not made.is_served


def held(code: str, rule: str = "unstated_value") -> HeldCall:
    call = ToolCall("", "order", {"code": code, "pieces": 9})
    return HeldCall(call, rule, "why", missing=("pieces",))


def test_what_was_held_is_open_until_its_values_are_used() -> None:
    made = led(query="Order some of C-330 and of A-100")
    made.held = [held("C-330"), held("X-1"), held("A-100", "repeated_write")]
    made.begin_round()
    assert made.held == []
    assert [one.call.arguments for one in made.left] == [{"code": "C-330", "pieces": 9}]
    assert made.list_unstated() == list(made.left)
    made.facts.take_results([ToolResult("r1", "order", {"code": "C-330", "pieces": 5}, {"id": 1})])
    assert made.list_unstated() == []


def test_a_value_that_was_said_as_a_number_counts_as_well() -> None:
    made = led(query="Order 7 of something")
    call = ToolCall("", "order", {"code": "X-1", "pieces": 7})
    made.held = [HeldCall(call, "unstated_value", "why", missing=("code",))]
    made.begin_round()
    assert len(made.left) == 1


def test_the_value_of_a_lookup_is_not_asked_for_where_others_have_answered() -> None:
    one = HeldCall(ToolCall("", "find_part", {"name": "x"}), "unstated_value", "why")
    assert led(held=[one]).list_unstated() == [one]
    assert led(FOUND, held=[one]).list_unstated() == []


def test_what_was_done_and_what_failed_is_told_apart() -> None:
    failed = ToolResult("r3", "order", {"code": "X"}, failure=Failure("tool_error", "no"))
    assert not led(FOUND).has_written()
    assert led(FOUND, ORDERED).has_written()
    assert led(failed).has_failed_write()
    assert not led(failed, ORDERED).has_failed_write(), "nobody said X"
    nothing = ToolResult("r1", "find_part", {"name": "bolt"}, [])
    assert led(nothing).came_to_nothing()
    assert not led(FOUND).came_to_nothing()


def test_another_deed_of_the_same_tool_makes_no_failed_one_good() -> None:
    one = ToolResult("r1", "order", {"code": "A-1"}, failure=Failure("tool_error", "no"))
    two = ToolResult("r2", "order", {"code": "B-2"}, {"id": "O-2"})
    again = ToolResult("r3", "order", {"code": "A-1", "pieces": 5}, {"id": "O-3"})
    for results in ((one, two), (two, one)):
        assert led(*results, query="Order A-1 and B-2").has_failed_write()
    assert not led(one, two, again, query="Order A-1 and B-2").has_failed_write()


def test_a_reply_that_reads_out_the_tools_is_asked_once_more_without_their_names() -> None:
    names = json.dumps(
        {"wishes": ["find_part", "order", "x"], "calls": [{"name": "order", "arguments": {}}]}
    )
    tools = (*TOOLS, Tool("x"))

    def answer(step: BindStep, *results: ToolResult) -> tuple[list[str], Any]:
        steps, asked, replies = led(*results).bind(tools, step), [], [names, '{"no_call": "done"}']
        try:
            action = next(steps)
            while True:
                assert isinstance(action, Ask)
                asked.append("".join(one.content for one in action.request.messages))
                action = steps.send(Replied(Reply(replies.pop(0))))
        except StopIteration as end:
            return asked, end.value

    asked, bound = answer(BindStep("layer"), FOUND)
    assert len(asked) == 2
    assert "find_part" not in asked[1]
    assert bound.calls == ()
    asked, _ = answer(BindStep("layer", enabled=["order"]), FOUND)
    assert "may be called now: order." in asked[1], "what waited for a result is named"
    asked, bound = answer(BindStep("layer"))
    assert [call.tool for call in bound.calls] == ["order"], "the first question names none"


def test_a_call_on_another_record_is_open_until_its_tool_is_called() -> None:
    made = led(query="Drop the Review")
    made.held = [HeldCall(ToolCall("", "order", {"code": "E-1"}), "other_record", "another one")]
    made.begin_round()
    assert [one.call.tool for one in made.list_unstated()] == ["order"]
    later = led(ORDERED, query="Drop the Review", left=made.left)
    later.begin_round()
    assert later.list_unstated() == []
