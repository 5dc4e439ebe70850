"""The state of a run from a conversation: turns, calls with their results, what may have happened."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from callwright.agent.fold import (
    NO_RESULT,
    Called,
    Returned,
    Said,
    Spoke,
    fold_entries,
    read_journal,
    read_messages,
)
from callwright.agent.orchestrator import Orchestrator
from callwright.agent.state import RunState
from callwright.nouns.types import READ, WRITE, Message, Tool, ToolCall
from callwright.testing import FakeTool, ScriptedModel, fake_source

PAY = Tool("pay", effects=WRITE)
LOOK = Tool("look", effects=READ)
BARE = Tool("bare")


def called(name: str, number: str = "c1", **arguments: Any) -> Called:
    return Called((ToolCall(number, name, arguments),))


def fold(*entries: Any) -> RunState:
    return fold_entries(entries, (PAY, LOOK, BARE))


def test_a_message_of_the_user_opens_a_turn_and_earlier_results_stay_known() -> None:
    state = fold(
        Said("Be brief.", "system"),
        Spoke("Find Ann."),
        called("look", q="Ann"),
        Returned("c1", '{"id": 7}'),
        Said("Ann is 7."),
        Spoke("Pay her."),
        called("look", "c2", q="Bob"),
        Returned("c2", "nobody"),
    )
    assert state.asked.query == "Pay her."
    assert [(m.role, m.content) for m in state.asked.conversation] == [
        ("system", "Be brief."),
        ("user", "Find Ann."),
        ("assistant", "Ann is 7."),
    ]
    assert [(r.id, r.content) for r in state.earlier] == [("r1", {"id": 7})]
    assert [(r.id, r.arguments, r.content) for r in state.results] == [
        ("r2", {"q": "Bob"}, "nobody")
    ]


def test_a_reminder_behind_results_is_no_turn_and_the_same_request_behind_an_answer_is_one() -> (
    None
):
    reminder = Spoke("请简短回答")
    begun = [reminder, Spoke("Pay."), called("pay"), Returned("c1", "paid")]
    assert [r.id for r in fold(*begun, reminder).results] == ["r1"]
    assert fold(*begun, reminder).asked.query == "Pay."
    again = fold(*begun, Said("Done."), Spoke("Pay."))
    assert (again.results, [r.id for r in again.earlier]) == ((), ["r1"])
    assert fold(*begun, Spoke("Stop!")).asked.query == "Stop!", "new words always count"


@pytest.mark.parametrize("ids", [("a", "b"), ("", ""), ("same", "same")])
def test_calls_are_numbered_as_they_were_written_whatever_their_ids(ids: tuple[str, str]) -> None:
    one, two = ids
    state = fold(
        Spoke("go"),
        called("look", one, q=1),
        Returned(one, "first", "look"),
        called("look", two, q=2),
        Returned(two, "second", "look"),
    )
    assert [(r.id, r.arguments["q"], r.content) for r in state.results] == [
        ("r1", 1, "first"),
        ("r2", 2, "second"),
    ]


@pytest.mark.parametrize("text", ["Error: no answer in time", NO_RESULT, None])
def test_a_write_without_a_clear_outcome_may_have_happened(text: str | None) -> None:
    back = [] if text is None else [Returned("c1", text)]
    assert [*fold(Spoke("go"), called("pay"), *back).lasting.doubts] == ["r1"]
    assert not fold(Spoke("go"), called("look"), *back).lasting.doubts
    assert not fold(Spoke("go"), called("pay"), Returned("c1", "{}")).lasting.doubts


def test_calls_in_flight_are_facts() -> None:
    state = fold(Spoke("go"), Called((ToolCall("a", "look", {}), ToolCall("b", "pay", "{}"))))
    assert [call.id for call in state.open.in_flight] == ["r1", "r2"]
    assert not fold(Spoke("go"), called("look"), Returned("c1", "x")).open.in_flight


def test_results_and_arguments_that_are_no_json_stay_text() -> None:
    state = fold(Spoke("go"), Called((ToolCall("a", "look", '{"q": '),)), Returned("a", "[1, "))
    assert (state.results[0].arguments, state.results[0].content) == ({}, "[1, ")


def test_results_of_calls_that_are_not_shown_are_left_out() -> None:
    assert not fold(Spoke("go"), Returned("x", "lost")).results


def test_results_find_their_calls_in_time_that_grows_with_their_number() -> None:
    calls = tuple(ToolCall(f"c{n}", "look", "{}") for n in range(20_000))
    results = tuple(Message("tool", "done", tool_call_id=call.id) for call in calls)
    messages = (Message("user", "go"), Message("assistant", "", calls), *results)
    began = process_time()
    assert len(fold(*read_messages(messages)).results) == 20_000
    assert process_time() - began < 5.0, "a look at every open call for every result takes longer"


async def test_a_journal_tells_the_same_as_the_messages_that_show_it() -> None:
    """Of a run of our own: what its trace tells, against the messages a client would keep of it."""

    look = FakeTool("look", {"q": {"type": "string"}}, output={"found": "OSLO"}, effects=READ)
    call = {"tool": "look", "arguments": {"q": "oslo"}}
    said = {"statements": [{"text": "OSLO was found.", "results": ["r1"]}], "missing": []}
    model = ScriptedModel({"bind": [{"useful": ["look"], "calls": [call]}], "answer": [said]})
    run = await Orchestrator([fake_source(look)], model=model).run("Find oslo")
    direct = fold_entries(read_journal(run.events), (LOOK,))
    shown = [
        Message("user", "Find oslo"),
        Message("assistant", "", (ToolCall("call_9", "look", '{"q": "oslo"}'),)),
        Message("tool", '{"found": "OSLO"}', tool_call_id="call_9"),
        Message("assistant", run.answer.text),
    ]
    assert direct == fold_entries(read_messages(shown), (LOOK,))
    assert [r.content for r in direct.results] == [{"found": "OSLO"}]


@pytest.mark.parametrize(
    ("text", "is_spoken"),
    [
        ("<environment_details>\n12:01\n</environment_details>", False),
        (" <open-files>a.py</open-files>\n<current_time>12:01</current_time> ", False),
        ("<environment_details>12:01</environment_details> Go on.", True),
        ("<environment_details>12:01", True),
        ("<b>bold</b>", True),
        ("", False),
    ],
)
def test_what_a_client_wraps_behind_results_is_not_said_by_the_user(
    text: str, is_spoken: bool
) -> None:
    call = Message("assistant", "", (ToolCall("c1", "look", {}),))
    before = [Message("user", "Look."), call, Message("tool", "lamp", tool_call_id="c1")]
    behind = [*before, Message("user", text)]
    spoken = [e.text for e in read_messages(behind) if isinstance(e, Spoke) and e.text]
    assert spoken == ["Look.", *([text] if is_spoken else [])]
    answered = [*before, Message("assistant", "A lamp."), Message("user", text)]
    told = [e.text for e in read_messages(answered) if isinstance(e, Spoke) and e.text]
    assert told == ["Look.", *([text.strip()] if text else [])]


def test_many_wrapped_elements_are_read_at_once() -> None:
    text = "<a-b></a-b>" * 100_000 + "x"
    result = Message("tool", "ok", tool_call_id="c1")
    assert [*read_messages([result, Message("user", text)])][1] == Spoke(text)


def test_results_of_calls_that_share_an_id_come_in_their_order() -> None:
    calls = tuple(ToolCall("c", "look", {"name": name}) for name in ("Ann", "Bob"))
    state = fold_entries([Spoke("Look."), Called(calls), Returned("c", "1"), Returned("c", "2")])
    assert [(r.arguments["name"], r.content) for r in state.results] == [("Ann", 1), ("Bob", 2)]
    assert not state.open.in_flight
