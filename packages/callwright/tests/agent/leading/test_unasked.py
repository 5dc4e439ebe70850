"""Writes behind lookups that nobody asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from callwright.agent.leading.led_context import LedContext
from callwright.agent.leading.unasked import (
    LEAST_BESIDE,
    LEAST_SHARE,
    SURE_BESIDE,
    SURE_SHARE,
    Doubt,
    ask_share,
    find_doubt,
)
from callwright.agent.run_facts import RunFacts
from callwright.agent.state import Asked, RunState
from callwright.agent.step import Ask, Replied, Steps, ask
from callwright.nouns.protocols import ChatRequest
from callwright.nouns.types import READ, UNKNOWN, WRITE, Message, Reply, Tool, ToolCall, ToolResult
from callwright.testing import FixedPlan

TEXT = {"type": "string"}
LIST = Tool("list_reminders", "Lists all reminders.", effects=READ)
ADD = Tool("add_reminder", "Adds one.", {"properties": {"text": TEXT, "day": TEXT}}, effects=WRITE)
DELETE = Tool("delete_reminder", "Deletes one.", {"properties": {"id": TEXT}}, effects=WRITE)
TOOLS = (LIST, ADD, DELETE)
LISTED = ToolResult("r1", "list_reminders", {}, [{"id": "R-1", "text": "Pay the plumber"}])
DELETION = ToolCall("c", "delete_reminder", {"id": "R-1"})


def led(
    query: str,
    results: Sequence[ToolResult] = (LISTED,),
    *,
    tools: tuple[Tool, ...] = TOOLS,
    talk: tuple[Message, ...] = (),
) -> LedContext:
    facts = RunFacts(RunState(Asked(query, talk), tools, results=results))
    return LedContext(
        query=query,
        tools=tools,
        planner=FixedPlan([]),
        facts=facts,
        mode="schema",
        conversation=talk,
    )


def find(query: str, call: ToolCall = DELETION, wishes: Sequence[str] = ("it",)) -> Doubt | None:
    return find_doubt(call, wishes, led(query))


def test_a_write_that_holds_nothing_of_what_was_said_is_in_doubt() -> None:
    doubt = find("What do I have to do?")
    assert doubt is not None
    assert [tool.name for tool in doubt.tools] == ["list_reminders", "delete_reminder"]
    assert not doubt.is_linked
    linked = find("Is there anything about the plumber?")
    assert linked is not None
    assert linked.is_linked


def test_what_the_user_said_and_no_call_used_speaks_for_a_write() -> None:
    assert find("Delete R-1 if it is there") is None
    used = ToolResult("r2", "get_reminder", {"id": "R-1"}, {"id": "R-1", "text": "Pay"})
    get = Tool("get_reminder", "Reads one.", {"properties": {"id": TEXT}}, effects=READ)
    made = led("Is R-1 still open?", [used], tools=(*TOOLS, get))
    assert find_doubt(DELETION, ("it",), made) is not None
    added = ToolCall("c", "add_reminder", {"text": "Call Bob", "day": "2026-12-02"})
    assert find("List them, and add one: 'Call Bob' on 2026-12-02", added) is None


def test_a_first_reply_open_wishes_and_undeclared_effects_are_not_judged() -> None:
    assert find_doubt(DELETION, ("it",), led("What do I have to do?", [])) is None
    assert find("What do I have to do?", wishes=()) is None
    unknown = Tool("list_reminders", "Lists all reminders.", effects=UNKNOWN)
    made = led("What do I have to do?", tools=(unknown, DELETE))
    assert find_doubt(DELETION, ("it",), made) is None
    assert find("What do I have to do?", ToolCall("c", "list_reminders", {})) is None


def test_words_of_the_system_are_not_the_users() -> None:
    talk = (Message("system", "R-1 is about the plumber."),)
    doubt = find_doubt(DELETION, ("it",), led("What do I have to do?", talk=talk))
    assert doubt is not None
    assert not doubt.is_linked


def ask_letter(request: ChatRequest) -> Steps[Reply]:
    return (yield from ask(request, None))


def answer(steps: Steps[float | None], reply: Reply) -> Any:
    """What follows on a reply: the next question, or what came of all."""
    try:
        return steps.send(Replied(reply))
    except StopIteration as done:
        return done.value


def test_the_share_is_a_mean_over_two_orders() -> None:
    doubt = find("What do I have to do?")
    assert doubt is not None
    steps, asked = ask_share(doubt, "What do I have to do?", ask_letter), []
    action: Any = None
    replies = [{"A": 0.8, "B": 0.2}, {"A": 0.6, "B": 0.4}]
    for reply in replies:
        action = next(steps) if not asked else action
        assert isinstance(action, Ask)
        asked.append(action.request.messages[-1].content)
        action = answer(steps, Reply("A", first_token=reply))
    assert action == pytest.approx(0.4)
    assert "A) list_reminders" in asked[0]
    assert "A) delete_reminder" in asked[1]
    silent = ask_share(doubt, "q", ask_letter)
    next(silent)
    assert answer(silent, Reply("A")) is None


def test_a_record_that_the_user_spoke_of_needs_less() -> None:
    between = (LEAST_SHARE + SURE_SHARE) / 2
    free, linked = (Doubt(DELETION, (LIST, DELETE), is_linked) for is_linked in (False, True))
    assert linked.least == linked.sure == LEAST_SHARE
    assert free.least < between < free.sure
    beside = Doubt(DELETION, (LIST, ADD, DELETE), is_linked=False)
    assert (beside.least, beside.sure) == (LEAST_BESIDE, SURE_BESIDE)


def test_where_a_write_was_made_open_wishes_do_not_speak_for_another() -> None:
    added = ToolResult("r0", "add_reminder", {"text": "Call Bob"}, {"id": "R-1"})
    made = led("Add one: 'Call Bob'", [added, LISTED])
    doubt = find_doubt(DELETION, (), made)
    assert doubt is not None
    assert [tool.name for tool in doubt.tools] == [
        "add_reminder",
        "list_reminders",
        "delete_reminder",
    ]
    assert find_doubt(DELETION, (), led("Delete the plumber's", [LISTED])) is None


def test_words_of_the_request_in_a_long_text_speak_for_nothing_but_a_quotation_does() -> None:
    mail = Tool("send_mail", "Sends a mail.", {"properties": {"body": TEXT}}, effects=WRITE)
    tools = (*TOOLS, mail)
    query = "List them, then look for the plumber's number: 'Please call me back today'"
    made = led(query, [LISTED], tools=tools)
    echo = ToolCall("c", "send_mail", {"body": "look for the plumber's number"})
    assert find_doubt(echo, ("it",), made) is not None
    quoted = ToolCall("c", "send_mail", {"body": "Please call me back today"})
    assert find_doubt(quoted, ("it",), made) is None
